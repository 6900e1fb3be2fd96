// The switch of the inspector: this lane alone, or beside another one, and which.

import { button, h, set, setText } from "../core/dom.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { Run } from "../session/run.js" */

export class Beside {
  /** @param {Playback} playback @param {() => void} onchange */
  constructor(playback, onchange) {
    this.playback = playback;
    this.onchange = onchange;
    this.on = false;
    this.mate = -1;
    this.lane = -1;
    this.names = "";
    this.both = button("", () => this.turn(!this.on));
    this.choice = h("select", { "aria-label": "Lane to compare with" });
    this.choice.addEventListener("change", () => {
      this.mate = Number(this.choice.value);
      this.turn(true);
    });
    this.element = h(
      "div",
      { class: "segmented beside", role: "group", "aria-label": "One lane or two" },
      this.both,
      this.choice,
    );
  }

  /** @param {boolean} on */
  turn(on) {
    this.on = on;
    this.onchange();
  }

  /**
   * A lane is looked at: the other one stays, or, where it is that lane, both change places.
   * @param {Run} run
   * @param {number} lane
   */
  look(run, lane) {
    const { lanes } = run.head;
    const fits = (/** @type {number} */ k) => k >= 0 && k < lanes.length && k !== lane;
    if (this.mate === lane) this.mate = this.lane;
    if (!fits(this.mate)) this.mate = lane ? 0 : 1;
    this.lane = lane;
    this.element.hidden = lanes.length < 2;
    if (this.element.hidden) return;
    const few = lanes.length === 2;
    setText(this.both, few ? `Beside ${lanes[this.mate].name}` : "Beside");
    set(this.both, { "aria-pressed": String(this.on) });
    this.choice.hidden = few;
    const others = lanes.flatMap(({ name }, k) => (k === lane ? [] : [{ k, name }]));
    const names = JSON.stringify(others);
    if (this.names !== names) {
      this.names = names;
      this.choice.replaceChildren(...others.map(({ k, name }) => h("option", { value: k }, name)));
    }
    this.choice.value = String(this.mate);
  }

  /** The lane to show beside `at`: -1 for none, whatever the reason. @param {Run} run @param {Place} at */
  other(run, at) {
    const there = this.on && run.chip({ lane: this.mate, i: at.i });
    return there && at.lane !== this.mate && !this.element.hidden ? this.mate : -1;
  }

  /** Why there is nothing beside `at`, where someone would expect it. @param {Run} run @param {Place} at */
  missing(run, at) {
    if (!this.on || this.element.hidden || this.other(run, at) >= 0) return "";
    const { name } = run.head.lanes[this.mate];
    const { chips, finish } = run.lanes[this.mate];
    if (this.playback.busy && !finish) return `${name} has not come this far yet.`;
    return `Nothing beside it: ${name} ended after ${chips.length} tokens.`;
  }
}

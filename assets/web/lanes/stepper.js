// Step by step: what was decoded is shown one token at a time. First the distribution and the coin
// to come, then the pick. It works on a run that is still being written as on a recorded one.

import { h, set, setText } from "../core/dom.js";

const PACES = [
  ["1400", "slowly"],
  ["700", "steadily"],
  ["220", "quickly"],
];

export class Stepper {
  constructor(model) {
    this.model = model;
    this.timer = null;
    this.step = h(
      "button",
      { type: "button", class: "quiet half", onclick: () => this.next() },
      "Step",
    );
    this.play = h(
      "button",
      { type: "button", class: "quiet pace-play", onclick: () => this.toggle() },
      "Play",
    );
    this.pace = h(
      "select",
      { "aria-label": "Pace" },
      PACES.map(([value, name]) => h("option", { value }, name)),
    );
    this.pace.value = "700";
    this.all = h(
      "button",
      { type: "button", class: "quiet all", onclick: () => this.end() },
      "Show all",
    );
    this.element = h(
      "div",
      { class: "stepper", role: "group", "aria-label": "Step by step" },
      this.step,
      this.play,
      this.pace,
      this.all,
    );
    model.on("run", () => this.pause());
    model.on("run reveal state chips", () => this.update());
    this.update();
  }

  get on() {
    return Number.isFinite(this.model.reveal);
  }

  get playing() {
    return Boolean(this.timer);
  }

  /** Whether everything that was written is on show. */
  get done() {
    return this.on && this.model.reveal >= this.longest && !this.model.busy;
  }

  get longest() {
    return Math.max(0, ...(this.model.run?.lanes ?? []).map((lane) => lane.chips.length));
  }

  update() {
    const { model } = this;
    this.element.hidden = !model.run;
    this.all.hidden = !this.on;
    this.step.disabled = this.done;
    setText(this.step, model.pending ? "Step: draw" : this.on ? "Step: look" : "Step");
    set(this.step, { title: "See the distribution and the coin first, then the pick" });
    setText(this.play, this.timer ? "Pause" : "Play");
  }

  /** Begin at a position: everything behind it is hidden again. */
  begin(at) {
    this.model.setReveal(at, true);
  }

  /** One half step: look, then draw. */
  next() {
    const { model } = this;
    if (!model.run) return;
    if (!this.on) {
      const last = model.selected && model.selected.i + 1 < this.longest ? model.selected.i : 0;
      return this.begin(last);
    }
    if (model.pending) {
      if (model.reveal >= this.longest) return;
      model.setReveal(model.reveal + 1, false);
    } else if (model.reveal < this.longest) model.setReveal(model.reveal, true);
    else if (!model.busy) this.end();
  }

  toggle() {
    if (this.timer) return this.pause();
    if (!this.model.run) return;
    if (!this.on) this.begin(0);
    const tick = () => {
      this.timer = setTimeout(tick, Number(this.pace.value) / 2);
      this.next();
      if (!this.on) this.pause();
    };
    this.timer = setTimeout(tick, Number(this.pace.value) / 2);
    this.update();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.update();
  }

  end() {
    this.pause();
    this.model.setReveal(Number.POSITIVE_INFINITY, false);
  }
}

// The stack stage by stage: the same candidates behind every stop, each with its own cutoff.

import { h, s, set, setText } from "../core/dom.js";
import { unfolds } from "../core/fold.js";
import { roomFor, stageBars } from "./stagebars.js";

/** @import { Playback } from "../session/playback.js" */

/**
 * The name of a stage for people; of several that act as one, all their names.
 * @param {string} name
 * @param {Pick<Spec, "order">} spec
 */
export function stageName(name, { order }) {
  const labels = new Map([["raw", "model"], ...order]);
  return name
    .split(" + ")
    .map((part) => labels.get(part) ?? part)
    .join(" + ");
}

export class Stages {
  /** @param {Playback} playback @param {Spec} spec @param {Pick<Transport, "stages">} transport */
  constructor(playback, spec, transport) {
    this.playback = playback;
    this.spec = spec;
    this.transport = transport;
    this.key = "";
    this.svg = s("svg", { class: "stages", role: "img" });
    /** @type {StageView | null} What is drawn. */
    this.view = null;
    this.note = h("p", { class: "map-words" });
    this.heading = h("summary", {}, "Stage by stage");
    this.scroller = h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Stages" },
      this.svg,
    );
    this.element = h(
      "details",
      { class: "stage-by-stage" },
      this.heading,
      this.scroller,
      this.note,
    );
    new ResizeObserver(() => this.view && this.draw(this.view)).observe(this.scroller);
    unfolds(this.element, () => this.update());
    playback.on("select run", () => this.update());
  }

  /** Beside another lane it must be said whose stages these are. @param {string} name */
  setName(name) {
    setText(this.heading, name ? `Stage by stage: ${name}` : "Stage by stage");
  }

  async update() {
    const { run, focus: at, candidates } = this.playback;
    if (!this.element.open || !at || !run?.chip(at) || !this.transport.stages) return;
    const key = `${run.id} ${at.lane} ${at.i} ${candidates}`;
    if (key === this.key) return;
    this.key = key;
    const view = await this.transport.stages(run.id, at.lane, at.i, candidates);
    if (key === this.key) this.draw(view);
  }

  /** @param {string} name */
  name(name) {
    return stageName(name, this.spec);
  }

  /** @param {StageView} view */
  draw(view) {
    const name = (/** @type {string} */ stage) => this.name(stage);
    this.view = view;
    const room = roomFor(view.stages.length, this.scroller.clientWidth);
    const { width, height, parts } = stageBars(view, name, room);
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    set(this.svg, {
      "aria-label": `Stages: ${view.stages.map((t) => this.name(t.name)).join(", ")}`,
    });
    this.svg.replaceChildren(...parts);
    const only = view.stages.length <= 2;
    setText(
      this.note,
      only
        ? "This lane uses plain sampling: only XTC changes the model's distribution."
        : "Dashed lines are cutoffs, drawn over the bars that the stage received.",
    );
  }
}

// The stack stage by stage: the same candidates behind every stop, each with its own cutoff.

import { h, s, set, setText } from "../core/dom.js";
import { percent, setting, shown } from "../core/format.js";
import { cutLine, extent } from "./cutline.js";

const ROW = 20;
const TOP = 40;

/** @import { Playback } from "../session/playback.js" */
/** @typedef {(x: number) => SVGElement} Cut A line over the bars of a column. */

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
    this.note = h("p", { class: "map-words" });
    this.heading = h("summary", {}, "Stage by stage");
    this.element = h(
      "details",
      { class: "stage-by-stage" },
      this.heading,
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Stages" },
        this.svg,
      ),
      this.note,
    );
    this.element.addEventListener("toggle", () => this.update());
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
    const labels = 120;
    const wide = 150;
    const width = labels + wide * view.stages.length;
    const height = TOP + ROW * (view.ids.length + 1) + 6;
    const kindOf = this.kinds(view);
    /** @type {SVGElement[]} */
    const parts = [];
    for (const [j, id] of [...view.ids, -1].entries()) {
      const y = TOP + ROW * j + 14;
      const words = id < 0 ? "everything else" : shown(view.texts[id]);
      const label = s("text", { x: 0, y, class: id === view.token ? "label drawn" : "label" });
      setText(label, words.length > 16 ? `${words.slice(0, 15)}…` : words);
      parts.push(label);
    }
    for (const [k, stage] of view.stages.entries()) {
      const x = labels + wide * k;
      const room = wide - 52;
      parts.push(s("text", { x, y: 14, class: "head" }, this.name(stage.name)));
      parts.push(s("line", { x1: x, x2: x, y1: TOP - 4, y2: height - 6, class: "zero" }));
      /** @type {[number, number][]} */
      const spans = [];
      for (const [j, p] of [...stage.probs, stage.rest].entries()) {
        const y = TOP + ROW * j;
        const gone = p === 0 && (k ? view.stages[k - 1].probs[j] > 0 : false);
        const words = gone ? "✕" : p > 0 ? percent(p) : "";
        const behind = x + p * room + 4;
        spans.push(words ? [behind - 3, behind + extent(words) + 3] : [0, 0]);
        parts.push(
          s("rect", {
            x,
            y: y + 3,
            height: 13,
            width: Math.max(p > 0 ? 1 : 0, p * room),
            class: `bar ${kindOf(k, view.ids[j])}`,
          }),
          s("text", { x: behind, y: y + 14, class: gone ? "value gone" : "value" }, words),
        );
      }
      /** @type {Cut} */
      const cut = (at) => {
        /** @type {[number, number][]} */
        const gaps = [];
        for (const [j, [from, to]] of spans.entries()) {
          if (at > from && at < to) gaps.push([TOP + ROW * j + 1, TOP + ROW * j + 18]);
        }
        return s("path", { d: cutLine(at, TOP - 8, height - ROW - 6, gaps), class: "tau" });
      };
      this.cutoff(parts, view, k, x, room, cut);
    }
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

  /**
   * The colours of the bars above, from what XTC received on; before it all bars are alike.
   * @param {StageView} view
   */
  kinds({ stages, eligible, removed }) {
    const received = stages.findIndex(({ name }) => name === "xtc") - 1;
    const [clear, gone] = [new Set(eligible), new Set(removed)];
    return (/** @type {number} */ k, /** @type {number} */ id) => {
      if (k < received || !clear.has(id)) return "";
      if (gone.has(id)) return "removed";
      return gone.size ? "kept" : "eligible";
    };
  }

  /**
   * A stage's cutoff lies on the column before it: a line, or for top-p a staircase.
   * @param {SVGElement[]} parts
   * @param {StageView} view
   * @param {number} k
   * @param {number} x
   * @param {number} room
   * @param {Cut} cut
   */
  cutoff(parts, view, k, x, room, cut) {
    const next = view.stages[k + 1];
    if (next?.line) {
      const at = x + next.line * room;
      parts.push(
        cut(at),
        s(
          "text",
          { x: at + 3, y: TOP - 10, class: "tau-text" },
          `${next.name === "xtc" ? "τ" : "cut"} ${setting(next.line)}`,
        ),
      );
    }
    if (!next?.reach || next.name !== "top_p") return;
    let sum = 0;
    let path = `M${x} ${TOP}`;
    for (const [j, p] of view.stages[k].probs.entries()) {
      sum += p;
      path += `H${x + Math.min(1, sum) * room}V${TOP + ROW * (j + 1)}`;
    }
    const at = x + next.reach * room;
    parts.push(
      s("path", { d: path, class: "stairs" }),
      cut(at),
      s(
        "text",
        { x: at - 3, y: TOP - 10, class: "tau-text", "text-anchor": "end" },
        `p ${setting(next.reach)}`,
      ),
    );
  }
}

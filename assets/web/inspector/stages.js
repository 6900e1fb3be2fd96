// The stack stage by stage: the same candidates behind every stop, each with its own cutoff.

import { h, percent, s, set, setText, setting, visible } from "../core/dom.js";
import { cutLine, extent } from "./cutline.js";

const ROW = 20;
const TOP = 40;
const NAMES = {
  raw: "model",
  repetition_penalty: "repetition penalty",
  temperature: "temperature",
  top_k: "top-k",
  top_p: "top-p",
  min_p: "min-p",
  typical_p: "typical-p",
  epsilon_cutoff: "epsilon",
  eta_cutoff: "eta",
  xtc: "XTC",
};

function stageName(name) {
  return name
    .split(" + ")
    .map((part) => NAMES[part] ?? part)
    .join(" + ");
}

export class Stages {
  constructor(model) {
    this.model = model;
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
    model.on("select run", () => this.update());
  }

  /** Beside another lane it must be said whose stages these are. */
  whose(name) {
    setText(this.heading, name ? `Stage by stage: ${name}` : "Stage by stage");
  }

  async update() {
    const at = this.model.focus;
    const { transport, run } = this.model;
    if (!this.element.open || !at || !run || !this.model.chip(at)) return;
    const key = `${run.id} ${at.lane} ${at.i} ${this.model.candidates}`;
    if (key === this.key) return;
    this.key = key;
    const view = await transport.stages(run.id, at.lane, at.i, this.model.candidates);
    if (key === this.key) this.draw(view);
  }

  draw(view) {
    const labels = 120;
    const wide = 150;
    const width = labels + wide * view.stages.length;
    const height = TOP + ROW * (view.ids.length + 1) + 6;
    const kindOf = this.kinds(view);
    const parts = [];
    for (const [j, id] of [...view.ids, -1].entries()) {
      const y = TOP + ROW * j + 14;
      const words =
        id < 0
          ? "everything else"
          : visible(view.texts[id])
              .map(([t]) => t)
              .join("");
      const label = s("text", { x: 0, y, class: id === view.token ? "label drawn" : "label" });
      setText(label, words.length > 16 ? `${words.slice(0, 15)}…` : words);
      parts.push(label);
    }
    for (const [k, stage] of view.stages.entries()) {
      const x = labels + wide * k;
      const room = wide - 52;
      parts.push(s("text", { x, y: 14, class: "head" }, stageName(stage.name)));
      parts.push(s("line", { x1: x, x2: x, y1: TOP - 4, y2: height - 6, class: "zero" }));
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
      const cut = (at) => {
        const gaps = spans.flatMap(([from, to], j) =>
          at > from && at < to ? [[TOP + ROW * j + 1, TOP + ROW * j + 18]] : [],
        );
        return s("path", { d: cutLine(at, TOP - 8, height - ROW - 6, gaps), class: "tau" });
      };
      this.cutoff(parts, view, k, x, room, cut);
    }
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    set(this.svg, {
      "aria-label": `Stages: ${view.stages.map((t) => stageName(t.name)).join(", ")}`,
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

  /** The colours of the bars above, from what XTC received on; before it all bars are alike. */
  kinds({ stages, eligible, removed }) {
    const received = stages.findIndex(({ name }) => name === "xtc") - 1;
    const [clear, gone] = [new Set(eligible), new Set(removed)];
    return (k, id) => {
      if (k < received || !clear.has(id)) return "";
      if (gone.has(id)) return "removed";
      return gone.size ? "kept" : "eligible";
    };
  }

  /** A stage's cutoff lies on the column before it: a line, or for top-p a staircase. */
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

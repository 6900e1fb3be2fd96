// The figures of a run: which there are, what each says, and the plot of gradio's that shows one.

import { h, setText } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";

/** @import { Ask } from "./setup.js" */

const PLOT = "xtc-lab-figure"; // gradio's plot, by its own name
const NARROWEST = 240; // pixels, as the server draws them,
const WIDEST = 4000;
const STEP = 20; // of two widths that are arranged alike
const SOON = 300; // milliseconds after the last change of the width

export class Figures {
  /** @param {Ask} ask @param {(wanted: Omit<LabDraw, "token">) => void} draw */
  constructor(ask, draw) {
    this.ask = ask;
    this.draw = draw;
    this.asked = 0;
    /** @type {LabFigureInfo[]} */
    this.known = [];
    /** @type {{ run: string, baseline: string | null }} */
    this.of = { run: "", baseline: null };
    this.choice = h("select", { "aria-label": "Figure", onchange: () => this.turn() });
    this.metric = h("select", {
      "aria-label": "Metric of the figure",
      onchange: () => this.show(this.of.run, this.of.baseline),
    });
    this.meaning = h("p", { class: "tag" });
    this.plot = h("div", { class: "plot" });
    this.sentence = h("p", { class: "sentence", "data-testid": "sentence" });
    this.element = h(
      "div",
      { class: "figures" },
      h("div", { class: "lab-row" }, h("h3", {}, "Figure"), this.choice, this.metric),
      this.meaning,
      this.plot,
      this.sentence,
    );
    this.element.hidden = true;
    this.width = 0;
    this.later = 0;
    new ResizeObserver(() => {
      clearTimeout(this.later);
      this.later = setTimeout(() => this.room !== this.width && this.turn(), SOON);
    }).observe(this.plot);
    new MutationObserver(() => this.turn()).observe(document.body, { attributeFilter: ["class"] });
  }

  /** Gradio's plot stands where the figure belongs; it is there as soon as the page is. */
  settle() {
    const plot = document.getElementById(PLOT);
    if (plot && plot.parentElement !== this.plot) this.plot.append(plot);
  }

  /** Pixels that a figure is arranged for. */
  get room() {
    const whole = Math.floor(this.plot.clientWidth / STEP) * STEP;
    return Math.min(WIDEST, Math.max(NARROWEST, whole));
  }

  clear() {
    this.element.hidden = true;
    this.asked += 1;
  }

  /** The run has other numbers. @param {string} run @param {string | null} baseline */
  async show(run, baseline) {
    this.of = { run, baseline };
    this.asked += 1;
    const { asked } = this;
    try {
      const known = await this.ask("lab_figures", run, baseline, this.metric.value);
      if (asked !== this.asked) return;
      this.known = known;
    } catch (error) {
      if (asked === this.asked) setText(this.sentence, wordsOf(error));
      return;
    }
    const before = this.choice.value;
    const options = this.known.map(({ name, label }) => h("option", { value: name }, label));
    this.choice.replaceChildren(...options);
    if (this.known.some(({ name }) => name === before)) this.choice.value = before;
    this.element.hidden = !this.known.length;
    this.turn();
  }

  /** Another figure, or the same of other numbers, or in another light. */
  turn() {
    const chosen = this.known.find(({ name }) => name === this.choice.value);
    if (!chosen || this.element.hidden) return;
    this.settle();
    this.offer(chosen);
    setText(this.meaning, chosen.meaning);
    setText(this.sentence, chosen.sentence);
    const dark = document.body.classList.contains("dark");
    const metric = this.metric.value;
    this.width = this.room;
    this.draw({ ...this.of, figure: chosen.name, metric, dark, width: this.width });
  }

  /** The metrics that a figure may show one of. @param {LabFigureInfo} figure */
  offer({ metrics }) {
    const before = this.metric.value;
    const own = h("option", { value: "" }, "its usual metrics");
    const options = metrics.map(([name, label]) => h("option", { value: name }, label));
    this.metric.replaceChildren(own, ...options);
    this.metric.value = metrics.some(([name]) => name === before) ? before : "";
    this.metric.hidden = !metrics.length;
  }
}

// The run of the laboratory, whoever began it: how far it is, and its Stop.

import { button, h, set, setText } from "../core/dom.js";
import { standWords } from "./words.js";

const NAMED = 3; // failures that are named

export class Going {
  /** @param {{ stop: () => void, goOn: (run: string) => void, show: (run: string) => void }} acts */
  constructor(acts) {
    this.acts = acts;
    /** @type {LabStatus | null} */
    this.status = null;
    this.title = h("h2", {});
    this.bar = h("progress", { max: 1, value: 0, "aria-label": "Texts written" });
    this.words = h("p", { role: "status", "data-testid": "going" });
    this.failures = h("ul", { class: "failures" });
    this.stop = button("Stop", () => acts.stop());
    this.onward = button("Go on", () => this.status && acts.goOn(this.status.run));
    this.look = button("Show", () => this.status && acts.show(this.status.run), {
      class: "quiet",
    });
    this.element = h(
      "section",
      { class: "going", "aria-label": "The run" },
      this.title,
      this.bar,
      this.words,
      this.failures,
      h("div", { class: "lab-row" }, this.stop, this.onward, this.look),
    );
    this.element.hidden = true;
  }

  /** @param {LabStatus} status @param {string} shown the run whose numbers are on show */
  draw(status, shown) {
    this.status = status;
    const { phase, experiment, model, suite, progress, going, run } = status;
    this.element.hidden = phase === "idle";
    set(this.element, { "data-phase": phase });
    const on = [suite && `“${suite}”`, model].filter(Boolean).join(" on ");
    setText(this.title, [experiment, on].filter(Boolean).join(" · "));
    set(this.bar, { value: progress?.total ? progress.done / progress.total : 0 });
    setText(this.words, standWords(status));
    const failures = progress?.failures ?? [];
    const named = failures
      .slice(0, NAMED)
      .map(({ condition, prompt, message }) =>
        h("li", {}, `${condition}${prompt ? `, prompt ${prompt}` : ""}: ${message}`),
      );
    const more = failures.length - named.length;
    if (more > 0) named.push(h("li", {}, `and ${more} more`));
    this.failures.replaceChildren(...named);
    this.stop.hidden = !going;
    this.stop.disabled = phase === "stopping";
    this.onward.hidden = going || !run || phase === "done";
    this.look.hidden = !run || run === shown;
  }
}

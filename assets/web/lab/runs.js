// The stored runs: to look at, to go on with, and two of them to hold against each other.

import { button, h, setText } from "../core/dom.js";
import { day } from "./words.js";

export class Runs {
  /**
   * @param {{ show: (run: string) => void, goOn: (run: string) => void,
   *   compare: (first: string, second: string) => void }} acts
   */
  constructor(acts) {
    this.acts = acts;
    /** @type {string[]} */
    this.chosen = [];
    this.list = h("ul", { class: "runs" });
    this.none = h("p", { class: "tag" }, "None yet.");
    this.compare = button("Compare two", () => this.pair(), { class: "quiet", disabled: true });
    this.element = h(
      "section",
      { class: "stored", "aria-label": "Stored runs" },
      h("div", { class: "lab-row" }, h("h2", {}, "Stored runs"), this.compare),
      this.none,
      this.list,
    );
  }

  /** @param {LabRun[]} runs @param {string} shown @param {boolean} busy */
  draw(runs, shown, busy) {
    this.chosen = this.chosen.filter((name) => runs.some(({ run }) => run === name));
    this.none.hidden = runs.length > 0;
    this.list.replaceChildren(...runs.map((run) => this.row(run, shown, busy)));
    this.stand();
  }

  /** @param {LabRun} run @param {string} shown @param {boolean} busy */
  row({ run, experiment, model, suite, begun, done, total, length }, shown, busy) {
    const name = `${experiment}, ${suite}, ${model}, ${day(begun)}`;
    const pick = h("input", {
      type: "checkbox",
      "aria-label": `Compare ${name}`,
      onchange: () => this.choose(run, pick.checked),
    });
    pick.checked = this.chosen.includes(run);
    const look = button(`${experiment} · ${suite}`, () => this.acts.show(run), {
      class: "quiet look",
      "aria-pressed": String(run === shown),
    });
    const part = done < total ? `${done.toLocaleString("en")} of ` : "";
    const size = `${part}${total.toLocaleString("en")} texts of ${length} tokens`;
    const onward = button("Go on", () => this.acts.goOn(run), {
      class: "quiet",
      "aria-label": `Go on with ${name}`,
      disabled: busy,
    });
    return h(
      "li",
      { "data-run": run },
      pick,
      h("div", {}, look, h("p", { class: "tag" }, `${model} · ${size} · ${day(begun)}`)),
      done < total ? onward : null,
    );
  }

  /** @param {string} run @param {boolean} on */
  choose(run, on) {
    const others = this.chosen.filter((name) => name !== run);
    this.chosen = on ? [...others, run].slice(-2) : others;
    for (const row of this.list.querySelectorAll("li")) {
      const pick = row.querySelector("input");
      if (pick) pick.checked = this.chosen.includes(row.dataset.run ?? "");
    }
    this.stand();
  }

  stand() {
    const [first, second] = this.chosen;
    this.compare.disabled = !second;
    setText(this.compare, first ? "Compare these two" : "Compare two");
  }

  pair() {
    const [first, second] = this.chosen;
    if (second) this.acts.compare(first, second);
  }
}

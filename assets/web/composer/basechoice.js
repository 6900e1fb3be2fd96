// What all lanes stand on before XTC acts, as a choice: usual ones, or what someone set.

import { h, set } from "../core/dom.js";
import { sameBase } from "../core/lanebase.js";
import { baseTag } from "../core/lanetag.js";

/** @import { NextRun } from "./nextrun.js" */

const HELP =
  "What cuts off the words that no one would write, before XTC acts: min-p 0.05 drops every word " +
  "less than 0.05 times as probable as the likeliest.";

export class BaseChoice {
  /**
   * @param {Spec} spec
   * @param {NextRun} run
   * @param {(base: Base) => void} onchange
   */
  constructor(spec, run, onchange) {
    this.spec = spec;
    this.run = run;
    this.select = h("select", { "aria-label": "Base for all lanes" });
    this.select.addEventListener("change", () => onchange(spec.bases[Number(this.select.value)]));
    this.element = h("label", { class: "choice base" }, "Base ", this.select);
    this.fill();
  }

  fill() {
    const { spec, run } = this;
    const { base } = run;
    const place = base ? spec.bases.findIndex((usual) => sameBase(usual, base)) : -1;
    const own = base ? baseTag(base, spec) : "each its own";
    const option = (/** @type {string | number} */ value, /** @type {string} */ text) =>
      h("option", { value }, text);
    this.select.replaceChildren(
      ...(place < 0 ? [option("", own)] : []),
      ...spec.bases.map((usual, i) => option(i, baseTag(usual, spec))),
    );
    this.select.value = place < 0 ? "" : String(place);
    this.select.disabled = !base;
    const others = run.lanes.filter((lane) => !run.based.includes(lane)).map(({ name }) => name);
    const more = others.length ? ` Cutoffs of their own: ${others.join(", ")}.` : "";
    set(this.element, { title: HELP + more });
  }
}

// All engines on one step, those that leave the same together: a strip of bars for each group, and
// in words why it is not the lane's. The rule alone or the whole chain; as the coin fell, or as if
// it had said yes.

import { button, h, sentence, set, setText } from "../core/dom.js";
import { strip } from "./strip.js";
import { agreement, cells, deed, labelOf, receivedBy } from "./strips.js";

/** @typedef {"rule" | "chain"} Part */
/** @typedef {"own" | "fired"} Which */

/**
 * A choice of two, as buttons of which one is pressed.
 * @template {string} T
 * @param {string} label
 * @param {[value: T, words: string, title: string][]} options
 * @param {(value: T) => void} onchange
 */
function switched(label, options, onchange) {
  const buttons = options.map(([value, words, title]) =>
    button(words, () => onchange(value), { title }),
  );
  return {
    element: h("div", { class: "segmented", role: "group", "aria-label": label }, buttons),
    show: (/** @type {T} */ now) => {
      for (const [i, [value]] of options.entries()) {
        set(buttons[i], { "aria-pressed": String(value === now) });
      }
    },
  };
}

export class Comparison {
  /**
   * `whose` says whose engine is the first, `coin` what there is beside "if it fires"; `onturn()`
   * follows another choice.
   * @param {Pick<Spec, "engines">} spec
   * @param {{ whose: string, coin: string }} words
   * @param {() => void} onturn
   */
  constructor(spec, { whose, coin }, onturn = () => {}) {
    this.spec = spec;
    this.whose = whose;
    /** @type {Part} */
    this.part = "rule";
    /** @type {Which} */
    this.which = "fired";
    /** @type {[EnginesView, number] | null} */
    this.shown = null;
    const turn = () => {
      if (this.shown) this.draw(...this.shown);
      onturn();
    };
    this.parts = switched(
      "What is compared",
      [
        ["rule", "The rule alone", "Every engine receives what XTC received here"],
        ["chain", "In its own order", "Every engine runs all stages of the lane in its own order"],
      ],
      (part) => {
        this.part = part;
        turn();
      },
    );
    this.coins = switched(
      "The coin",
      [
        ["fired", "If it fires", "As if the coin had said yes"],
        ["own", coin, "Engines without a coin mix, in the ratio of ρ"],
      ],
      (which) => {
        this.which = which;
        turn();
      },
    );
    this.sum = h("p", { class: "engine-sum", role: "status", "data-testid": "engine-sum" });
    this.groups = h("div", { class: "engine-groups" });
    this.element = h(
      "div",
      { class: "engine-comparison" },
      h("div", { class: "engine-switches" }, this.parts.element, this.coins.element),
      this.sum,
      this.groups,
    );
  }

  /** @param {EnginesView} view @param {number} token the one in the text, -1 for none */
  draw(view, token) {
    this.shown = [view, token];
    this.parts.show(this.part);
    this.coins.show(this.which);
    const strips = view[this.part][this.which];
    setText(this.sum, agreement(strips));
    const rule = this.part === "rule";
    const before = rule ? "What XTC receives" : "What the model gives";
    // In blue what the first engine takes for eligible; of what the model gives nobody has said yet.
    const received = rule ? receivedBy(strips) : null;
    this.groups.replaceChildren(
      h(
        "section",
        { class: "engine-group before" },
        h("h3", { class: "who" }, before),
        strip(cells(strips, received, view, token), before),
      ),
      ...strips.groups.map((group, k) => this.group(strips, group, view, token, k === 0)),
    );
  }

  /**
   * @param {EngineStrips} strips
   * @param {EngineGroup} group
   * @param {EnginesView} view
   * @param {number} token
   * @param {boolean} first
   */
  group(strips, group, view, token, first) {
    const names = group.engines.map((name) => labelOf(name, this.spec));
    const [lead, ...others] = names;
    const bound = group.bound ? " · about, as not every word was recorded" : "";
    return h(
      "section",
      {
        class: "engine-group",
        "data-engines": group.engines.join(" "),
        "data-effect": group.effect,
      },
      h(
        "h3",
        { class: "who" },
        first ? h("b", {}, lead) : lead,
        first ? ` (${this.whose})` : "",
        others.map((name) => `, ${name}`).join(""),
        h("small", {}, ` ${deed(group)}${bound}`),
      ),
      group.reasons.map((reason) => h("p", { class: "reason" }, sentence(reason, view.texts))),
      strip(cells(strips, group, view, token), names.join(", ")),
    );
  }
}

// The head of the page: its name, what XTC is in a sentence, the model in use, a few tools.

import { button, h } from "../core/dom.js";

const SHARED =
  "All lanes share one prompt and one set of dice, so where they part, their settings are the reason.";
const APART =
  "All lanes of this run share one prompt, but each has dice of its own, so they also part by chance.";

/** What is said of the lanes' random numbers. @param {boolean} shared */
export function diceWords(shared) {
  return shared ? SHARED : APART;
}

/** @param {string} words @param {string} label @param {() => unknown} onclick */
export function quiet(words, label, onclick) {
  return button(words, onclick, { class: "quiet", "aria-label": label });
}

/**
 * `dice` is what is said of the lanes' random numbers; `model` null where none can be chosen.
 * @param {{ model: Node | null, dice: Node, tools: Node[], turn: () => void, help: () => void }} parts
 */
export function pageHead({ model, dice, tools, turn, help }) {
  return h(
    "header",
    { class: "top" },
    h("h1", {}, "xtc_viz"),
    h(
      "p",
      { class: "lead" },
      "XTC (exclude top choices) now and then strikes out the likeliest next words and keeps ",
      "the least likely one that is still plausible. ",
      dice,
    ),
    h("p", { class: "model", "data-testid": "model" }, model),
    h(
      "div",
      { class: "tools" },
      ...tools,
      quiet("◐", "Light or dark", turn),
      quiet("?", "Keys", help),
    ),
  );
}

// The head of the page: its name, what XTC is in a sentence, the model in use, a few tools.

import { button, h } from "../core/dom.js";

/** @param {string} words @param {string} label @param {() => unknown} onclick */
export function quiet(words, label, onclick) {
  return button(words, onclick, { class: "quiet", "aria-label": label });
}

/** The way to the laboratory, a page of its own; what is typed here stays. */
export function labLink() {
  const home = location.pathname.replace(/\/?$/, "/");
  return h(
    "a",
    { href: `${home}lab`, class: "to-lab", title: "Many texts, with intervals" },
    "Lab",
  );
}

/**
 * `ways` open the lesson; `model` null where none can be chosen.
 * @param {{ ways: Node[], offer: Node, model: Node | null, tools: Node[], present: () => void,
 *   turn: () => void, help: () => void }} parts
 */
export function pageHead({ ways, offer, model, tools, present, turn, help }) {
  const room = { class: "quiet present", title: "Text and bars large, the rest away (p)" };
  return h(
    "header",
    { class: "top" },
    h("h1", {}, "xtc_viz"),
    h("nav", { class: "ways-in", "aria-label": "Learn" }, ways),
    h(
      "p",
      { class: "lead" },
      "XTC (exclude top choices) now and then strikes out the likeliest next words and keeps ",
      "the least likely plausible one. ",
      offer,
    ),
    h("p", { class: "model", "data-testid": "model" }, model),
    h(
      "div",
      { class: "tools" },
      ...tools,
      button("Classroom", present, { ...room, "aria-pressed": "false" }),
      quiet("◐", "Light or dark", turn),
      quiet("?", "Help", help),
    ),
  );
}

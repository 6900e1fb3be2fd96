// What stands below the timeline: its key, and how the prompt is shown.

import { h } from "../core/dom.js";

/** @param {Node} pieces the switch for the prompt */
export function foot(pieces) {
  return h(
    "p",
    { class: "timeline-key" },
    h("span", { class: "k removed-bar" }, "probability removed"),
    h("span", { class: "k changed-bar" }, "changed the word"),
    h("span", { class: "k eligible" }, "how many tokens were eligible"),
    h("span", {}, "‖ the lanes part"),
    pieces,
  );
}

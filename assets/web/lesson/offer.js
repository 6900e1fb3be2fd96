// One quiet line at a first visit: the tour, or not.

import { button, h } from "../core/dom.js";
import { recall, remember } from "./memory.js";

const KEY = "offer";

/** @param {() => void} start */
export function tourOffer(start) {
  const done = () => {
    remember(KEY, "seen");
    element.hidden = true;
  };
  const show = () => {
    done();
    start();
  };
  const element = h(
    "span",
    { class: "offer", "data-testid": "offer", hidden: recall(KEY) !== null },
    button("See it in a minute", show, { class: "quiet" }),
    button("✕", done, { class: "quiet", "aria-label": "Do not offer the tour again" }),
  );
  return element;
}

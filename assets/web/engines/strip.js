// A strip of bars: what one engine leaves of a step.

import { h, set, token } from "../core/dom.js";
import { described } from "./strips.js";

/** @import { StripCell } from "./strips.js" */

const LEAST = 1.5; // per cent of a strip's height: what is there can be seen

/** @param {StripCell} cell */
function column({ text, kind, height, value, gone, guarded, drawn, id }) {
  const bar = h("i", { class: gone ? `bar ${kind} gone` : `bar ${kind}` });
  const cut = gone && kind !== "removed"; // by another stage than XTC
  const tall = cut ? 0 : Math.max(height > 0 ? LEAST : 0, 100 * height);
  bar.style.height = `${tall}%`;
  const label = h("span", { class: drawn ? "word drawn" : "word" }, id < 0 ? text : token(text));
  if (gone) set(label, { "data-gone": cut ? "cut" : "removed" });
  return h(
    "span",
    { class: "column" },
    h("span", { class: "space" }, h("span", { class: "value" }, value), bar),
    label,
    h("span", { class: "shield" }, guarded ? h("i", {}, "protected") : ""),
  );
}

/**
 * @param {StripCell[]} list
 * @param {string} whose
 */
export function strip(list, whose) {
  return h(
    "div",
    { class: "strip", role: "img", "aria-label": `${whose}: ${described(list)}` },
    list.map(column),
  );
}

// The keyboard: every key that the page knows, with the words that the help shows.

import { h } from "../core/dom.js";
import { FIRED } from "../session/playback.js";

export const KEYS = [
  [["←", "→"], "previous and next step"],
  [["↑", "↓"], "other lane"],
  [["[", "]"], "previous and next step at which XTC fired"],
  [["{", "}"], "previous and next changed word"],
  [["Home", "End"], "first and last step"],
  [["Space"], "play step by step, or pause"],
  [["s"], "one step: look, then draw"],
  [["b"], "one lane, or two side by side"],
  [["c"], "next colouring"],
  [["Ctrl+Enter"], "generate"],
  [["Esc"], "pause, else stop, else leave step by step"],
  [["?"], "this help"],
];

function typing(node) {
  return Boolean(node.closest?.("input:not([type=range]), textarea, select, dialog"));
}

/** Returns whether the key meant something. */
export function handle(event, page) {
  const { model } = page;
  const { key } = event;
  if (key === "Enter" && (event.ctrlKey || event.metaKey)) return page.generate() ?? true;
  if (key === "Escape") return page.escape();
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return false;
  const at = model.selected ?? { lane: model.lane, i: -1 };
  const lanes = model.run?.lanes.length ?? 0;
  const range = event.target.type === "range";
  const button = Boolean(event.target.closest?.("button, summary, [role=tab]"));
  const actions = {
    ArrowLeft: () => model.select(at.lane, at.i - 1, "key"),
    ArrowRight: () => model.select(at.lane, at.i + 1, "key"),
    ArrowUp: () => lanes && model.look((model.lane + lanes - 1) % lanes, "key"),
    ArrowDown: () => lanes && model.look((model.lane + 1) % lanes, "key"),
    Home: () => model.select(at.lane, 0, "key"),
    End: () => model.select(at.lane, Number.POSITIVE_INFINITY, "key"),
    "[": () => model.seek(-1, (chip) => chip.outcome === FIRED),
    "]": () => model.seek(1, (chip) => chip.outcome === FIRED),
    "{": () => model.seek(-1, (chip) => chip.changed),
    "}": () => model.seek(1, (chip) => chip.changed),
    b: () => page.inspector.beside.turn(!page.inspector.beside.on),
    c: () => page.colours.next(),
    s: () => page.stepper.next(),
    "?": () => page.help(),
    " ": () => page.stepper.toggle(),
  };
  const action = actions[key];
  if (!action || (range && /^Arrow|Home|End/.test(key)) || (button && key === " ")) return false;
  action();
  return true;
}

export function helpDialog() {
  const dialog = h("dialog", { class: "help", "aria-label": "Keys" });
  dialog.append(
    h("h2", {}, "Keys"),
    h(
      "dl",
      {},
      KEYS.map(([keys, what]) =>
        h(
          "div",
          {},
          h(
            "dt",
            {},
            keys.map((key) => h("kbd", {}, key)),
          ),
          h("dd", {}, what),
        ),
      ),
    ),
    h("form", { method: "dialog" }, h("button", { class: "quiet" }, "Close")),
  );
  return dialog;
}

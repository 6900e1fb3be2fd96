// The keyboard: every key that the page knows, with the words that the help shows.

import { FIRED } from "../session/chips.js";

/** @import { Playback } from "../session/playback.js" */
/**
 * What keys do beside moving along the text. `escape` returns whether there was something to leave.
 * @typedef {{ generate: () => void, escape: () => boolean, beside: () => void, colour: () => void,
 *   step: () => void, play: () => void, help: () => void, present: () => void, undo: () => void,
 *   redo: () => void }} Actions
 */

/** @type {[string[], string][]} */
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
  [["p"], "classroom: text and bars large"],
  [["z", "Z"], "undo: the run before; redo"],
  [["Enter"], "generate, in the prompt; from anywhere with Ctrl"],
  [["Shift+Enter"], "a new line in the prompt"],
  [["Esc"], "close, pause, stop, or leave what one is in"],
  [["?"], "this list, and the lesson"],
];
const FIELDS = "input:not([type=range]), textarea, select, dialog";

/**
 * Returns whether the key meant something.
 * @param {KeyboardEvent} event
 * @param {Playback} playback
 * @param {Actions} actions
 */
export function handle(event, playback, actions) {
  const { key, target } = event;
  const node = target instanceof Element ? target : document.body;
  if (key === "Enter" && (event.ctrlKey || event.metaKey)) {
    actions.generate();
    return true;
  }
  if (key === "Escape") return actions.escape();
  if (event.ctrlKey || event.metaKey || event.altKey || node.closest(FIELDS)) return false;
  const at = playback.selected ?? { lane: playback.lane, i: -1 };
  const lanes = playback.run?.lanes.length ?? 0;
  const range = node.matches("[type=range]");
  const pressed = Boolean(node.closest("button, summary, [role=tab]"));
  /** @type {Record<string, () => unknown>} */
  const meanings = {
    ArrowLeft: () => playback.select(at.lane, at.i - 1, "key"),
    ArrowRight: () => playback.select(at.lane, at.i + 1, "key"),
    ArrowUp: () => lanes && playback.look((playback.lane + lanes - 1) % lanes, "key"),
    ArrowDown: () => lanes && playback.look((playback.lane + 1) % lanes, "key"),
    Home: () => playback.select(at.lane, 0, "key"),
    End: () => playback.select(at.lane, Number.POSITIVE_INFINITY, "key"),
    "[": () => playback.seek(-1, (chip) => chip.outcome === FIRED),
    "]": () => playback.seek(1, (chip) => chip.outcome === FIRED),
    "{": () => playback.seek(-1, (chip) => chip.changed),
    "}": () => playback.seek(1, (chip) => chip.changed),
    b: actions.beside,
    c: actions.colour,
    p: actions.present,
    s: actions.step,
    z: actions.undo,
    Z: actions.redo,
    "?": actions.help,
    " ": actions.play,
  };
  const meaning = meanings[key];
  if (!meaning || (range && /^Arrow|Home|End/.test(key)) || (pressed && key === " ")) return false;
  meaning();
  return true;
}

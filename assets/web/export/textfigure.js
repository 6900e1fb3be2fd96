// A lane's words with their marks as a figure.

import { s } from "../core/dom.js";
import { FIRED, OUTCOMES } from "../session/chips.js";
import { wordSign } from "./figure.js";

/** @import { Paper } from "./paper.js" */
/**
 * A piece of text: what XTC did at it, null for the prompt; `sign` stands where it has no letters.
 * @typedef {{ text: string, sign?: string, mark: ChipOutcome | null, forced?: boolean }} Piece
 * @typedef {{ words: string, x: number, y: number, wide: number }} Box
 */

const SIZE = 16;
const LINE = 36;
const FIRST = 26; // from the top to the first line's letters

/**
 * Where pieces stand in lines of `room` pixels: broken at white space, within a word only where it
 * is longer than a line, and at every newline. `y` counts lines; white space takes no box.
 * @param {Pick<Piece, "text">[]} pieces
 * @param {number} room
 * @param {(text: string) => number} wide
 * @returns {Box[]}
 */
export function placed(pieces, room, wide) {
  /** @type {Box[]} */
  const boxes = [];
  let [x, y] = [0, 0];
  const space = (/** @type {string} */ text) => {
    const lines = text.split("\n").length - 1;
    if (lines) [x, y] = [0, y + lines];
    else if (x) x += text.length * wide(" ");
  };
  const core = (/** @type {number} */ i) => pieces[i].text.trim();
  // The rest of the word that piece i begins.
  const word = (/** @type {number} */ i) => {
    let words = core(i);
    for (let j = i; j + 1 < pieces.length && !/\s$/.test(pieces[j].text); j++) {
      if (/^\s/.test(pieces[j + 1].text)) break;
      words += core(j + 1);
    }
    return wide(words);
  };
  for (const [i, { text }] of pieces.entries()) {
    const words = core(i);
    if (!words) {
      boxes.push({ words, x, y, wide: 0 });
      space(text);
      continue;
    }
    space(text.slice(0, text.length - text.trimStart().length));
    const own = wide(words);
    const begins = /^\s/.test(text) || !i || /\s$/.test(pieces[i - 1].text);
    const whole = begins ? word(i) : own;
    if (x && x + (whole <= room ? whole : own) > room) [x, y] = [0, y + 1];
    boxes.push({ words, x, y, wide: own });
    x += own;
    space(text.slice(text.trimEnd().length));
  }
  return boxes;
}

/** A text as its words, each with the white space before it. @param {string} text */
export function wordsOf(text) {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/**
 * Which sign stands over a word, "" for none.
 * @param {Pick<ChipOutcome, "outcome" | "tail" | "imagined">} mark
 */
export function signOf({ outcome, tail, imagined }) {
  if (outcome !== FIRED) return outcome ? OUTCOMES[outcome] : "";
  if (tail) return "from-tail";
  return imagined ? "imagined" : "fired";
}

/**
 * `off` says that XTC was off: then no sign stands over the words.
 * @param {Piece[]} pieces
 * @param {boolean} off
 * @param {Paper} paper
 */
export function textFigure(pieces, off, paper) {
  const ink = (/** @type {string} */ name) => paper.ink(name);
  const wide = (/** @type {string} */ text) => paper.wide(text, SIZE);
  /** @type {SVGElement[][]} From the lowest to the highest. */
  const layers = [[], [], []];
  const [under, letters, signs] = layers;
  let last = 0;
  for (const [i, box] of placed(pieces, paper.width, wide).entries()) {
    const { mark, sign, forced } = pieces[i];
    const y = FIRST + LINE * box.y;
    last = Math.max(last, box.y);
    const words = box.words || sign || "";
    const room = box.words ? box.wide : wide(words);
    if (words) {
      // As wide as here, whatever fonts another machine has.
      const fit = box.words && box.wide ? { textLength: box.wide.toFixed(1) } : {};
      const fill = mark && box.words && !mark.tail ? ink("ink") : ink("ink-2");
      const props = { x: box.x.toFixed(1), y, fill, "font-weight": forced ? 700 : null };
      letters.push(s("text", { ...props, ...fit, lengthAdjust: "spacingAndGlyphs" }, words));
    }
    const kind = mark && !off ? signOf(mark) : "";
    if (!mark || !kind) continue;
    signs.push(wordSign(kind, box.x + Math.max(8, room) / 2, y - 19, ink));
    if (mark.outcome !== FIRED) continue;
    if (mark.changed || mark.tail) {
      const wash = { x: box.x - 1, y: y - 13, width: room + 2, height: 17, rx: 2 };
      under.push(s("rect", { ...wash, fill: ink("removed-wash") }));
    }
    const dots = { stroke: ink("changed"), "stroke-width": 2.6, "stroke-dasharray": "2.6 2.6" };
    const dashed = mark.imagined ? { "stroke-dasharray": "5 3" } : {};
    const line = { stroke: ink("removed"), "stroke-width": 1.6, ...dashed };
    const d = `M${box.x} ${y + 5}h${room}`;
    signs.push(s("path", { d, fill: "none", ...(mark.changed ? dots : line) }));
  }
  return {
    node: s("g", { "font-size": SIZE }, layers.flat()),
    height: FIRST + LINE * last + 14,
  };
}

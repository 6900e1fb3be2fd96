// What each engine leaves of a step as a figure: the strips of the page, one under the other.

import { s } from "../core/dom.js";
import { shown } from "../core/format.js";
import { cells, deed, labelOf, receivedBy } from "../engines/strips.js";
import { wordSign, wrapped } from "./figure.js";

/** @import { StripCell } from "../engines/strips.js" */
/** @import { Paper } from "./paper.js" */

const LINE = 18;
const BAR = 56; // the height of the tallest bar
const VALUE = 16; // over a bar: what is left
const WORD = 20; // under it
const GUARD = 12; // under the word: a shield
const GAP = 14; // between two engines
const WIDEST = 96; // pixels of a column
const LEAST = 1; // pixels of a bar: what is there can be seen

/** A sentence from the server as plain text. @param {Sentence} parts @param {Texts} texts */
function said(parts, texts) {
  return parts
    .map((part) => (typeof part === "number" ? `“${shown(texts[part] ?? "?").trim()}”` : part))
    .join("");
}

/** As much of a text as fits. @param {string} text @param {number} room @param {Paper} paper */
function cut(text, room, paper) {
  let short = text;
  while (short.length > 1 && paper.wide(`${short}…`, 12) > room) short = short.slice(0, -1);
  return paper.wide(text, 12) <= room ? text : `${short}…`;
}

/**
 * One bar with its value and its word.
 * @param {StripCell} cell
 * @param {number} x the middle of its column
 * @param {number} base
 * @param {number} wide of the column
 * @param {Paper} paper
 */
function column(cell, x, base, wide, paper) {
  const ink = (/** @type {string} */ name) => paper.ink(name);
  const { kind, gone, height, value, text, drawn, guarded } = cell;
  const lost = gone && kind !== "removed"; // cut off by another stage than XTC
  const tall = lost || height <= 0 ? 0 : Math.max(LEAST, BAR * height);
  const bar = Math.min(34, wide - 6);
  const box = { x: x - bar / 2, y: base - tall, width: bar, height: tall };
  const fill = ["eligible", "kept"].includes(kind) ? ink(kind) : ink("tail");
  const ring = { stroke: ink("kept"), "stroke-width": 4, "stroke-opacity": 0.35 };
  /** @type {Record<string, Props>} */
  const paints = {
    removed: { fill: "url(#hatch)", stroke: ink("removed"), opacity: gone ? 0.55 : 1 },
    kept: { fill, ...ring, "paint-order": "stroke" },
  };
  const word = { x, y: base + 15, "text-anchor": "middle", "font-size": 12 };
  const away = kind === "removed" && gone;
  return [
    s("line", {
      x1: x - wide / 2 + 2,
      x2: x + wide / 2 - 2,
      y1: base,
      y2: base,
      stroke: ink("tail"),
    }),
    tall > 0 ? s("rect", { ...box, ...(paints[kind] ?? { fill }) }) : null,
    s(
      "text",
      { x, y: base - tall - 5, "text-anchor": "middle", "font-size": 11.5, fill: ink("ink-2") },
      value,
    ),
    s(
      "text",
      {
        ...word,
        fill: away ? ink("removed-ink") : lost ? ink("ink-2") : ink("ink"),
        "font-weight": drawn ? 700 : 400,
        "text-decoration": away ? "line-through" : undefined,
      },
      cut(shown(text).trim() || shown(text), wide - 4, paper),
    ),
    guarded ? wordSign("protected", x, base + 24, ink) : null,
  ].filter((node) => node !== null);
}

/**
 * All engines on a step, in groups that leave the same; `whose` follows the first engine's name.
 * @param {EnginesView} view
 * @param {{ part: "rule" | "chain", which: "own" | "fired", token: number, whose: string }} how
 * @param {Pick<Spec, "engines">} spec
 * @param {Paper} paper
 */
export function enginesFigure(view, { part, which, token, whose }, spec, paper) {
  const strips = view[part][which];
  /** @type {SVGElement[]} */
  const parts = [];
  let y = 0;
  const write = (/** @type {string} */ words, /** @type {string} */ ink, weight = 400) => {
    const wide = (/** @type {string} */ text) => 1.05 * paper.wide(text, 13, weight);
    for (const line of wrapped(words, paper.width, wide)) {
      y += LINE;
      parts.push(s("text", { x: 0, y: y - 5, fill: paper.ink(ink), "font-weight": weight }, line));
    }
  };
  const strip = (/** @type {StripCell[]} */ list) => {
    const wide = Math.min(WIDEST, paper.width / list.length);
    const base = y + VALUE + BAR + 2;
    for (const [i, cell] of list.entries()) {
      parts.push(...column(cell, (i + 0.5) * wide, base, wide, paper));
    }
    y = base + WORD + (list.some(({ guarded }) => guarded) ? GUARD : 0) + GAP;
  };
  const rule = part === "rule";
  const before = cells(strips, rule ? receivedBy(strips) : null, view, token);
  write(rule ? "What XTC receives" : "What the model gives", "ink-2");
  strip(before);
  /** @type {string[]} */
  const notes = [];
  const all = strips.groups.map((group, k) => {
    const names = group.engines.map((name) => labelOf(name, spec)).join(", ");
    const bound = group.bound ? " · about, as not every word was recorded" : "";
    const head = `${names}${k ? "" : ` (${whose})`}: ${deed(group)}${bound}`;
    const reasons = group.reasons.map((reason) => said(reason, view.texts));
    write(head, "ink", k ? 400 : 700);
    for (const reason of reasons) write(reason, "ink-2");
    notes.push([`${head}.`, ...reasons].join(" "));
    const list = cells(strips, group, view, token);
    strip(list);
    return list;
  });
  const shownCells = [before, ...all].flat();
  return {
    node: s("g", {}, parts),
    height: y - GAP,
    notes,
    kinds: new Set(shownCells.map(({ kind }) => kind)),
    guarded: shownCells.some(({ guarded }) => guarded),
  };
}

// What the bars are made of: where everything stands, and the elements of a row and of a column.

import { s } from "../core/dom.js";

const NARROW = 500;
const LOW = matchMedia("(max-height: 820px) and (min-width: 640.1px)"); // windows of few lines

/**
 * A cell is a bar of length `bar`, within it a line of length `line`, and words behind; `restore`
 * says that its token can be brought back.
 * @typedef {{ kind: string, bar: number, line?: number, sign?: string, gone?: string,
 *   value: string, short?: string, restore?: boolean }} BarCell
 * @typedef {{ id: number, text: string, kind: string, drawn: boolean, sign?: string,
 *   cells: BarCell[] }} BarRow
 * @typedef {{ title: string, tag?: string, tau?: number, own?: boolean }} BarHead
 * What the bars show, with a `label` for those who cannot see it; `deed` says what a press of a row
 * does, null for nothing.
 * @typedef {{ heads: BarHead[], list: BarRow[], label: string, beside?: boolean,
 *   deed?: (id: number, text: string) => string | null }} BarView
 * @typedef {ReturnType<typeof layout>} Layout
 * @typedef {ReturnType<typeof makeRow>} RowParts
 * @typedef {ReturnType<typeof makeCell>} CellParts
 * @typedef {ReturnType<typeof makeColumn>} ColumnParts
 */

/**
 * Where everything stands. `sign` is room for ▲ and △, `gap` room for the numbers, in pixels. In a
 * `low` window the rows stand closer.
 * @param {number} width
 * @param {boolean} beside
 */
export function layout(width, beside, low = LOW.matches) {
  const narrow = width < NARROW;
  const rows = low
    ? { top: 32, high: 20, bar: 3, base: 14 }
    : { top: 34, high: 23, bar: 5, base: 16 };
  const place = { ...rows, x: 24, sign: 0, gap: narrow ? 46 : 62 };
  let labels = Math.max(104, Math.min(190, width * 0.24));
  if (beside) {
    Object.assign(place, { top: 58, x: 4, sign: 18, gap: 112 });
    labels = Math.max(96, Math.min(150, width * 0.18));
    // On a phone a token stands above its bars.
    if (narrow) Object.assign(place, { high: 40, bar: 20, base: 31, sign: 16, gap: 64 });
  }
  const over = beside && narrow;
  const from = over ? 0 : labels;
  const column = (width - from) / 2;
  const lefts = [from + place.sign, from + column + place.sign];
  const room = column - place.sign - place.gap;
  const name = over ? width : labels - (beside ? 4 : 10);
  return { ...place, over, column, lefts, room, label: over ? 14 : place.base, name, narrow };
}

function makeCell() {
  const gone = s("tspan", { class: "gone" });
  const value = s("tspan");
  const restore = s("tspan", { class: "restore", dx: 8 });
  return {
    bar: s("rect", { height: 14, rx: 1.5 }),
    line: s("rect", { class: "line", height: 4 }),
    sign: s("text"),
    gone,
    value,
    restore,
    text: s("text", { class: "value" }, gone, value, restore),
  };
}

/** The words of a row lie over the lines of the thresholds, its bars under them. */
export function makeRow() {
  const hit = s("rect", { class: "hit", x: 0, width: "100%" });
  const sign = s("text", { x: 4 });
  const strip = s("rect", { class: "strip", x: 0, y: 1, height: 17 });
  const label = s("text", { class: "label" });
  const cells = [makeCell(), makeCell()];
  const bars = cells.flatMap((cell) => [cell.sign, cell.bar, cell.line]);
  const group = s("g", {}, hit, sign, ...bars);
  const words = s("g", {}, strip, label, ...cells.map((cell) => cell.text));
  // `place` and `said` are what the row and its label were last drawn for, `wide` how wide it is.
  return { hit, sign, strip, label, cells, group, words, place: "", said: "", wide: 0 };
}

export function makeColumn() {
  const title = s("text", { class: "head", y: 13 });
  const tag = s("text", { class: "head-tag", y: 30 });
  const tau = s("path", { class: "tau" });
  const tauText = s("text", { class: "tau-text" });
  const threshold = s("g", {}, tau, tauText);
  return { title, tag, tau, tauText, threshold, group: s("g", {}, title, tag) };
}

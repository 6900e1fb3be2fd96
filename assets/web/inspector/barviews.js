// What the bars show: rows of a distribution, or of two side by side, as bars, lines, signs, words.

import { percent, setting } from "../core/format.js";

/** @import { Cell, PairRow, Row } from "./distribution.js" */
/** @import { BarCell, BarView } from "./barparts.js" */
/** @typedef {{ title: string, tag: string, tau: number, own: boolean, open: boolean }} LaneHead */

const FINE = 1e-4; // per cent: there is room for small numbers beside short bars

/** Signs of a candidate: it was drawn, or would have been drawn without XTC. @param {Cell} one */
function sign(one) {
  if (one.drawn) return "▲";
  return one.instead ? "△" : "";
}

/**
 * One lane, before and after XTC. `list` are the rows of its distribution; `open` says that one can
 * go on from here with what was removed.
 * @param {Pick<StepView, "tau">} step
 * @param {Row[]} list
 * @param {boolean} open
 * @returns {BarView}
 */
export function beforeAndAfter(step, list, open) {
  const best = list
    .slice(0, 5)
    .map((row) => `${row.text.trim() || "white space"} ${percent(row.p)}, ${row.kind}`)
    .join("; ");
  return {
    heads: [{ title: "before XTC", tau: step.tau }, { title: "after XTC" }],
    list: list.map((row) => ({
      ...row,
      sign: sign(row),
      cells: [
        { kind: row.kind, bar: row.p, value: percent(row.p, FINE) },
        {
          kind: row.kind,
          bar: row.q,
          value: row.kind === "removed" ? "removed" : percent(row.q, FINE),
          short: open && row.kind === "removed" ? "✕" : undefined,
          restore: open && row.kind === "removed",
        },
      ],
    })),
    label: `Probabilities before and after XTC, threshold ${setting(step.tau)}. ${best}.`,
  };
}

/**
 * A probability before and after in a few characters, `gone` struck through.
 * @param {Cell} cell
 * @param {boolean} open
 * @returns {Pick<BarCell, "gone" | "value" | "short" | "restore">}
 */
function words(cell, open) {
  if (cell.known && cell.kind === "removed") {
    const value = open ? "" : " removed";
    return { gone: percent(cell.p), value, short: " ✕", restore: open };
  }
  return { value: numbers(cell, FINE), short: numbers(cell) };
}

/** @param {Cell} cell @param {number} [least] */
function numbers({ known, ...cell }, least) {
  const p = percent(cell.p, least);
  const q = percent(cell.q, least);
  if (!known && cell.p === 0) return p;
  if (!known) return p.startsWith("<") ? p : `≤ ${p}`;
  return p === q ? p : `${p.replace("\u00a0%", "")} → ${q}`;
}

/**
 * Two lanes side by side: wide bars for p before, lines in them for q after. `heads` say of each
 * whether one can go on from here with what was removed (`open`).
 * @param {LaneHead[]} heads
 * @param {PairRow[]} list
 * @returns {BarView}
 */
export function sideBySide(heads, list) {
  const say = (/** @type {PairRow} */ row, /** @type {number} */ k) => {
    const { gone, value } = words(row.cells[k], false);
    return `${heads[k].title} ${gone ?? ""}${value}`;
  };
  const best = list
    .slice(0, 5)
    .map((row) => `${row.text.trim() || "white space"}: ${say(row, 0)}, ${say(row, 1)}`)
    .join("; ");
  return {
    beside: true,
    heads,
    list: list.map((row) => ({
      id: row.id,
      text: row.text,
      kind: row.id < 0 ? "rest" : "",
      drawn: row.cells.some((cell) => cell.drawn),
      cells: row.cells.map((cell, k) => ({
        kind: cell.kind,
        bar: cell.known ? cell.p : 0,
        line: cell.q,
        sign: sign(cell),
        ...words(cell, heads[k].open),
      })),
    })),
    label: `Probabilities of the same place in two lanes, before and after XTC. ${best}.`,
  };
}

// The bars of a question: before the coin with someone's guess beside them, and after it. Pure.

import { percent } from "../core/format.js";
import { beforeAndAfter } from "../inspector/barviews.js";
import { rows } from "../inspector/distribution.js";
import { survives, undrawn } from "./question.js";

/** @import { BarView } from "../inspector/barparts.js" */
/** @import { Row } from "../inspector/distribution.js" */
/** @import { Question } from "./question.js" */

const FINE = 1e-4;

/** @param {Row} row */
function word({ text }) {
  return text.trim() || "white space";
}

/**
 * The bars without what XTC does; behind them what is thought to survive.
 * @param {Question} question
 * @param {Set<number>} marked
 * @returns {BarView}
 */
export function asked({ level, list, step }, marked) {
  const behind = level.name === "min_p";
  const best = list.slice(0, 5).map((row) => `${word(row)} ${percent(row.p)}`);
  // Behind min-p all shares are larger than the bars, so that a line for τ would stand wrong.
  const head = behind ? { title: "the model" } : { title: "before XTC", tau: step.tau };
  return {
    heads: [head, { title: "your guess" }],
    list: list.map((row) => {
      const kind = row.id < 0 ? "rest" : "tail";
      const guess = marked.has(row.id) ? "still possible" : "";
      const before = { kind, bar: row.p, value: percent(row.p, FINE) };
      return { ...row, kind, drawn: false, cells: [before, { kind, bar: 0, value: guess }] };
    }),
    label: `Probabilities before the coin. ${best.join("; ")}.`,
  };
}

/**
 * The bars with what happened, or would have happened under the settings of a what-if.
 * @param {Question} question
 * @returns {BarView}
 */
export function answered({ level, list, step, texts, fates, imagined }) {
  const seen = imagined ? undrawn(step) : step;
  if (level.name !== "min_p")
    return beforeAndAfter(seen, rows(seen, texts, list.length - 1), false);
  const after = new Map(rows(seen, texts, 50).map((row) => [row.id, row]));
  const shown = list.map((row) => {
    const now = after.get(row.id);
    const lost = fates.get(row.id) === "cut";
    const kind = lost ? "tail" : (now?.kind ?? "tail");
    return {
      ...row,
      kind,
      q: now?.q ?? 0,
      drawn: now?.drawn ?? false,
      instead: now?.instead ?? false,
    };
  });
  const sum = shown.reduce((all, { id, q }) => (id < 0 ? all : all + q), 0);
  const whole = shown.map((row) =>
    row.id < 0 ? { ...row, kind: "rest", q: Math.max(0, 1 - sum) } : row,
  );
  const view = beforeAndAfter(seen, whole, false);
  return {
    ...view,
    heads: [{ title: "the model" }, { title: "after min-p and XTC" }],
    list: view.list.map((row) => {
      if (survives(fates.get(row.id)) || row.kind === "removed") return row;
      const [before, behind] = row.cells;
      return { ...row, cells: [before, { ...behind, bar: 0, value: "cut by min-p" }] };
    }),
    label: `Probabilities of the model, and after min-p and XTC. ${view.label}`,
  };
}

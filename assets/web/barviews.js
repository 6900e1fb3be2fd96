// What the bars show: rows of a distribution, or of two side by side, as bars, lines, signs, words.

import { percent, setting } from "./dom.js";

/** Signs of a candidate: it was drawn, or would have been drawn without XTC. */
function sign(one) {
  if (one.drawn) return "▲";
  return one.instead ? "△" : "";
}

/** One lane, before and after XTC. `list` are the rows of its distribution. */
export function beforeAndAfter(step, list) {
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
        { kind: row.kind, bar: row.p, value: percent(row.p) },
        {
          kind: row.kind,
          bar: row.q,
          value: row.kind === "removed" ? "removed" : percent(row.q),
        },
      ],
    })),
    label: `Probabilities before and after XTC, threshold ${setting(step.tau)}. ${best}.`,
  };
}

/** A probability before and after in a few characters, `gone` struck through. */
function words(cell) {
  const p = percent(cell.p);
  const q = percent(cell.q);
  if (!cell.known) return { value: cell.p < 1e-4 ? p : `≤ ${p}` };
  if (cell.kind === "removed") return { gone: p, value: " removed", short: " ✕" };
  return { value: p === q ? p : `${p.replace(" %", "")} → ${q}` };
}

/** Two lanes side by side: wide bars for p before, lines in them for q after. */
export function sideBySide(heads, list) {
  const say = (row, k) => {
    const { gone, value } = words(row.cells[k]);
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
      cells: row.cells.map((cell) => ({
        kind: cell.kind,
        bar: cell.known ? cell.p : 0,
        line: cell.q,
        sign: sign(cell),
        ...words(cell),
      })),
    })),
    label: `Probabilities of the same place in two lanes, before and after XTC. ${best}.`,
  };
}

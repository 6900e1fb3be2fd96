// The distribution of a step as rows to be drawn or read, of one lane or of two side by side.
// Pure: records in, rows out.

/**
 * What a row shows of a token in one lane. Where it is not `known`, p is a bound.
 * @typedef {{ id: number, p: number, q: number, kind: string, drawn: boolean, instead: boolean,
 *   known: boolean }} Cell
 * @typedef {Cell & { text: string }} Row
 * @typedef {{ id: number, text: string, cells: Cell[] }} PairRow
 * @typedef {Pick<StepView, "token" | "instead" | "outcome" | "eligible" | "removed" | "kept" | "ids"
 *   | "probs" | "rest" | "removed_mass" | "final">} Distribution
 */

/**
 * Every recorded candidate: p that XTC received, q that the lane drew from.
 * @param {Distribution} step
 * @returns {Cell[]}
 */
function candidates(step) {
  const removed = new Set(step.removed);
  const kept = new Set(step.kept);
  const fired = step.outcome === "fired";
  return step.ids.map((id, i) => {
    const gone = fired && removed.has(id);
    let kind = "tail";
    if (gone) kind = "removed";
    else if (i < step.eligible) kind = fired && kept.has(id) ? "kept" : "eligible";
    const p = step.probs[i];
    // Without stages behind XTC, what it leaves is only scaled up.
    const scaled = gone ? 0 : Math.min(1, p / (1 - step.removed_mass));
    const q = step.final ? step.final[i] : scaled;
    const drawn = id === step.token;
    return { id, p, q, kind, drawn, instead: !drawn && id === step.instead, known: true };
  });
}

/**
 * Everything that is not shown: what the shown ones leave.
 * @param {Distribution} step
 * @param {Cell[]} all
 * @param {(one: Cell) => boolean} isShown
 * @returns {Cell}
 */
function remainder(step, all, isShown) {
  let p = step.rest;
  let q = 1;
  for (const one of all) {
    if (isShown(one)) q -= one.q;
    else p += one.p;
  }
  // What no stage before XTC left has no share behind it either, but for rounding.
  q = p ? Math.max(0, q) : 0;
  return { id: -1, p, q, kind: "rest", drawn: false, instead: false, known: true };
}

const REST = "everything else";

/**
 * One row a token, in falling order of p, then everything else: both columns sum to 1.
 * @param {Distribution} step
 * @param {Texts} texts
 * @param {number} limit
 * @returns {Row[]}
 */
export function rows(step, texts, limit) {
  const all = candidates(step);
  const first = Math.max(limit, step.eligible);
  const shown = new Set(all.filter((one, i) => i < first || one.drawn || one.instead));
  const list = [...shown].map((one) => ({ ...one, text: texts[one.id] ?? "?" }));
  return [...list, { ...remainder(step, all, (one) => shown.has(one)), text: REST }];
}

/**
 * A token without a record has at most this probability.
 * @param {Distribution} step
 * @param {Cell[]} all
 */
function ceiling(step, all) {
  // The drawn tokens are recorded wherever they stand; all others stand without a gap.
  const last = all.findLast((one) => !one.drawn && !one.instead);
  return Math.min(step.rest, last?.p ?? 1);
}

/**
 * The same tokens in two lanes: rows of two cells, in the order of p in lane `own` (0 or 1), then
 * in the other. They are the `limit` most probable of the two together, with all that is eligible
 * or drawn in either. A cell that is not `known` has a probability of at most its p.
 * @param {Distribution[]} steps
 * @param {Texts[]} texts
 * @param {number} limit
 * @param {number} own
 * @returns {PairRow[]}
 */
export function together(steps, texts, limit, own) {
  const every = steps.map(candidates);
  const cells = every.map((all) => new Map(all.map((one) => [one.id, one])));
  const best = (/** @type {number} */ id) => Math.max(...cells.map((lane) => lane.get(id)?.p ?? 0));
  const ids = [...new Set(every.flatMap((all) => all.map((one) => one.id)))];
  const wanted = new Set(ids.sort((a, b) => best(b) - best(a)).slice(0, limit));
  for (const [k, all] of every.entries()) {
    all.forEach((one, i) => {
      if (i < steps[k].eligible || one.drawn || one.instead) wanted.add(one.id);
    });
  }
  const p = (/** @type {number} */ k, /** @type {number} */ id) => cells[k].get(id)?.p ?? -1;
  const order = [...wanted].sort(
    (a, b) => p(own, b) - p(own, a) || p(1 - own, b) - p(1 - own, a) || a - b,
  );
  const limits = steps.map((step, k) => ceiling(step, every[k]));
  const unknown = { q: 0, kind: "tail", drawn: false, instead: false, known: false };
  const list = order.map((id) => ({
    id,
    text: texts[0][id] ?? texts[1][id] ?? "?",
    cells: cells.map((lane, k) => lane.get(id) ?? { ...unknown, id, p: limits[k] }),
  }));
  const rest = steps.map((step, k) => remainder(step, every[k], (one) => wanted.has(one.id)));
  return [...list, { id: -1, text: REST, cells: rest }];
}

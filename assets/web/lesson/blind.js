// "Which lane is XTC?": two texts of a run without marks, in an order by chance. Pure.

import { FIRED } from "../session/chips.js";

/** @import { Run } from "../session/run.js" */
/** `lanes` are shown in this order; `xtc` is the place of the one with XTC. @typedef {{ lanes: [number, number], xtc: 0 | 1 }} Round */
/** @typedef {{ text: string, fired: boolean, changed: boolean }} Piece */

const SHORT = 12; // tokens: less is no text to judge by

/**
 * The two texts of a run, null where it has no pair: one lane without XTC, one with, and a
 * difference between them.
 * @param {Pick<Run, "head" | "lanes">} run
 * @param {() => number} random
 * @returns {Round | null}
 */
export function roundOf({ head, lanes }, random) {
  const long = (/** @type {number} */ k) => lanes[k].chips.length >= SHORT && !head.lanes[k].branch;
  const rho = (/** @type {number} */ k) => head.lanes[k].sampler.xtc.rho;
  const all = lanes.map((_, k) => k).filter(long);
  const off = all.find((k) => rho(k) === 0);
  const on = all.find((k) => rho(k) > 0 && lanes[k].chips.some((chip) => chip.changed));
  if (off === undefined || on === undefined) return null;
  return random() < 0.5 ? { lanes: [on, off], xtc: 0 } : { lanes: [off, on], xtc: 1 };
}

/** The words of a lane with what XTC did at each. @param {readonly Chip[]} chips @returns {Piece[]} */
export function pieces(chips) {
  return chips.map(({ text, outcome, changed }) => ({ text, changed, fired: outcome === FIRED }));
}

/**
 * Why the one is XTC's: how often it fired, and the first word that it changed.
 * @param {Pick<Run, "lanes">} run
 * @param {number} on
 * @returns {{ fired: number, changed: number, word: string, at: number }}
 */
export function trail({ lanes }, on) {
  const { chips } = lanes[on];
  const at = chips.findIndex((chip) => chip.changed);
  return {
    fired: chips.filter((chip) => chip.outcome === FIRED).length,
    changed: chips.filter((chip) => chip.changed).length,
    word: chips[at]?.text ?? "",
    at,
  };
}

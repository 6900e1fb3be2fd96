// The levels of "Guess what survives": which steps of a run suit each, and by which what-if another
// step is made to suit. Pure.

import { dialectOf, PAPER } from "../core/dialect.js";
import { FIRED } from "../session/chips.js";

/** @import { Run } from "../session/run.js" */
/** @typedef {"two" | "four" | "protected" | "below" | "min_p"} LevelName */
/** `hint` says what is new. @typedef {{ name: LevelName, title: string, hint: string }} Level */
/** @typedef {Pick<Run, "head" | "lanes">} Steps */

/** @type {Level[]} In the order in which they get harder. */
export const LEVELS = [
  { name: "two", title: "Two words clear τ", hint: "" },
  { name: "four", title: "More words clear τ", hint: "" },
  { name: "protected", title: "A protected word", hint: "XTC must never remove a protected word." },
  { name: "below", title: "Look where τ stands", hint: "" },
  { name: "min_p", title: "After min-p", hint: "" },
];

const MANY = 4;
const MOST = 7; // more eligible words than these are too long a list
const FIRST = 2; // before this there is too little to read
const PROTECTED = 2;
const STEP = 0.005; // of τ

/** @param {Chip} chip @param {LevelName} name */
function suits({ eligible, outcome, bounded, forced }, name) {
  if (bounded || forced || eligible > MOST) return false;
  if (name === "protected") return outcome === PROTECTED;
  if (outcome === PROTECTED) return false;
  if (name === "two") return eligible === 2;
  if (name === "four") return eligible >= MANY;
  return name === "below" ? eligible < 2 : eligible >= 2;
}

/** Lanes where XTC is on, by the paper's rule, and keeps the least likely. @param {Steps} run */
function lanesOf({ head, lanes }) {
  return lanes.flatMap(({ chips }, lane) => {
    const { sampler } = head.lanes[lane];
    const { rho, strategy } = sampler.xtc;
    const plain = rho > 0 && strategy === "keep_least" && dialectOf(sampler.xtc) === PAPER;
    return plain ? [{ lane, chips, sampler }] : [];
  });
}

/**
 * The places of a run that show a level as it is.
 * @param {Steps} run
 * @param {LevelName} name
 * @returns {Place[]}
 */
export function placesFor(run, name) {
  return lanesOf(run)
    .filter(({ sampler }) => name !== "min_p" || sampler.min_p > 0)
    .flatMap(({ lane, chips }) =>
      chips.flatMap((chip, i) => (i >= FIRST && suits(chip, name) ? [{ lane, i }] : [])),
    );
}

/**
 * The places of a run from which a what-if makes a level.
 * @param {Steps} run
 * @param {LevelName} name
 * @returns {Place[]}
 */
export function placesToImagine(run, name) {
  const least = { two: 1, four: 3, protected: 2, below: 9, min_p: 9 }[name];
  return lanesOf(run).flatMap(({ lane, chips }) =>
    chips.flatMap((chip, i) => {
      const { outcome, eligible, bounded, forced } = chip;
      const open = i >= FIRST && eligible >= least && !bounded && !forced;
      return open && (name !== "protected" || outcome === FIRED) ? [{ lane, i }] : [];
    }),
  );
}

/**
 * Other settings under which a step shows a level, null where none do: a protected word, or a τ
 * that four words clear.
 * @param {LevelName} name
 * @param {StepView} step
 * @param {Texts} texts
 * @returns {OtherXtc | null}
 */
export function otherXtc(name, { rho, tau, ids, probs, removed }, texts) {
  const strategy = "keep_least";
  if (name === "protected") {
    const word = texts[removed[0]] ?? "";
    const protect = { eos: false, newline: "none", texts: [word] };
    return word.trim() ? { rho, tau, strategy, protect } : null;
  }
  const many = name === "four" ? MANY : 2;
  const lower = Math.floor(probs[many - 1] / STEP) * STEP;
  const clear = probs.filter((p) => p >= lower).length;
  const good = ids.length > many && lower >= 2 * STEP && clear >= many && clear <= MOST;
  return good && name !== "below" ? { rho, tau: Number(lower.toFixed(3)), strategy } : null;
}

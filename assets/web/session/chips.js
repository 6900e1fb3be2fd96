// A chip is what the lanes, the colours and the timeline need of a step. Pure.

/** @type {Outcome[]} */
export const OUTCOMES = ["unambiguous", "skipped", "protected", "fired"];
export const FIRED = 3;
const CHANGED = 4; // added to the outcome's number
const FORCED = 8;
const BOUNDED = 16;

/**
 * A chip from the wire as an object.
 * @param {ChipValues} values
 * @returns {Chip}
 */
export function readChip([id, text, flags, p, rank, entropy, eligible, mass, sign]) {
  const outcome = flags % CHANGED;
  const forced = Boolean(flags & FORCED);
  return {
    id,
    text,
    outcome,
    changed: Boolean(flags & CHANGED),
    forced,
    tail: isFromTail({ outcome, forced, rank, eligible }),
    p: p / 1e4,
    rank,
    entropy: entropy / 1e3,
    eligible,
    mass: mass / 1e4,
    bounded: Boolean(flags & BOUNDED),
    sign,
  };
}

/**
 * A chip as it came.
 * @param {Chip} chip
 * @returns {ChipValues}
 */
export function chipValues({ id, text, outcome, changed, forced, bounded, ...chip }) {
  const flags = outcome + CHANGED * Number(changed) + FORCED * Number(forced);
  const { p, rank, entropy, eligible, mass, sign } = chip;
  const [share, bits, removed] = [p * 1e4, entropy * 1e3, mass * 1e4].map(Math.round);
  const all = flags + BOUNDED * Number(bounded);
  /** @type {ChipValues} */
  const values = [id, text, all, share, rank, bits, eligible, removed];
  return sign === undefined ? values : [...values, sign];
}

/**
 * Whether XTC fired and the word that was drawn lay below τ.
 * @param {Pick<Chip, "outcome" | "forced" | "rank" | "eligible">} chip
 */
export function isFromTail({ outcome, forced, rank, eligible }) {
  return outcome === FIRED && !forced && rank > eligible;
}

/**
 * The first position at which two lanes hold different tokens, or -1 while they agree.
 * @param {readonly Chip[]} a
 * @param {readonly Chip[]} b
 */
export function firstDifference(a, b, from = 0) {
  const n = Math.min(a.length, b.length);
  for (let i = from; i < n; i++) if (a[i].id !== b[i].id) return i;
  return -1;
}

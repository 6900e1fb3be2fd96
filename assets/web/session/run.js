// A run as far as the page has it: its head, and lanes that grow message by message. No document.

import { chipValues, FIRED, firstDifference, isFromTail, readChip } from "./chips.js";

/** @returns {{ -readonly [K in keyof RunLane]: RunLane[K] }} */
function emptyLane() {
  return { chips: [], stats: null, finish: null, splits: -1, imagined: null, bounded: false };
}

export class Run {
  #lanes;
  /** @type {RunState} */
  #state = "";
  /** @type {Map<string, { at: number, compared: number }>} */
  #parted = new Map();

  /** @param {string} id @param {RunHead} head */
  constructor(id, head) {
    this.id = id;
    this.head = head;
    this.#lanes = head.lanes.map(emptyLane);
  }

  /** @returns {readonly RunLane[]} */
  get lanes() {
    return this.#lanes;
  }

  get state() {
    return this.#state;
  }

  /** Whether it is still being written. */
  get busy() {
    return ["waiting", "starting", "running"].includes(this.#state);
  }

  /** How many tokens each lane has. */
  get lengths() {
    return this.#lanes.map((lane) => lane.chips.length);
  }

  get longest() {
    return Math.max(0, ...this.lengths);
  }

  /**
   * Take what a message has of this run, but for its state. Returns whether there were new tokens,
   * null where something before them is missing.
   * @param {Message} message
   */
  grow({ add = [], at = [], stats = [], finish = [] }) {
    if (add.length && add.length !== this.#lanes.length) return null;
    let grown = false;
    for (const [k, chips] of add.entries()) {
      const have = this.#lanes[k].chips;
      const from = at[k];
      if (from > have.length) return null;
      for (const values of chips.slice(have.length - from)) {
        const chip = readChip(values);
        have.push(chip);
        if (chip.bounded) this.#lanes[k].bounded = true;
        grown = true;
      }
    }
    for (const [k, values] of stats.entries()) this.#lanes[k].stats = values;
    for (const [k, value] of finish.entries()) this.#lanes[k].finish = value;
    if (grown) this.#compare();
    return grown;
  }

  /**
   * Returns whether that is another state than before.
   * @param {RunState} state
   */
  enter(state) {
    const other = this.#state !== state;
    this.#state = state;
    return other;
  }

  /** All that is here of it as one message. @returns {Message & { run: string, head: RunHead }} */
  whole() {
    const { id: run, head, state } = this;
    return {
      ...{ run, head, state },
      at: this.#lanes.map(() => 0),
      add: this.#lanes.map((lane) => lane.chips.map(chipValues)),
      stats: this.#lanes.flatMap(({ stats }) => stats ?? []),
      finish: this.#lanes.map((lane) => lane.finish),
    };
  }

  /**
   * What lane k would be under other settings, null for what it is.
   * @param {number} k
   * @param {Imagined | null} imagined
   */
  imagine(k, imagined) {
    this.#lanes[k].imagined = imagined;
  }

  /** Where each lane leaves the first one; kept up to date as tokens come. */
  #compare() {
    const [first, ...others] = this.#lanes;
    for (const [k, lane] of others.entries()) lane.splits = this.parting(0, k + 1);
    const places = others.map((lane) => lane.splits).filter((at) => at >= 0);
    first.splits = places.length ? Math.min(...places) : -1;
  }

  /**
   * The first position at which two lanes hold different tokens, or -1 while they agree.
   * @param {number} a
   * @param {number} b
   */
  parting(a, b) {
    const key = `${Math.min(a, b)}/${Math.max(a, b)}`;
    const known = this.#parted.get(key) ?? { at: -1, compared: 0 };
    if (known.at < 0) {
      const [left, right] = [this.#lanes[a].chips, this.#lanes[b].chips];
      known.at = firstDifference(left, right, known.compared);
      known.compared = Math.min(left.length, right.length);
      this.#parted.set(key, known);
    }
    return known.at;
  }

  /** @param {Place | null | undefined} at */
  chip(at) {
    return at ? this.#lanes[at.lane]?.chips[at.i] : undefined;
  }

  /**
   * A chip's outcome, as it was or, in a what-if, as it would have been.
   * @param {number} k
   * @param {number} i
   * @returns {ChipOutcome}
   */
  outcome(k, i) {
    const { imagined, chips } = this.#lanes[k];
    if (!imagined || i >= imagined.outcomes.length) return chips[i];
    const outcome = Number(imagined.outcomes[i]);
    const eligible = imagined.eligible[i];
    const mass = imagined.mass[i] / 1e4;
    // What would have been drawn, nobody knows; but where the text's own word stands is known.
    const tail = isFromTail({ ...chips[i], outcome, eligible });
    return { outcome, eligible, mass, changed: false, tail, imagined: true };
  }

  /**
   * A firing that changed the word, or else one, so that there is something to look at; in an
   * answer rather than in the thought before it.
   * @returns {Place | null}
   */
  telling() {
    /** @type {((chip: Chip) => boolean)[]} */
    const tests = [(chip) => chip.changed, (chip) => chip.outcome === FIRED];
    for (const test of tests) {
      for (let lane = this.#lanes.length - 1; lane >= 0; lane--) {
        const { stats, chips } = this.#lanes[lane];
        const after = (stats?.answering && stats.thought?.[0]) || 0;
        const i = chips.findIndex((chip, at) => at >= after && test(chip));
        if (i >= 0) return { lane, i };
      }
    }
    return null;
  }
}

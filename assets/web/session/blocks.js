// The full records of steps, fetched in blocks of 64 when someone looks at one. No document.

import { wordsOf } from "../core/errors.js";
import { isAway, isGone } from "../wire/errors.js";

/** @import { Run } from "./run.js" */

export const BLOCK = 64;
const MOST_HELD = 24;

export class Blocks {
  #ask;
  #onblock;
  #onproblem;
  /** @type {Run | null} */
  #run = null;
  /** @type {Map<string, Block>} */
  #blocks = new Map();
  /** @type {Map<string, number>} By key, how long the lane was when the block was asked for. */
  #wanted = new Map();

  /**
   * `onblock()` is called when one has come, `onproblem(words)` when one could not be had.
   * @param {Transport["block"]} ask
   * @param {{ onblock: () => void, onproblem: (words: string) => void }} events
   */
  constructor(ask, { onblock, onproblem }) {
    this.#ask = ask;
    this.#onblock = onblock;
    this.#onproblem = onproblem;
  }

  /**
   * Another run is on show.
   * @param {Run} run
   */
  begin(run) {
    this.#run = run;
    this.#blocks.clear();
    this.#wanted.clear();
  }

  /**
   * The record of a step when it is here, else undefined; it is then on its way.
   * @param {Place} at
   * @param {number} depth how many candidates of it are wanted
   */
  step(at, depth) {
    if (!this.#run) return undefined;
    const index = Math.floor(at.i / BLOCK);
    const key = this.#key(this.#run, at.lane, index, depth);
    const block = this.#blocks.get(key);
    const step = block?.steps[at.i - block.first];
    if (block && step) return { step, texts: block.texts };
    this.#fetch(this.#run, at.lane, index, depth, key);
    return undefined;
  }

  /**
   * Load the neighbours of a step before someone scrubs into them.
   * @param {Place} at
   * @param {number} depth
   */
  prefetch(at, depth) {
    const run = this.#run;
    if (!run) return;
    const index = Math.floor(at.i / BLOCK);
    for (const [k, lane] of run.lanes.entries()) {
      for (const near of [index, index + 1, index - 1]) {
        if (near < 0 || near * BLOCK >= lane.chips.length) continue;
        const key = this.#key(run, k, near, depth);
        if (!this.#wanted.has(key)) this.#fetch(run, k, near, depth, key);
      }
    }
  }

  /**
   * Load the steps of the run one block after the other, so that they are here when the server is
   * away. Ends where another run is on show, and where it fails.
   * @param {number} depth
   * @param {number} most so many blocks at most
   */
  async hold(depth, most = MOST_HELD) {
    const run = this.#run;
    let left = most;
    for (const [k, lane] of run?.lanes.entries() ?? []) {
      for (let index = 0; index * BLOCK < lane.chips.length; index++) {
        if (!run || this.#run !== run || left === 0) return;
        const key = this.#key(run, k, index, depth);
        if (this.#blocks.has(key) && this.#wanted.get(key) === lane.chips.length) continue;
        left -= 1;
        await this.#fetch(run, k, index, depth, key);
        if (!this.#wanted.has(key)) return;
      }
    }
  }

  /** @param {Run} run @param {number} lane @param {number} index @param {number} depth */
  #key(run, lane, index, depth) {
    const xtc = run.lanes[lane].imagined?.xtc;
    return `${lane}/${index}/${depth}${xtc ? JSON.stringify(xtc) : ""}`;
  }

  /**
   * @param {Run} run
   * @param {number} lane
   * @param {number} index
   * @param {number} depth
   * @param {string} key
   */
  async #fetch(run, lane, index, depth, key) {
    const { chips, imagined } = run.lanes[lane];
    if (!chips.length || this.#wanted.get(key) === chips.length) return;
    this.#wanted.set(key, chips.length);
    try {
      const block = await this.#ask(run.id, lane, index, depth, imagined?.xtc ?? null);
      if (this.#run !== run) return;
      this.#blocks.set(key, block);
      this.#onblock();
    } catch (error) {
      this.#wanted.delete(key);
      // That the server is away is said once, and then it is asked again. A run that it has no more
      // while it is being written is being written anew.
      if (isAway(error) || (isGone(error) && run.busy)) return;
      this.#onproblem(`This step could not be loaded: ${wordsOf(error)}`);
    }
  }
}

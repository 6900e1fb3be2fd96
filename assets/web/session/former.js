// The runs that were on show before, for the way back. Pure.

/** @import { Origin } from "./session.js" */
/**
 * A run with what was selected, where it came from, and what it was asked for.
 * @typedef {{ id: string, selected: Place | null, origin: Origin, base: Draft | null }} FormerRun
 */

const MOST = 20;

export class FormerRuns {
  /** @type {FormerRun[]} */
  #runs = [];

  get any() {
    return this.#runs.length > 0;
  }

  /** @param {FormerRun} run */
  push(run) {
    this.#runs.push(run);
    if (this.#runs.length > MOST) this.#runs.shift();
  }

  pop() {
    return this.#runs.pop();
  }
}

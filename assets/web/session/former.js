// The runs that were on show before, for the way back and the way forth again. Pure.

/** @import { Origin } from "./shown.js" */
/**
 * A run with what was selected, where it came from, and what it was asked for.
 * @typedef {{ id: string, selected: Place | null, origin: Origin, base: Draft | null }} FormerRun
 */
/** @typedef {"back" | "forth"} Direction */

const MOST = 20;

export class FormerRuns {
  /** @type {Record<Direction, FormerRun[]>} The nearest ones last. */
  #runs = { back: [], forth: [] };

  /** @param {Direction} direction */
  any(direction) {
    return this.#runs[direction].length > 0;
  }

  /** Another run has taken this one's place: there is no way forth from it. @param {FormerRun} run */
  push(run) {
    this.#runs.forth = [];
    this.#add("back", run);
  }

  /** The run that comes next. @param {Direction} direction */
  next(direction) {
    return this.#runs[direction].at(-1);
  }

  /** Go to the next one from the run that is on show. @param {Direction} direction @param {FormerRun | null} here */
  go(direction, here) {
    this.drop(direction);
    if (here) this.#add(direction === "back" ? "forth" : "back", here);
  }

  /** The next one is no more. @param {Direction} direction */
  drop(direction) {
    this.#runs[direction].pop();
  }

  /** As plain values. */
  get all() {
    return this.#runs;
  }

  /** @param {Record<Direction, FormerRun[]>} runs */
  take({ back, forth }) {
    this.#runs = { back: [...back], forth: [...forth] };
  }

  /** @param {Direction} direction @param {FormerRun} run */
  #add(direction, run) {
    const runs = this.#runs[direction];
    runs.push(run);
    if (runs.length > MOST) runs.shift();
  }
}

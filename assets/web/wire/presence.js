// Whether the server is there: learned from what fails, and asked for lightly until it is back. No
// document.

import { Emitter } from "../core/emitter.js";

/**
 * `here`; `silent`: it is reached and does not answer; `away`: nothing is there.
 * @typedef {"here" | "silent" | "away"} Standing
 */

const FIRST = 500; // milliseconds to the second look
const MOST = 5000;
const OFTEN = 3000; // a look that is no older is good enough

/** What is said while the server is not here. @type {Record<Standing, string>} */
export const WORDS = {
  here: "",
  silent: "The server does not answer at the moment. All that is here stays.",
  away: "The server is away. All that is here stays; the page waits for it.",
};

/**
 * Its events: `change` (of `standing`), `back` (it answers again; `restarted` says that it is not
 * the same one as before).
 */
export class Presence extends Emitter {
  #look;
  #wait;
  /** @type {Standing} */
  #standing = "here";
  /** @type {string} Which start of the server was heard of last. */
  #start;
  /** Something failed, and is to be healed by `back`. */
  #wanted = false;
  #looking = false;
  #pause = FIRST;
  #timer = 0;
  #last = 0;

  /**
   * `start` names the server's start, as `look()` does, which throws where no server is reached; an
   * error named `TimeoutError` says that there is one.
   * @param {string} start
   * @param {() => Promise<string>} look
   * @param {(after: () => void, ms: number) => number} wait
   */
  constructor(start, look, wait = (after, ms) => Number(setTimeout(after, ms))) {
    super();
    this.#start = start;
    this.#look = look;
    this.#wait = wait;
  }

  get standing() {
    return this.#standing;
  }

  get here() {
    return this.#standing === "here";
  }

  /** Something did not reach the server, or broke off. */
  lost() {
    this.#wanted = true;
    this.look();
  }

  /** Something is overdue. */
  doubt() {
    if (this.here) this.look();
  }

  /** Somebody has come back to the page: is the server still there? */
  glance() {
    if (!this.here || Date.now() - this.#last > OFTEN) this.look();
  }

  /** Look now. */
  async look() {
    if (this.#looking) return;
    this.#looking = true;
    clearTimeout(this.#timer);
    try {
      this.#found(await this.#look());
    } catch (error) {
      const late = error instanceof Error && error.name === "TimeoutError";
      this.#missed(late ? "silent" : "away");
    } finally {
      this.#looking = false;
      this.#last = Date.now();
    }
  }

  /** @param {string} start */
  #found(start) {
    const restarted = this.#start !== start;
    const back = this.#wanted || restarted || !this.here;
    this.#start = start;
    this.#wanted = false;
    this.#pause = FIRST;
    this.#enter("here");
    if (back) this.emit("back", { restarted });
  }

  /** @param {Standing} standing */
  #missed(standing) {
    this.#enter(standing);
    // Not all pages at once, when many wait for one server.
    this.#timer = this.#wait(() => this.look(), this.#pause * (0.8 + 0.4 * Math.random()));
    this.#pause = Math.min(MOST, this.#pause * 2);
  }

  /** @param {Standing} standing */
  #enter(standing) {
    if (this.#standing === standing) return;
    this.#standing = standing;
    this.emit("change", { standing });
  }
}

// The page calls a run by the name that it had first. A server that was started again, or has made
// room, knows it no more: it is given the run's trace, and the name that it then has stands here.
// No document.

import { isGone } from "./errors.js";

export class Names {
  #kept;
  #load;
  /** @type {Map<string, string>} */
  #known = new Map();
  /** @type {Map<string, Promise<string | null>>} */
  #going = new Map();

  /**
   * `kept(run)` is the trace of a run as this browser keeps it, null where it keeps none; `load`
   * hands a trace to the server.
   * @param {(run: string) => Promise<string | null>} kept
   * @param {(text: string) => Promise<Message>} load
   */
  constructor(kept, load) {
    this.#kept = kept;
    this.#load = load;
  }

  /** What the server calls a run. @param {string} run */
  of(run) {
    return this.#known.get(run) ?? run;
  }

  /**
   * Ask about a run, and once more when the server has it again.
   * @template T
   * @param {string} run
   * @param {(name: string) => Promise<T>} question
   * @returns {Promise<T>}
   */
  async ask(run, question) {
    const name = this.of(run);
    try {
      return await question(name);
    } catch (error) {
      if (!isGone(error)) throw error;
      const again = await this.bring(run, name);
      if (!again) throw error;
      return question(again);
    }
  }

  /**
   * Give the server a run that it does not know by `name`. Returns its new name, null where the
   * browser does not have it either.
   * @param {string} run
   * @param {string} name
   */
  async bring(run, name) {
    if (this.of(run) !== name) return this.of(run); // another question has brought it
    const going = this.#going.get(run) ?? this.#bring(run);
    this.#going.set(run, going);
    try {
      return await going;
    } finally {
      this.#going.delete(run);
    }
  }

  /** @param {string} run */
  async #bring(run) {
    const text = await this.#kept(run);
    const { run: name = null } = text === null ? {} : await this.#load(text);
    if (name) this.#known.set(run, name);
    return name;
  }
}

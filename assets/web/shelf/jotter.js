// The texts of a run while it is written: kept now and then, until the whole of it is on the shelf.
// No document.

import { fresh } from "./shelf.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Shelf } from "./shelf.js" */

const PAUSE = 1000; // milliseconds between two writings
const MOST = 2_000_000; // characters of a text that is kept so

export class Jotter {
  /** @type {string | null} The place of this run on the shelf. */
  #place = null;
  #going = false;
  #last = 0;

  /** @param {Shelf} shelf @param {Session} session @param {Playback} playback */
  constructor(shelf, session, playback) {
    this.shelf = shelf;
    this.session = session;
    this.playback = playback;
    session.on("phase", () => {
      if (session.phase === "asked") this.#last = Date.now();
    });
    playback.on("chips", () => {
      if (!session.idle && Date.now() - this.#last > PAUSE) this.jot();
    });
  }

  /** Keep what is there now of the run that is being written. */
  async jot() {
    const { run } = this.playback;
    if (this.#going || this.session.idle || !run?.busy || !run.longest) return;
    const size = run.lengths.reduce((sum, length) => sum + length, 0) * 60;
    if (size > MOST) return;
    this.#going = true;
    this.#last = Date.now();
    this.#place ??= fresh();
    try {
      await this.shelf.jot(run, this.#place);
    } catch {
      // The text is on the page; what ends is kept whole, and says so where it cannot be.
    } finally {
      this.#going = false;
    }
  }

  /**
   * The run has come to its end; `whole` says whether all of it is on the shelf.
   * @param {boolean} whole
   */
  async end(whole) {
    const place = this.#place;
    const { run } = this.playback;
    this.#place = null;
    if (!place) return;
    const work = whole ? this.shelf.drop(place) : run && this.shelf.jot(run, place);
    await work?.catch(() => {});
  }

  /** A run of before goes on, whose texts stand there. @param {string} place */
  begin(place) {
    this.#place = place;
  }
}

// What can be done with the run on show as a whole: go on, once more, back to the one before.

import { button } from "../core/dom.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { Session } from "../session/session.js" */

/** @type {(string | null)[]} Ends behind which a lane can go on: its length, or that of a person. */
const OPEN = [null, "length"];

export class RunTools {
  /**
   * `most` tokens are the most that a lane may have, null where there is no such bound.
   * @param {Playback} playback
   * @param {{ onward: () => void, again: () => void, undo: () => void, redo: () => void,
   *   most: number | null }} events
   */
  constructor(playback, { onward, again, undo, redo, most }) {
    this.playback = playback;
    this.most = most ?? Number.POSITIVE_INFINITY;
    this.onward = button("Continue", onward, { class: "quiet" });
    this.again = button("Again", again, {
      class: "quiet",
      "aria-label": "Again with a new seed",
      title: "Write it once more with a new seed",
    });
    this.undo = button("Undo", undo, { class: "quiet", title: "The run before (z)" });
    this.redo = button("Redo", redo, { class: "quiet", title: "The run after it again (Z)" });
    // They come and go at the far end, so that they never slip under a resting pointer.
    this.buttons = [this.redo, this.undo, this.onward, this.again];
  }

  /** Whether a lane has not come to its end. @param {number} k */
  open(k) {
    const lane = this.playback.run?.lanes[k];
    return !!lane && OPEN.includes(lane.finish) && lane.chips.length < this.most;
  }

  /** `why` they cannot be used, "" where they can. @param {Session} session @param {string} why */
  draw({ idle, goesOn, canUndo, canRedo }, why = "") {
    const { run, stepping } = this.playback;
    const open = (run?.lanes ?? []).some((_, k) => this.open(k));
    const off = !run || stepping;
    this.onward.hidden = off || !open || !goesOn;
    this.again.hidden = off;
    this.undo.hidden = off || !canUndo;
    this.redo.hidden = off || !canRedo;
    // They keep their place while a run is written.
    for (const tool of this.buttons) tool.disabled = !idle || Boolean(why);
  }
}

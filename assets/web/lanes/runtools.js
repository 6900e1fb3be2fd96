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
   * @param {{ onward: () => void, again: () => void, undo: () => void, most: number | null }} events
   */
  constructor(playback, { onward, again, undo, most }) {
    this.playback = playback;
    this.most = most ?? Number.POSITIVE_INFINITY;
    this.onward = button("Continue", onward, { class: "quiet" });
    this.again = button("Again", again, {
      class: "quiet",
      "aria-label": "Again with a new seed",
      title: "Write it once more with a new seed",
    });
    this.undo = button("Undo", undo, { class: "quiet" });
    // Undo comes and goes at the far end, so that it never slips under a resting pointer.
    this.buttons = [this.undo, this.onward, this.again];
  }

  /** Whether a lane has not come to its end. @param {number} k */
  open(k) {
    const lane = this.playback.run?.lanes[k];
    return !!lane && OPEN.includes(lane.finish) && lane.chips.length < this.most;
  }

  /** @param {Session} session */
  draw({ idle, ours, canUndo }) {
    const { run, stepping } = this.playback;
    const open = (run?.lanes ?? []).some((_, k) => this.open(k));
    const off = !run || stepping;
    this.onward.hidden = off || !open || !ours;
    this.again.hidden = off;
    this.undo.hidden = off || !canUndo;
    // They keep their place while a run is written.
    for (const tool of this.buttons) tool.disabled = !idle;
  }
}

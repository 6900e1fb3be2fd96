// A run that was cut off because its server left in the middle: what is to be done when it is back. No
// document.

import { isGone } from "../wire/errors.js";
import { restOf } from "./rest.js";
import { sameWeights } from "./weights.js";

/** @import { Playback } from "./playback.js" */
/** @import { Asked } from "./rest.js" */
/**
 * Ask for this; or it is over like this; or it is left as it is, because another model is there.
 * @typedef {{ again: Asked } | { over: RunState } | { left: string }} Way
 */

const LOOKS = 10;
const PAUSE = 400; // milliseconds
const MOST_BREAKS = 5;

export class Mending {
  #transport;
  #playback;
  #wait;
  #busy = false;
  #breaks = 0;
  /** @type {Asked | null} What was asked for last. */
  asked = null;
  /** @type {string | null} The run that was cut off, while it is written anew. */
  broken = null;

  /**
   * @param {Pick<Transport, "open" | "stop">} transport
   * @param {Playback} playback
   * @param {(ms: number) => Promise<unknown>} wait
   */
  constructor(transport, playback, wait = (ms) => new Promise((after) => setTimeout(after, ms))) {
    this.#transport = transport;
    this.#playback = playback;
    this.#wait = wait;
  }

  /** Something is asked for that is no mending. */
  begin() {
    this.broken = null;
    this.#breaks = 0;
  }

  /** Something of it has come. */
  came() {
    this.#breaks = 0;
  }

  /** It broke off. Returns whether that happens again and again, with nothing in between. */
  breaks() {
    this.#breaks += 1;
    return this.#breaks > MOST_BREAKS;
  }

  /**
   * What to do now that the server is there again, null where that has to wait. What it still has is
   * taken, and the rest asked for; what it has no more is written again: the same request on the same
   * random numbers is the same text. That is for the model that began it: while none is known,
   * nothing is asked.
   * @param {{ began: boolean, model: ModelLine | null, goal: Place | null }} state `began` says
   *   whether the run on show is the one that was cut off
   * @returns {Promise<Way | null>}
   */
  async next({ began, model, goal }) {
    const { asked } = this;
    const run = began ? this.#playback.run : null;
    if (this.#busy || !asked || (run && !model)) return null;
    if (!run) return { again: asked };
    this.#busy = true;
    try {
      const state = await this.#fetch();
      const ours = sameWeights(model, run.head.model);
      const rest = state && restOf(asked, run);
      if (rest && ours) return { again: { ...asked, request: rest, draft: null, goal } };
      if (state) return { over: state };
      if (!ours) return { left: model?.name ?? "" };
      this.broken = run.id;
      return { again: { ...asked, goal: goal ?? this.#playback.selected } };
    } catch {
      return null; // it is away once more: the next time
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Take what the server has of the run on show, and let it end there: the stream that it was written
   * to is gone. Returns how it stands then, null where the server has nothing of it. Throws where the
   * server is away.
   * @returns {Promise<RunState | null>}
   */
  async #fetch() {
    const { open, stop } = this.#transport;
    const { run } = this.#playback;
    if (!run || !open) return null;
    const look = () => open(run.id, run.lengths).catch(unlessGone);
    let message = await look();
    for (let looks = 0; message?.state === "running" && looks < LOOKS; looks++) {
      if (looks === 0) stop?.(run.id);
      await this.#wait(PAUSE);
      message = await look();
    }
    if (message && this.#playback.run === run) this.#playback.take(message);
    return message?.state ?? null;
  }
}

/** @param {unknown} error @returns {null} */
function unlessGone(error) {
  if (isGone(error)) return null;
  throw error;
}

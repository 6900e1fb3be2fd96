// The spreads of this tab, kept over a reload. Where there is no storage, nothing is kept.

/** @import { Spread, SpreadMemory } from "./spread.js" */

const KEY = "xtc_viz-spread";

/** @returns {Storage | null} */
function storage() {
  try {
    return sessionStorage;
  } catch {
    return null; // blocked
  }
}

export class KeptSpread {
  /**
   * `knobs` names the settings that this version of the page knows.
   * @param {Spread} spread
   * @param {string} knobs
   * @param {Storage | null} place
   */
  constructor(spread, knobs, place = storage()) {
    this.knobs = knobs;
    this.place = place;
    const memory = this.read();
    if (memory) spread.restore(memory);
    spread.on("phase", () => spread.idle && this.keep(spread.memory));
    spread.on("change", () => spread.idle && this.keep(spread.memory));
  }

  /** @param {SpreadMemory} memory */
  keep(memory) {
    const all = [memory, { ...memory, former: null }];
    for (const kept of all) {
      try {
        return this.place?.setItem(KEY, JSON.stringify({ knobs: this.knobs, ...kept }));
      } catch {
        // Full: without the one before there may be room.
      }
    }
  }

  /** @returns {SpreadMemory | null} */
  read() {
    try {
      const { knobs, here, former } = JSON.parse(this.place?.getItem(KEY) ?? "null") ?? {};
      // Settings of another version of the page mean nothing here.
      return knobs === this.knobs && here ? { here, former } : null;
    } catch {
      return null; // not ours, or blocked
    }
  }

  forget() {
    try {
      this.place?.removeItem(KEY);
    } catch {
      // Blocked.
    }
  }
}

// The line over the lanes: how the run stands, where it comes from, what awaits Generate. It has
// its own room, so that nothing moves when its words change.

import { button, h, setText } from "../core/dom.js";

/** @import { Phase } from "../session/phases.js" */
/** @import { Origin } from "../session/shown.js" */

/**
 * How a run stands, in words.
 * @param {{ phase: Phase, note: string, place: number, ending: RunState }} session
 */
export function statusWords({ phase, note, place, ending }) {
  const ahead = place === 1 ? "one run is" : `${place} runs are`;
  /** @type {Record<Phase, string>} */
  const words = {
    idle: ending === "stopped" ? "Stopped." : "",
    asked: "Starting …",
    starting: note || "Reading the prompt …",
    // Nobody is ahead where work in the background has only to finish its step.
    waiting:
      note || (place ? `Waiting: ${ahead} ahead of yours. It starts by itself.` : "Starting …"),
    writing: "Writing …",
    stopping: "Stopping …",
    lost: "A part is missing; asking for it …",
    cut: "Cut off here; asking for the rest …",
  };
  return words[phase];
}

/**
 * Where a run comes from, in words.
 * @param {Origin} origin
 */
export function originWords({ kind, name, unknown = [] }) {
  const more = unknown.length
    ? ` It records more than this version shows: ${unknown.join(", ")}.`
    : "";
  const words = {
    own: "",
    recorded: "A recorded run, chosen as an example.",
    file: `From the file ${name}.${more}`,
    lab: `${name} of the laboratory.`,
    shelf: `From the shelf: ${name}${/[.!?…]$/.test(name) ? "" : "."}${more}`,
    elsewhere: `Written by ${name}, which was loaded meanwhile.`,
    cut: name
      ? `Unfinished: the server is back with ${name}, which did not write this.`
      : "Unfinished: its text was kept here, its steps were not. Generate writes it again.",
  };
  return words[kind];
}

const SHARED = "One prompt, one set of dice: where the lanes part, their settings are the reason.";
const APART = "One prompt, but each lane has dice of its own: they also part by chance.";

const SERVED =
  "Drawn by the model's server, with its own XTC, which protects nothing, and its own dice; rebuilt from its probabilities and the seed.";

/**
 * What is said of the lanes' random numbers.
 * @param {boolean} shared
 * @param {boolean} server
 */
export function diceWords(shared, server) {
  if (server) return SERVED;
  return shared ? SHARED : APART;
}

export class StatusLine {
  constructor() {
    this.dice = h("p", { class: "dice", "data-testid": "dice" });
    this.away = h("p", { class: "away", role: "status", "data-testid": "away" });
    this.status = h("p", { class: "status", role: "status", "data-testid": "status" });
    this.origin = h("p", { class: "origin", "data-testid": "origin" });
    this.note = h("p", { class: "awaits", role: "status", "data-testid": "note" });
    this.back = button("Back to your last run", () => {}, { class: "quiet back" });
    this.back.hidden = true;
    this.element = h(
      "div",
      { class: "status-line" },
      this.away,
      this.status,
      this.origin,
      this.note,
      this.back,
      this.dice,
    );
  }

  /**
   * How the run stands; while one is on its way, that is all there is to say.
   * @param {Phase} phase
   * @param {string} words
   */
  stand(phase, words) {
    const busy = phase !== "idle";
    this.origin.hidden = busy;
    this.note.hidden = busy;
    setText(this.status, words);
  }

  /** @param {Origin} origin */
  from(origin) {
    setText(this.origin, originWords(origin));
  }

  /** What stands there while nothing else does. @param {string} words */
  rest(words) {
    setText(this.dice, words);
  }

  /** Offer the way back to what was on show before the page was left; null where there is none. */
  offer(/** @type {(() => unknown) | null} */ open) {
    this.back.hidden = !open;
    this.back.onclick = open;
  }

  /** The server is not there; "" where it is. Then there is no more to say. @param {string} words */
  miss(words) {
    setText(this.away, words);
  }

  /** @param {string} words */
  add(words) {
    setText(this.note, words);
  }
}

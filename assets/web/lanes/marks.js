// Steps of one lane that are marked: their signs on the timeline, and below it what they mean.

import { button, h, s, set, setText } from "../core/dom.js";
import { count } from "../core/format.js";

/** @import { Playback } from "../session/playback.js" */

export const ROW = 13; // pixels of the timeline, below the band of the lane
const NEAR = 10; // pixels from a sign: a press there means it
const SIGN = "M-3.5 -1.8h7M-3.5 1.8h7M2.4 -4.2L-2.4 4.2"; // ≠ around 0
const TICK = "M0 -4.2v8.4"; // where signs would run into one another
const WIDE = 9; // pixels of a sign, and a gap

/**
 * The marked step that is nearest to a place, null if none is near.
 * @param {number[]} steps
 * @param {(i: number) => number} middle where the middle of a step stands, in pixels
 * @param {number} x in pixels too
 */
export function nearest(steps, middle, x) {
  const far = (/** @type {number} */ i) => Math.abs(middle(i) - x);
  const best = steps.reduce((near, i) => (far(i) < far(near) ? i : near), steps[0] ?? 0);
  return steps.length && far(best) <= NEAR ? best : null;
}

/**
 * The marked step before (-1) or after (1) another one, null at the end.
 * @param {number[]} steps in rising order
 * @param {number} from
 * @param {1 | -1} by
 */
export function beside(steps, from, by) {
  const there = steps.filter((i) => (by > 0 ? i > from : i < from));
  return there.at(by > 0 ? 0 : -1) ?? null;
}

/**
 * How far each marked step is from the nearest other one, in pixels.
 * @param {number[]} steps in rising order
 * @param {(i: number) => number} middle
 */
export function rooms(steps, middle) {
  const far = (/** @type {number} */ k) =>
    k in steps ? middle(steps[k]) : Number.POSITIVE_INFINITY;
  return steps.map((i, k) => Math.min(Math.abs(middle(i) - far(k - 1)), far(k + 1) - middle(i)));
}

/**
 * A sign for each step, as a layer over the timeline.
 * @param {Marks} marks
 * @param {(i: number) => number} middle
 * @param {number} top
 */
export function markSigns({ steps, words }, middle, top) {
  const y = top + ROW / 2 - 1;
  const room = rooms(steps, middle);
  return s(
    "svg",
    { class: "marks", "aria-hidden": "true" },
    steps.map((i, k) => {
      const width = Math.min(NEAR, room[k]);
      return s(
        "g",
        { transform: `translate(${middle(i)} ${y})` },
        s("title", {}, `Token ${i + 1}: ${words}`),
        s("rect", { x: -width / 2, y: -ROW / 2, width, height: ROW }),
        s("path", { d: room[k] < WIDE ? TICK : SIGN }),
      );
    }),
  );
}

/** What the signs mean, and the way from one to the next for those who use no mouse. */
export class MarkKey {
  /** @param {Playback} playback */
  constructor(playback) {
    this.playback = playback;
    this.words = h("span", { class: "marked" });
    const go = (
      /** @type {string} */ sign,
      /** @type {string} */ label,
      /** @type {1 | -1} */ by,
    ) => button(sign, () => this.go(by), { class: "quiet", "aria-label": label });
    this.previous = go("←", "Previous marked step", -1);
    this.next = go("→", "Next marked step", 1);
    this.away = button("✕", () => playback.setMarks(null), {
      ...{ class: "quiet", "aria-label": "Take the marks away", title: "Take the marks away" },
    });
    this.element = h(
      "p",
      { class: "mark-key", hidden: true, "data-testid": "mark-key" },
      this.words,
      h("span", { class: "walk" }, this.previous, this.next, this.away),
    );
    playback.on("marks select reveal", () => this.draw());
  }

  /** The marked steps that are shown. */
  get steps() {
    const { marks } = this.playback;
    return marks ? marks.steps.filter((i) => i < this.playback.shown(marks.lane)) : [];
  }

  /** Where one is in the lane of the marks; before its first step when that is not looked at. */
  get from() {
    const { marks, selected } = this.playback;
    return marks && selected?.lane === marks.lane ? selected.i : -1;
  }

  draw() {
    const { marks } = this.playback;
    this.element.hidden = !marks;
    if (!marks) return;
    const { steps, from } = this;
    setText(this.words, `${marks.words}: ${count(steps.length, "step")}`);
    set(this.previous, { disabled: beside(steps, from, -1) === null });
    set(this.next, { disabled: beside(steps, from, 1) === null });
  }

  /** @param {1 | -1} by */
  go(by) {
    const { marks } = this.playback;
    const i = beside(this.steps, this.from, by);
    if (marks && i !== null) this.playback.select(marks.lane, i, "key");
  }
}

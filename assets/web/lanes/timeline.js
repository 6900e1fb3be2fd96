// The run at a glance: for every position the removed mass and the size of E, lane under lane.

import { h, set } from "../core/dom.js";
import { FIRED } from "../session/chips.js";

const BAND = 50;
const NAME = 14; // of a band: the lane's name, over which nothing else is drawn
const TOP = 6;
const FOOT = 13; // of a band, below its line: how many tokens were eligible
const TALLEST = 19; // of a bar

const INKS = ["line", "eligible", "removed", "changed", "paper", "ink", "ink-2"];

/** @import { Playback } from "../session/playback.js" */
/** @import { Run } from "../session/run.js" */

/** What its signs mean. */
export function timelineKey() {
  return h(
    "p",
    { class: "timeline-key" },
    h("span", { class: "k removed-bar" }, "probability removed"),
    h("span", { class: "k changed-bar" }, "changed the word"),
    h("span", { class: "k eligible" }, "how many tokens were eligible"),
    h("span", {}, "‖ the lanes part"),
  );
}

export class Timeline {
  /** @param {Playback} playback */
  constructor(playback) {
    this.playback = playback;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    const pen = this.canvas.getContext("2d");
    if (!pen) throw new Error("This browser has no canvas.");
    this.pen = pen;
    this.width = 0;
    this.scale = 0;
    this.splits = -1;
    this.font = "";
    /** @type {Record<string, string>} */
    this.inks = {};
    /** @type {number[] | null} How many bars of each lane are drawn. */
    this.drawn = null;
    /** @type {boolean[]} Of each lane, whether the begin of its answer is drawn. */
    this.answered = [];
    // The mark of the selection lies over the bars, so that moving it draws no bar again.
    this.here = h("div", { class: "here", "aria-hidden": "true" });
    this.element = h(
      "div",
      {
        class: "timeline",
        role: "slider",
        tabindex: "0",
        "aria-label": "Position in the text",
        "aria-valuemin": "1",
        "aria-valuemax": "1",
        "aria-valuenow": "1",
      },
      this.canvas,
      this.here,
    );
    this.queued = false;
    playback.on("run state mode reveal imagine", () => this.redraw());
    playback.on("chips", () => this.queue());
    playback.on("select", () => this.mark());
    new ResizeObserver(() => this.redraw()).observe(this.element);
    // Light and dark are a class of the body, in gradio and in the replay.
    const colours = new MutationObserver(() => this.redraw());
    colours.observe(document.body, { attributeFilter: ["class"] });
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerleave", () => playback.hover(null));
    this.element.addEventListener("pointerdown", (event) => this.point(event, true));
  }

  /** Draw everything anew at the next frame. */
  redraw() {
    this.drawn = null;
    this.queue();
  }

  queue() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      this.draw();
    });
  }

  get length() {
    const { run } = this.playback;
    if (!run) return 1;
    const known = run.longest;
    return Math.max(1, this.playback.busy ? Math.max(known, run.head.length) : known);
  }

  get height() {
    return TOP + BAND * Math.max(1, this.playback.run?.lanes.length ?? 1);
  }

  /** @param {PointerEvent} event @returns {Place} */
  at(event) {
    const box = this.element.getBoundingClientRect();
    const lanes = this.playback.run?.lanes.length ?? 1;
    const lane = Math.floor((event.clientY - box.top - TOP) / BAND);
    const i = Math.floor(((event.clientX - box.left) / box.width) * this.length);
    return { lane: Math.max(0, Math.min(lanes - 1, lane)), i: Math.max(0, i) };
  }

  /** @param {PointerEvent} event */
  point(event, down = false) {
    const at = this.at(event);
    if (!this.playback.run || at.i >= this.playback.shown(at.lane)) return;
    if (down || event.buttons & 1) this.playback.select(at.lane, at.i, "timeline");
    else if (event.pointerType === "mouse") this.playback.hover(at);
  }

  /**
   * A clean sheet: its size, its inks, a line and a name for each lane. Returns how many bars of
   * each lane are drawn.
   * @param {Run} run
   */
  begin(run) {
    this.width = this.element.clientWidth;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    this.pen.scale(ratio, ratio);
    const style = getComputedStyle(this.element);
    this.inks = Object.fromEntries(INKS.map((n) => [n, style.getPropertyValue(`--${n}`)]));
    this.font = `11px ${style.fontFamily}`;
    this.scale = this.length;
    this.splits = -1;
    this.answered = run.lanes.map(() => false);
    for (const k of run.lanes.keys()) {
      this.pen.fillStyle = this.inks.line;
      this.pen.fillRect(0, TOP + BAND * (k + 1) - FOOT, this.width, 1);
      this.name(run, k);
    }
    return run.lanes.map(() => 0);
  }

  draw() {
    const { run } = this.playback;
    if (!run) return;
    if (!this.drawn || this.scale !== this.length) this.drawn = this.begin(run);
    const { drawn } = this;
    const step = this.width / this.scale;
    for (const k of run.lanes.keys()) {
      const until = this.playback.shown(k);
      for (let i = drawn[k]; i < until; i++) this.bar(run, k, i, step);
      drawn[k] = Math.max(drawn[k], until);
      this.answer(run, k, drawn[k], step);
    }
    this.parting(run, step);
    this.mark();
  }

  /** @param {Run} run @param {number} k @param {number} i @param {number} step */
  bar(run, k, i, step) {
    const { pen, inks } = this;
    const chip = run.outcome(k, i);
    const base = TOP + BAND * (k + 1) - FOOT;
    const wide = Math.max(1, Math.min(10, step * 0.7));
    const x = (i + 0.5) * step - wide / 2;
    if (chip.eligible > 1) {
      pen.fillStyle = inks.eligible;
      pen.fillRect(x, base + 3, wide, Math.min(9, 2 * chip.eligible - 2));
    }
    if (chip.outcome !== FIRED) return;
    const tall = Math.max(2, chip.mass * TALLEST);
    pen.fillStyle = inks.removed;
    pen.fillRect(x, base - tall, wide, tall);
    if (!chip.changed) return;
    pen.fillStyle = inks.changed;
    pen.fillRect(x, base - tall - 4, wide, 2.5);
  }

  /** @param {Run} run @param {number} k */
  name(run, k) {
    const { pen, inks } = this;
    const { name } = run.head.lanes[k];
    pen.font = this.font;
    pen.fillStyle = inks["ink-2"];
    pen.fillText(name, 1, TOP + BAND * k + 10);
  }

  /**
   * Where a thought ends and the answer begins.
   * @param {Run} run
   * @param {number} k
   * @param {number} drawn
   * @param {number} step
   */
  answer(run, k, drawn, step) {
    const { thought, answering } = run.lanes[k].stats ?? {};
    if (this.answered[k] || !answering || !thought || drawn <= thought[0]) return;
    this.answered[k] = true;
    const { pen, inks } = this;
    const { name } = run.head.lanes[k];
    const x = thought[0] * step;
    pen.fillStyle = inks["ink-2"];
    pen.fillRect(x, TOP + BAND * k + 2, 1, BAND - 11);
    pen.font = this.font;
    if (x > pen.measureText(name).width + 12) pen.fillText("answer", x + 4, TOP + BAND * k + 10);
  }

  /** Where the lanes part: two thin lines in each of them. @param {Run} run @param {number} step */
  parting(run, step) {
    const split = run.lanes[0].splits;
    if (split < 0 || split >= this.playback.reveal || split === this.splits) return;
    this.splits = split;
    this.pen.fillStyle = this.inks["ink-2"];
    for (const k of run.lanes.keys()) {
      for (const x of [-2, 1]) {
        this.pen.fillRect(split * step + x, TOP + BAND * k + NAME, 1, BAND - NAME);
      }
    }
  }

  mark() {
    const at = this.playback.focus;
    this.here.hidden = !at || !this.drawn;
    if (!at || !this.drawn) return;
    const step = this.width / this.scale;
    const wide = Math.max(7, step);
    const x = (at.i + 0.5) * step - wide / 2;
    this.here.style.width = `${wide}px`;
    this.here.style.transform = `translate(${x}px, ${TOP + BAND * at.lane + NAME}px)`;
    set(this.element, {
      "aria-valuemax": Math.max(1, this.playback.shown(at.lane)),
      "aria-valuenow": at.i + 1,
    });
  }
}

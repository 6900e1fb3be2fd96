// The run at a glance: for every position the removed mass and the size of E, lane under lane.

import { h, set } from "../core/dom.js";
import { FIRED } from "../session/chips.js";
import { markSigns, nearest, ROW } from "./marks.js";

const BAND = 38;
const FEW = 2; // lanes; the bands of more are lower
const LOW = 29;
const TOP = 2;
const FOOT = 12; // of a band, below its line: how many tokens were eligible
const SPARE = 6; // of a band, above the tallest bar: the mark of a changed word
const GUTTER = 90; // at most, for the lanes' names at the left

const INKS = ["line", "eligible", "removed", "changed", "paper", "ink", "ink-2"];

/** @import { Playback } from "../session/playback.js" */
/** @import { Run } from "../session/run.js" */

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
    this.gutter = 0; // as wide as the names
    this.font = "";
    /** @type {Record<string, string>} */
    this.inks = {};
    /** @type {number[] | null} How many bars of each lane are drawn. */
    this.drawn = null;
    /** @type {boolean[]} Of each lane, whether the begin of its answer is drawn. */
    this.answered = [];
    // The mark of the selection lies over the bars, so that moving it draws no bar again.
    this.here = h("div", { class: "here", "aria-hidden": "true" });
    /** @type {SVGSVGElement | null} The layer of marks, while there are any. */
    this.signs = null;
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
    playback.on("run state mode reveal imagine marks", () => this.redraw());
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

  /** How high the part of a lane is. */
  get band() {
    return (this.playback.run?.lanes.length ?? 1) > FEW ? LOW : BAND;
  }

  get height() {
    return this.top(Math.max(1, this.playback.run?.lanes.length ?? 1));
  }

  /** Where the band of a lane begins; the marks of a lane stand between it and the next. @param {number} k */
  top(k) {
    const { marks } = this.playback;
    return TOP + this.band * k + (marks && k > marks.lane ? ROW : 0);
  }

  /** Where a step begins, and how wide one is. @param {number} i @returns {[number, number]} */
  place(i) {
    const step = (this.width - this.gutter) / this.scale;
    return [this.gutter + i * step, step];
  }

  /** Where the middle of a step is. @param {number} i */
  middle(i) {
    const [from, step] = this.place(i);
    return from + step / 2;
  }

  /** @param {PointerEvent} event @returns {Place} */
  at(event) {
    const box = this.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let lane = (this.playback.run?.lanes.length ?? 1) - 1;
    while (lane > 0 && y < this.top(lane)) lane -= 1;
    const { marks } = this.playback;
    if (marks?.lane === lane && y >= this.top(lane) + this.band) {
      const near = nearest(marks.steps, (i) => this.middle(i), x);
      if (near !== null) return { lane, i: near };
    }
    const i = Math.floor(((x - this.gutter) / (box.width - this.gutter)) * this.length);
    return { lane, i: Math.max(0, i) };
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
    this.font = `12px ${style.fontFamily}`;
    this.pen.font = this.font;
    const widths = run.head.lanes.map(({ name }) => this.pen.measureText(name).width);
    this.gutter = Math.min(GUTTER, Math.max(...widths)) + 12;
    this.scale = this.length;
    this.splits = -1;
    this.answered = run.lanes.map(() => false);
    for (const k of run.lanes.keys()) {
      this.pen.fillStyle = this.inks.line;
      this.pen.fillRect(this.gutter, this.base(k), this.width, 1);
      this.name(run, k);
    }
    this.sign();
    return run.lanes.map(() => 0);
  }

  /** The marks: none are there until somebody asks for some. */
  sign() {
    const { marks } = this.playback;
    this.signs?.remove();
    this.signs = null;
    if (!marks) return;
    const steps = marks.steps.filter((i) => i < this.playback.shown(marks.lane));
    const top = this.top(marks.lane) + this.band;
    this.signs = markSigns({ ...marks, steps }, (i) => this.middle(i), top);
    this.element.append(this.signs);
  }

  draw() {
    const { run } = this.playback;
    if (!run) return;
    if (!this.drawn || this.scale !== this.length) this.drawn = this.begin(run);
    const { drawn } = this;
    for (const k of run.lanes.keys()) {
      const until = this.playback.shown(k);
      for (let i = drawn[k]; i < until; i++) this.bar(run, k, i);
      drawn[k] = Math.max(drawn[k], until);
      this.answer(run, k, drawn[k]);
    }
    this.parting(run);
    this.mark();
  }

  /** The line on which the bars of a lane stand. @param {number} k */
  base(k) {
    return this.top(k) + this.band - FOOT;
  }

  /** @param {Run} run @param {number} k @param {number} i */
  bar(run, k, i) {
    const { pen, inks } = this;
    const chip = run.outcome(k, i);
    const base = this.base(k);
    const [from, step] = this.place(i);
    const wide = Math.max(1, Math.min(10, step * 0.7));
    const x = from + (step - wide) / 2;
    if (chip.eligible > 1) {
      pen.fillStyle = inks.eligible;
      pen.fillRect(x, base + 3, wide, Math.min(9, 2 * chip.eligible - 2));
    }
    if (chip.outcome !== FIRED) return;
    const tall = Math.max(2, chip.mass * (this.band - FOOT - SPARE));
    pen.fillStyle = inks.removed;
    pen.fillRect(x, base - tall, wide, tall);
    if (!chip.changed) return;
    pen.fillStyle = inks.changed;
    pen.fillRect(x, base - tall - 4, wide, 2.5);
  }

  /** @param {Run} run @param {number} k */
  name(run, k) {
    const { pen, inks } = this;
    let { name } = run.head.lanes[k];
    pen.font = this.font;
    pen.fillStyle = inks["ink-2"];
    const fits = (/** @type {string} */ text) => pen.measureText(text).width <= this.gutter - 10;
    if (!fits(name)) {
      while (!fits(`${name}…`)) name = name.slice(0, -1);
      name += "…";
    }
    pen.fillText(name, 1, this.base(k) + 1);
  }

  /**
   * Where a thought ends and the answer begins.
   * @param {Run} run
   * @param {number} k
   * @param {number} drawn
   */
  answer(run, k, drawn) {
    const { thought, answering } = run.lanes[k].stats ?? {};
    if (this.answered[k] || !answering || !thought || drawn <= thought[0]) return;
    this.answered[k] = true;
    const { pen, inks } = this;
    const [x] = this.place(thought[0]);
    const top = this.top(k);
    pen.fillStyle = inks["ink-2"];
    pen.fillRect(x, top, 1, this.band - 4);
    pen.font = this.font;
    pen.fillText("answer", x + 4, top + 9);
  }

  /** Where the lanes part: two thin lines in each of them. @param {Run} run */
  parting(run) {
    const split = run.lanes[0].splits;
    if (split < 0 || split >= this.playback.reveal || split === this.splits) return;
    this.splits = split;
    this.pen.fillStyle = this.inks["ink-2"];
    const [from] = this.place(split);
    for (const k of run.lanes.keys()) {
      for (const x of [-2, 1]) {
        this.pen.fillRect(from + x, this.top(k) + 3, 1, this.band - 6);
      }
    }
  }

  mark() {
    const at = this.playback.focus;
    this.here.hidden = !at || !this.drawn;
    if (!at || !this.drawn) return;
    const [from, step] = this.place(at.i);
    const wide = Math.max(7, step);
    const x = from + (step - wide) / 2;
    this.here.style.width = `${wide}px`;
    this.here.style.height = `${this.band - 4}px`;
    this.here.style.transform = `translate(${x}px, ${this.top(at.lane) + 2}px)`;
    set(this.element, {
      "aria-valuemax": Math.max(1, this.playback.shown(at.lane)),
      "aria-valuenow": at.i + 1,
    });
  }
}

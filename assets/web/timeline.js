// The run at a glance: for every position the removed mass and the size of E, lane under lane.

import { h, set } from "./dom.js";
import { FIRED } from "./model.js";

const BAND = 36;
const TOP = 6;

export class Timeline {
  constructor(model) {
    this.model = model;
    this.canvas = h("canvas", { "aria-hidden": "true" });
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
    );
    this.queued = false;
    model.on("run chips select mode reveal imagine", () => this.queue());
    new ResizeObserver(() => this.queue()).observe(this.element);
    // Light and dark are a class of the body, in gradio and in the replay.
    const colours = new MutationObserver(() => this.queue());
    colours.observe(document.body, { attributeFilter: ["class"] });
    this.element.addEventListener("pointermove", (event) => this.point(event));
    this.element.addEventListener("pointerleave", () => model.hover(null));
    this.element.addEventListener("pointerdown", (event) => this.point(event, true));
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
    const { run } = this.model;
    if (!run) return 1;
    const known = Math.max(...run.lanes.map((lane) => lane.chips.length));
    return Math.max(1, this.model.busy ? Math.max(known, run.head.length) : known);
  }

  at(event) {
    const box = this.element.getBoundingClientRect();
    const lanes = this.model.run?.lanes.length ?? 1;
    const lane = Math.floor((event.clientY - box.top - TOP) / BAND);
    const i = Math.floor(((event.clientX - box.left) / box.width) * this.length);
    return { lane: Math.max(0, Math.min(lanes - 1, lane)), i: Math.max(0, i) };
  }

  point(event, down = false) {
    const at = this.at(event);
    if (!this.model.run || at.i >= this.model.shown(at.lane)) return;
    if (down || event.buttons & 1) this.model.select(at.lane, at.i, "timeline");
    else if (event.pointerType === "mouse") this.model.hover(at);
  }

  draw() {
    const { run } = this.model;
    const lanes = run?.lanes ?? [];
    const width = this.element.clientWidth;
    const height = TOP + BAND * Math.max(1, lanes.length);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(this.element);
    const ink = (name) => style.getPropertyValue(name);
    const step = width / this.length;
    const bar = Math.max(1, Math.min(10, step * 0.7));
    pen.font = `11px ${style.fontFamily}`;
    for (const k of lanes.keys()) {
      const base = TOP + BAND * (k + 1) - 9;
      pen.fillStyle = ink("--line");
      pen.fillRect(0, base, width, 1);
      for (let i = 0; i < this.model.shown(k); i++) {
        const chip = this.model.outcome(k, i);
        const x = (i + 0.5) * step - bar / 2;
        if (chip.eligible > 1) {
          pen.fillStyle = ink("--eligible");
          pen.fillRect(x, base + 3, bar, Math.min(5, chip.eligible - 1) + 0.5);
        }
        if (chip.outcome === FIRED) {
          const tall = Math.max(2, chip.mass * (BAND - 18));
          pen.fillStyle = ink("--removed");
          pen.fillRect(x, base - tall, bar, tall);
          if (chip.changed) {
            pen.fillStyle = ink("--changed");
            pen.fillRect(x, base - tall - 4, bar, 2.5);
          }
        }
      }
    }
    pen.lineWidth = 3;
    pen.strokeStyle = ink("--paper");
    pen.fillStyle = ink("--ink-2");
    for (const [k] of lanes.entries()) {
      pen.strokeText(run.head.lanes[k].name, 1, TOP + BAND * k + 11);
      pen.fillText(run.head.lanes[k].name, 1, TOP + BAND * k + 11);
    }
    const split = lanes[0]?.splits ?? -1;
    if (split >= 0 && split < this.model.reveal) {
      pen.fillStyle = ink("--ink-2");
      pen.fillRect(split * step - 2, TOP - 6, 1, height - TOP + 2);
      pen.fillRect(split * step + 1, TOP - 6, 1, height - TOP + 2);
    }
    const at = this.model.focus;
    if (at) {
      pen.strokeStyle = ink("--ink");
      pen.lineWidth = 1.5;
      const x = (at.i + 0.5) * step;
      const wide = Math.max(6, step);
      pen.strokeRect(x - wide / 2, TOP + BAND * at.lane + 1, wide, BAND - 2);
    }
    set(this.element, {
      "aria-valuemax": Math.max(1, this.model.shown(at?.lane ?? 0)),
      "aria-valuenow": (at?.i ?? 0) + 1,
    });
  }
}

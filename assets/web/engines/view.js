// The engines of the inspector: what each of them leaves of the step that is looked at, stage by
// stage in an engine's own order, and over the whole text of the lane.

import { button, h, s, set, setText } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { choice } from "../core/fields.js";
import { unfolds } from "../core/fold.js";
import { stageBars } from "../inspector/stagebars.js";
import { stageName } from "../inspector/stages.js";
import { AlongRun } from "./along.js";
import { Comparison } from "./comparison.js";
import { engineOf, imaginedXtc, marksOf } from "./strips.js";

/** @import { Playback } from "../session/playback.js" */
/** @typedef {Pick<Transport, "engines" | "engineStages" | "enginesAlong">} Asking */

export const WORDS = { whose: "this lane", coin: "As the coin fell" };

export class Engines {
  /**
   * `numbers()` opens the calculator.
   * @param {Playback} playback
   * @param {Spec} spec
   * @param {Asking} transport
   * @param {() => void} numbers
   */
  constructor(playback, spec, transport, numbers) {
    this.playback = playback;
    this.spec = spec;
    this.transport = transport;
    this.key = "";
    this.lane = "";
    this.stageKey = "";
    this.going = false;
    this.again = false;
    /** @type {{ lane: number, along: EnginesAlong } | null} */
    this.known = null;
    this.marked = ""; // the engine whose steps are marked on the timeline
    this.comparison = new Comparison(spec, WORDS, () => this.turned());
    this.along = new AlongRun(spec, {
      onpick: (i) => playback.select(playback.lane, i, "step"),
      onmark: (engine) => this.mark(engine),
    });
    /** @type {Option[]} */
    const options = [
      ["", "choose one"],
      ...spec.engines.map(({ name, label }) => optionOf(name, label)),
    ];
    this.order = choice("Show the stages of", options, () => this.askStages());
    this.svg = s("svg", { class: "stages", role: "img" });
    const scroll = { class: "scroll", tabindex: "0", role: "region", "aria-label": "Its stages" };
    this.stages = h("div", { ...scroll, hidden: true }, this.svg);
    this.problem = h("p", { class: "wrong", role: "alert" });
    this.element = h(
      "details",
      { class: "engines", "data-testid": "engines" },
      h("summary", {}, "Engines: would mine do the same?"),
      this.problem,
      this.comparison.element,
      this.order.element,
      this.stages,
      this.along.element,
      button("Try your own numbers", numbers, { class: "own-numbers" }),
    );
    this.element.hidden = !transport.engines;
    unfolds(this.element, () => this.update());
    playback.on("run", () => this.forget());
    playback.on("select run state imagine", () => this.update());
    playback.on("marks", () => !playback.marks && this.mark(""));
  }

  /** One question at a time; what was looked at last is asked then. */
  async update() {
    if (!this.element.open) this.mark("");
    if (!this.element.open || !this.transport.engines) return;
    if (this.going) {
      this.again = true;
      return;
    }
    this.going = true;
    try {
      await this.askStep();
      await this.askStages();
      await this.askLane();
      setText(this.problem, "");
    } catch (error) {
      this.key = "";
      setText(this.problem, wordsOf(error));
    }
    this.going = false;
    if (!this.again) return;
    this.again = false;
    await this.update();
  }

  /** The step that is looked at, and what names it; null without one. */
  get at() {
    const { run, focus } = this.playback;
    if (!run || !focus || !run.chip(focus)) return null;
    const xtc = imaginedXtc(run.lanes[focus.lane]);
    const key = `${run.id} ${focus.lane} ${focus.i} ${JSON.stringify(xtc)}`;
    return { run, ...focus, xtc, key };
  }

  async askStep() {
    const { at } = this;
    if (!at || at.key === this.key) return;
    const view = await this.transport.engines?.(at.run.id, at.lane, at.i, at.xtc);
    this.key = at.key;
    const drawn = at.i < this.playback.shown(at.lane);
    const token = at.run.chip(at)?.id ?? -1;
    if (view) this.comparison.draw(view, drawn ? token : -1);
  }

  /** The stages of the engine that was chosen. */
  async askStages() {
    const { at } = this;
    const engine = this.order.select.value;
    const chain = this.comparison.part === "chain";
    this.order.element.hidden = !chain;
    this.stages.hidden = !chain || !engine;
    if (!at || this.stages.hidden || this.stageKey === `${engine} ${at.key}`) return;
    const view = await this.transport.engineStages?.(at.run.id, at.lane, at.i, engine, at.xtc);
    if (!view) return;
    this.stageKey = `${engine} ${at.key}`;
    const name = (/** @type {string} */ stage) => stageName(stage, this.spec);
    const { width, height, parts } = stageBars(view, name);
    const label = `Stages of ${engine}: ${view.stages.map((stage) => name(stage.name)).join(", ")}`;
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": label });
    this.svg.replaceChildren(...parts);
  }

  /** The lane that is looked at, wherever the pointer rests. */
  async askLane() {
    const { run, lane, busy } = this.playback;
    if (!run || busy) return;
    const { chips } = run.lanes[lane];
    const xtc = imaginedXtc(run.lanes[lane]);
    const key = `${run.id} ${lane} ${chips.length} ${JSON.stringify(xtc)}`;
    if (key === this.lane) return;
    const known = await this.transport.enginesAlong?.(run.id, lane, xtc);
    if (run !== this.playback.run) return;
    this.known = known ? { lane, along: known } : null;
    this.lane = key;
    this.drawAlong();
  }

  /** Another run is on show. */
  forget() {
    this.known = null;
    this.lane = "";
    this.marked = "";
    this.drawAlong();
  }

  /** Mark the steps of an engine on the timeline, those of none with "". @param {string} engine */
  mark(engine) {
    if (engine === this.marked) return;
    this.marked = engine;
    this.drawAlong();
  }

  /** The rule or the chain, the coin or not: what is known is drawn otherwise. */
  turned() {
    this.drawAlong();
    this.update();
  }

  drawAlong() {
    const { known, marked, spec } = this;
    const { which } = this.comparison;
    const name = known ? (this.playback.run?.head.lanes[known.lane].name ?? "") : "";
    this.along.draw(known?.along ?? null, which, name, marked);
    const marks = known && marked ? marksOf(known.along, which, marked, spec) : null;
    this.playback.setMarks(marks && known ? { lane: known.lane, ...marks } : null);
  }

  /** What is compared now: the rule or the chain, and at which coin. */
  get drawing() {
    const { part, which } = this.comparison;
    return { part, which };
  }

  /** The engine of the lane that is looked at. */
  get engine() {
    const { at } = this;
    return at ? engineOf(at.run.head.lanes[at.lane], at.run.lanes[at.lane]) : "";
  }
}

/** @param {string} name @param {string} label @returns {Option} */
function optionOf(name, label) {
  return [name, label];
}

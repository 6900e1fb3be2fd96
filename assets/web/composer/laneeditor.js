// The settings of one lane in a dialog: name, preset, XTC, every stage of the stack, their order.

import { button, h, set } from "../core/dom.js";
import { choice } from "../core/fields.js";
import { EngineChoice } from "../engines/choice.js";
import { Knob } from "./knob.js";
import { StageOrder } from "./stageorder.js";

/** @import { NextRun } from "./nextrun.js" */

export class LaneEditor {
  /**
   * `onchange()` after every change, `onremove(index)` when the lane is to go, `onelsewhere(index)`
   * when its settings are to be used in another program.
   * @param {Spec} spec
   * @param {NextRun} run
   * @param {{ onchange: () => void, onremove: (index: number) => void,
   *   onelsewhere: (index: number) => void }} events
   */
  constructor(spec, run, { onchange, onremove, onelsewhere }) {
    this.spec = spec;
    this.run = run;
    this.index = 0;
    this.onchange = onchange;
    this.xtc = {
      rho: this.knob("rho", (rho) => run.setXtc(this.index, { rho })),
      tau: this.knob("tau", (tau) => run.setXtc(this.index, { tau })),
    };
    /** @type {Map<StackKnob, Knob>} */
    this.stack = new Map(
      spec.stack.map((name) => [
        name,
        this.knob(name, (value) => run.setSampler(this.index, { [name]: value })),
      ]),
    );
    this.name = h("input", { type: "text", class: "lane-name", "aria-label": "Name of the lane" });
    this.name.addEventListener("input", () => {
      run.rename(this.index, this.name.value);
      this.changed();
    });
    this.presets = [spec.baseline, ...spec.strengths, ...spec.comparators];
    this.preset = choice("Start from", this.presetOptions(), (value) => this.take(value));
    this.strategy = choice("When it fires", spec.strategies, (strategy) => {
      run.setXtc(this.index, { strategy });
      this.changed();
    });
    this.engine = new EngineChoice(spec, (engine, order) => {
      run.setEngine(this.index, engine, order);
      this.name.value = this.lane.name;
      this.changed();
    });
    this.order = new StageOrder(spec, (order) => {
      run.setSampler(this.index, { order });
      this.changed();
    });
    const remove = () => {
      this.element.close();
      onremove(this.index);
    };
    this.remove = button("Remove this lane", remove, { class: "quiet" });
    this.element = h(
      "dialog",
      { class: "editor", "aria-label": "Settings of a lane" },
      h("div", { class: "editor-head" }, this.name, this.preset.element),
      h("h3", {}, "XTC"),
      h("div", { class: "editor-grid" }, this.xtc.rho.element, this.xtc.tau.element),
      h("div", { class: "editor-grid" }, this.strategy.element, this.engine.choice),
      this.engine.words,
      this.groups(),
      this.order.element,
      h(
        "form",
        { method: "dialog", class: "editor-foot" },
        this.remove,
        button("Use in another program …", () => onelsewhere(this.index), { class: "quiet" }),
        h("button", { class: "primary" }, "Done"),
      ),
    );
  }

  /** The knobs of the stack under the headings that the specification has for them. */
  groups() {
    return this.spec.groups.map(([label, names]) => [
      h("h3", {}, label),
      h(
        "div",
        { class: "editor-grid" },
        names.map((name) => this.stack.get(name)?.element),
      ),
    ]);
  }

  /** @param {KnobName} name @param {(value: Typed) => void} write */
  knob(name, write) {
    const onchange = (/** @type {Typed} */ value) => {
      write(value);
      this.changed();
    };
    return new Knob(this.spec.knobs[name], { onchange });
  }

  get lane() {
    return this.run.lanes[this.index];
  }

  /** Which stages are on may have changed with a knob. */
  changed() {
    this.order.fill(this.lane.sampler);
    this.engine.fill(this.lane.sampler);
    this.onchange();
  }

  /** @returns {Option[]} */
  presetOptions() {
    return [["", "a preset …"], ...this.presets.map(({ name }, i) => optionOf(i, name))];
  }

  /** @param {string} value */
  take(value) {
    if (value === "") return;
    this.run.start(this.index, this.presets[Number(value)]);
    this.fill();
    this.onchange();
  }

  fill() {
    const { sampler, name } = this.lane;
    this.name.value = name;
    this.preset.select.value = "";
    this.xtc.rho.value = sampler.xtc.rho;
    this.xtc.tau.value = sampler.xtc.tau;
    for (const [stage, knob] of this.stack) knob.value = sampler[stage];
    this.strategy.select.value = sampler.xtc.strategy;
    this.order.fill(sampler);
    this.engine.begin(sampler);
  }

  /** @param {number} index @param {boolean} only whether there is no other lane */
  open(index, only) {
    this.index = index;
    this.remove.hidden = only;
    set(this.element, { "aria-label": `Settings of ${this.lane.name}` });
    this.fill();
    this.element.showModal();
  }
}

/** @param {number} i @param {string} name @returns {Option} */
function optionOf(i, name) {
  return [String(i), name];
}

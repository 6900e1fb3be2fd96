// The settings of one lane in a dialog: name, preset, XTC, and every stage of the stack.

import { h, set } from "../core/dom.js";
import { Knob } from "./knob.js";

/** A labelled choice among [value, label] pairs. */
export function choice(label, options, onchange) {
  const select = h(
    "select",
    { "aria-label": label, onchange: () => onchange(select.value) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  return { select, element: h("label", { class: "choice" }, h("span", {}, label), select) };
}

export class LaneEditor {
  /** `onchange()` after every change, `onremove(index)` when the lane is to go. */
  constructor(spec, { onchange, onremove }) {
    this.spec = spec;
    this.onchange = onchange;
    this.lane = null;
    this.knobs = {};
    for (const name of ["rho", "tau"]) {
      this.add(name, (value) => {
        this.lane.sampler.xtc[name] = value;
      });
    }
    for (const name of spec.stack) {
      this.add(name, (value) => {
        this.lane.sampler[name] = value;
      });
    }
    this.name = h("input", { type: "text", class: "lane-name", "aria-label": "Name of the lane" });
    this.name.addEventListener("input", () => {
      this.lane.name = this.name.value;
      this.onchange();
    });
    this.preset = choice("Start from", this.presetOptions(), (value) => this.take(value));
    this.strategy = choice("When it fires", spec.strategies, (value) => {
      this.lane.sampler.xtc.strategy = value;
      this.onchange();
    });
    this.place = choice("XTC stands", spec.places, (value) => {
      this.lane.sampler.xtc_place = value;
      this.onchange();
    });
    this.remove = h(
      "button",
      {
        type: "button",
        class: "quiet",
        onclick: () => {
          this.element.close();
          onremove(this.index);
        },
      },
      "Remove this lane",
    );
    const { rho, tau, temperature, ...stack } = this.knobs;
    this.element = h(
      "dialog",
      { class: "editor", "aria-label": "Settings of a lane" },
      h("div", { class: "editor-head" }, this.name, this.preset.element),
      h("h3", {}, "XTC"),
      h("div", { class: "editor-grid" }, rho.element, tau.element),
      h("div", { class: "editor-grid" }, this.strategy.element, this.place.element),
      h("h3", {}, "The samplers before it"),
      h(
        "div",
        { class: "editor-grid" },
        temperature.element,
        Object.values(stack).map((knob) => knob.element),
      ),
      h(
        "form",
        { method: "dialog", class: "editor-foot" },
        this.remove,
        h("button", { class: "primary" }, "Done"),
      ),
    );
  }

  add(name, write) {
    const onchange = (value) => {
      write(value);
      this.onchange();
    };
    this.knobs[name] = new Knob(this.spec.knobs[name], { onchange });
  }

  presetOptions() {
    const named = [this.spec.baseline, ...this.spec.strengths, ...this.spec.comparators];
    return [["", "a preset …"], ...named.map((lane, i) => [String(i), lane.name])];
  }

  take(value) {
    if (value === "") return;
    const named = [this.spec.baseline, ...this.spec.strengths, ...this.spec.comparators];
    const { name, sampler } = structuredClone(named[Number(value)]);
    Object.assign(this.lane, { name, sampler });
    this.fill();
    this.onchange();
  }

  fill() {
    const { sampler, name } = this.lane;
    this.name.value = name;
    this.preset.select.value = "";
    this.knobs.rho.value = sampler.xtc.rho;
    this.knobs.tau.value = sampler.xtc.tau;
    for (const stage of this.spec.stack) this.knobs[stage].value = sampler[stage];
    this.strategy.select.value = sampler.xtc.strategy;
    this.place.select.value = sampler.xtc_place;
  }

  open(lane, index, only) {
    this.lane = lane;
    this.index = index;
    this.remove.hidden = only;
    set(this.element, { "aria-label": `Settings of ${lane.name}` });
    this.fill();
    this.element.showModal();
  }
}

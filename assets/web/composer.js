// The prompt and the settings of the next run.

import { Knob } from "./controls.js";
import { h, set, setText } from "./dom.js";

/** The lane that the sliders in front speak for: the first on which XTC acts, else the second. */
export function frontLane(lanes) {
  const found = lanes.findIndex((lane) => lane.sampler.xtc.rho !== 0);
  return found >= 0 ? found : Math.min(1, lanes.length - 1);
}

export class Composer {
  constructor(spec, { onrun, onstop, onchange }) {
    this.spec = spec;
    this.onchange = onchange;
    this.draft = {
      prompt: Object.values(spec.examples)[0],
      system: "",
      chat: false,
      settings: structuredClone(spec.settings),
      protect: { eos: true, newline: true, texts: [] },
    };
    this.front = frontLane(this.draft.settings.lanes);
    this.prompt = h("textarea", {
      id: "prompt",
      rows: "1",
      spellcheck: "false",
      "data-field": "prompt",
      placeholder: "Start a story …",
    });
    this.prompt.addEventListener("input", () => {
      this.draft.prompt = this.prompt.value;
      this.fit();
      this.clear();
    });
    this.run = h("button", { type: "button", class: "primary", onclick: onrun }, "Generate");
    this.stop = h("button", { type: "button", disabled: true, onclick: onstop }, "Stop");
    this.actions = h("div", { class: "actions" }, this.run, this.stop);
    this.status = h("p", { class: "status", role: "status", "data-testid": "status" });
    this.error = h("p", { class: "wrong", role: "alert", "data-testid": "error" });
    this.knobs = {};
    const { knobs } = spec;
    this.add("rho", { onchange: (value) => this.setXTC("rho", value) });
    this.add("tau", { onchange: (value) => this.setXTC("tau", value) });
    this.add("temperature", { onchange: (value) => this.setAll("temperature", value) });
    this.add("max_new_tokens", { onchange: (value) => this.setRun("max_new_tokens", value) });
    this.add("seed", { slider: false, onchange: (value) => this.setRun("seed", value) });
    this.dice = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.newSeed() },
      "new seed",
    );
    this.knobs.seed.element.append(this.dice);
    this.presets = h("div", { class: "segmented", role: "group", "aria-label": "Strength of XTC" });
    for (const lane of spec.strengths) {
      const { rho, tau } = lane.sampler.xtc;
      this.presets.append(
        h(
          "button",
          {
            type: "button",
            title: `ρ ${rho}, τ ${tau}`,
            onclick: () => this.setStrength(rho, tau),
          },
          lane.name,
        ),
      );
    }
    this.element = h(
      "form",
      { class: "composer", "aria-label": "What to write, and how" },
      h(
        "div",
        { class: "ask" },
        h("label", { for: "prompt", class: "visually-hidden" }, "Prompt"),
        this.prompt,
        this.actions,
      ),
      h(
        "div",
        { class: "settings" },
        h(
          "fieldset",
          { class: "xtc-knobs" },
          h("legend", { class: "visually-hidden" }, "XTC"),
          this.knobs.rho.element,
          this.knobs.tau.element,
          this.presets,
        ),
        this.knobs.temperature.element,
        this.knobs.max_new_tokens.element,
        this.knobs.seed.element,
      ),
      this.error,
      this.status,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      onrun();
    });
    set(this.element, { "data-knobs": Object.keys(knobs).length });
    this.fill();
  }

  add(name, options) {
    this.knobs[name] = new Knob(this.spec.knobs[name], options);
  }

  get lane() {
    return this.draft.settings.lanes[this.front];
  }

  setXTC(name, value) {
    this.lane.sampler.xtc[name] = value;
    this.mark();
    this.onchange();
  }

  setStrength(rho, tau) {
    Object.assign(this.lane.sampler.xtc, { rho, tau });
    this.fill();
    this.onchange();
  }

  setAll(name, value) {
    for (const lane of this.draft.settings.lanes) lane.sampler[name] = value;
    this.onchange();
  }

  setRun(name, value) {
    this.draft.settings[name] = value;
    this.onchange();
  }

  newSeed() {
    this.draft.settings.seed = Math.floor(Math.random() * 10_000);
    this.fill();
    this.onchange();
  }

  /** Show the draft in the controls. */
  fill() {
    const { settings } = this.draft;
    this.prompt.value = this.draft.prompt;
    this.knobs.rho.value = this.lane.sampler.xtc.rho;
    this.knobs.tau.value = this.lane.sampler.xtc.tau;
    this.knobs.temperature.value = this.lane.sampler.temperature;
    this.knobs.max_new_tokens.value = settings.max_new_tokens;
    this.knobs.seed.value = settings.seed;
    this.mark();
    this.fit();
  }

  mark() {
    const { rho, tau } = this.lane.sampler.xtc;
    for (const [i, button] of [...this.presets.children].entries()) {
      const { xtc } = this.spec.strengths[i].sampler;
      set(button, { "aria-pressed": String(xtc.rho === rho && xtc.tau === tau) });
    }
  }

  /** The prompt's box is as tall as its text. */
  fit() {
    if (CSS.supports("field-sizing", "content") || !this.prompt.isConnected) return;
    this.prompt.style.height = "auto";
    this.prompt.style.height = `${Math.min(220, this.prompt.scrollHeight)}px`;
  }

  busy(phase, message) {
    const busy = phase !== "idle";
    this.run.disabled = busy;
    this.stop.disabled = !busy;
    set(this.element, { "data-phase": phase });
    setText(this.status, message);
  }

  clear() {
    setText(this.error, "");
    set(this.prompt, { "aria-invalid": null });
    for (const knob of Object.values(this.knobs)) knob.clear();
  }

  /** Say what is wrong where it is wrong; everything typed stays as it is. */
  wrong({ field, message, lane }) {
    this.clear();
    const own = lane === undefined || lane === this.front || field === "temperature";
    const knob = own ? this.knobs[field] : undefined;
    if (knob) return knob.wrong(message);
    const where = lane === undefined ? "" : `${this.draft.settings.lanes[lane].name}: `;
    setText(this.error, where + message);
    if (field === "prompt") {
      set(this.prompt, { "aria-invalid": "true" });
      this.prompt.focus();
    }
  }
}

// The prompt and the settings of the next run.

import { count, h, set, setText } from "../core/dom.js";
import { laneTag } from "../inspector/words.js";
import { draftOf, touched } from "../session/draft.js";
import { exampleMenu } from "./examples.js";
import { Extras } from "./extras.js";
import { Knob } from "./knob.js";
import { freeName, laneChips } from "./lanechips.js";
import { LaneEditor } from "./laneeditor.js";
import { fairName, followers, frontLane } from "./leadlane.js";
import { protection } from "./protect.js";
import { hints } from "./warnings.js";

export class Composer {
  /** `onedit()` follows whatever is typed or chosen, `onchange()` what a what-if may show. */
  constructor(spec, { onrun, onstep, onstop, onedit, onchange, tokens }) {
    this.spec = spec;
    this.onedit = onedit;
    this.base = null; // what the run on show was asked for
    this.onchange = () => {
      this.hint();
      onedit();
      onchange();
    };
    this.draft = {
      prompt: spec.examples[0].text,
      system: "",
      chat: false,
      thinking: true,
      settings: structuredClone(spec.settings),
      protect: protection(),
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
      onedit();
      this.hint();
      this.fit();
      this.clear();
    });
    this.run = h("button", { type: "button", class: "primary", onclick: onrun }, "Generate");
    this.stop = h("button", { type: "button", disabled: true, onclick: onstop }, "Stop");
    this.step = h(
      "button",
      { type: "button", onclick: onstep, title: "Write one token at a time" },
      "Step",
    );
    this.actions = h("div", { class: "actions" }, this.run, this.step, this.stop);
    this.hints = h("div", { class: "hints", role: "status" });
    this.error = h("p", { class: "wrong", role: "alert", "data-testid": "error" });
    this.knobs = {};
    const { knobs } = spec;
    this.add("rho", { onchange: (value) => this.setXTC("rho", value) });
    this.add("tau", { onchange: (value) => this.setXTC("tau", value) });
    this.add("temperature", { onchange: (value) => this.setTemperature(value) });
    this.add("max_new_tokens", { onchange: (value) => this.setRun("max_new_tokens", value) });
    this.add("seed", { slider: false, onchange: (value) => this.setRun("seed", value) });
    this.dice = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.newSeed() },
      "new seed",
    );
    this.knobs.seed.element.append(this.dice);
    this.whose = h("span", { class: "whose" });
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
    this.editor = new LaneEditor(spec, {
      onchange: () => this.edited(),
      onremove: (index) => this.removeLane(index),
    });
    this.extras = new Extras(this, tokens);
    this.chips = h("div", { class: "lane-chips", role: "group", "aria-label": "Lanes" });
    this.examples = exampleMenu(spec.examples, (text) => this.begin(text));
    this.panel = h(
      "div",
      { class: "panel", id: "composer-panel" },
      h(
        "div",
        { class: "settings" },
        this.knobs.rho.element,
        this.knobs.tau.element,
        this.knobs.temperature.element,
        this.knobs.max_new_tokens.element,
        this.knobs.seed.element,
      ),
      h(
        "div",
        { class: "row" },
        h("div", { class: "strengths" }, this.whose, this.presets),
        this.chips,
        this.examples,
      ),
      this.extras.element,
    );
    // On a phone the settings are folded away behind this button, which says the main ones.
    this.gist = h("span", { class: "tag" });
    this.fold = h(
      "button",
      {
        type: "button",
        class: "quiet fold",
        "aria-expanded": "false",
        "aria-controls": this.panel.id,
        onclick: () => this.unfold(!this.panel.hasAttribute("data-open")),
      },
      h("span", {}, "Settings"),
      this.gist,
    );
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
      this.fold,
      this.panel,
      this.hints,
      this.error,
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

  unfold(open) {
    set(this.panel, { "data-open": open ? "" : null });
    set(this.fold, { "aria-expanded": String(open) });
  }

  fillChips() {
    const { lanes } = this.draft.settings;
    const chips = laneChips(this.spec, lanes, {
      onopen: (i) => this.openLane(i),
      onadd: (lane) => this.addLane(lane),
    });
    this.chips.replaceChildren(...chips);
    this.sayWhose();
    const tag = laneTag(this.lane.sampler, this.spec.knobs);
    setText(this.gist, `${count(lanes.length, "lane")} · ${tag}`);
  }

  /** A lane's own settings; where XTC acts on it, the sliders in front come to it too. */
  openLane(i) {
    const { lanes } = this.draft.settings;
    if (lanes[i].sampler.xtc.rho !== 0) this.picked = lanes[i];
    this.fillKnobs();
    this.sayWhose();
    this.editor.open(lanes[i], i, lanes.length === 1);
  }

  /** Of several lanes, say which one each control in front speaks for. */
  sayWhose() {
    const { lanes } = this.draft.settings;
    const one = lanes.length > 1 ? this.lane.name : "";
    this.knobs.rho.of(one);
    this.knobs.tau.of(one);
    setText(this.whose, one && `for ${one}`);
    const all = this.alike.length === lanes.length;
    this.knobs.temperature.of(all ? "" : this.alike.map((lane) => lane.name).join(", "));
  }

  addLane(lane) {
    const { lanes } = this.draft.settings;
    lanes.push({ ...lane, name: freeName(lane.name, lanes) });
    this.fill();
    this.onchange();
  }

  /** Take an example as the prompt. */
  begin(text) {
    this.draft.prompt = text;
    this.fill();
    this.prompt.focus();
  }

  removeLane(index) {
    this.draft.settings.lanes.splice(index, 1);
    this.fill();
    this.onchange();
  }

  /** The dialog changed a lane: the chips and the sliders in front follow. */
  edited() {
    this.fillKnobs();
    this.fillChips();
    this.onchange();
  }

  hint() {
    const words = hints(this.draft);
    if (words.join() === this.hints.textContent) return;
    this.hints.replaceChildren(...words.map((text) => h("p", { class: "note" }, text)));
  }

  /** Show the settings of a run, so that they can be changed from there. */
  adopt(head) {
    this.comeTo(draftOf(head, this.draft));
  }

  /** Another run is on show. What was typed and not run yet stays: it is for the next one. */
  comeTo(draft) {
    const keep = touched(this.draft, this.base);
    this.base = structuredClone(draft);
    if (keep) return this.onedit();
    this.take(draft);
    this.base = structuredClone(this.draft);
    this.onedit();
  }

  /** Take a whole draft over, from a link or a run on show. */
  take(draft) {
    this.draft = { ...this.draft, ...structuredClone(draft) };
    this.draft.protect = protection(this.draft.protect);
    this.fill();
  }

  get lane() {
    return this.draft.settings.lanes[this.front];
  }

  setXTC(name, value) {
    this.lane.sampler.xtc[name] = value;
    this.rename();
    this.mark();
    this.fillChips();
    this.onchange();
  }

  setStrength(rho, tau) {
    Object.assign(this.lane.sampler.xtc, { rho, tau });
    this.rename();
    this.fill();
    this.onchange();
  }

  rename() {
    this.picked = this.lane;
    this.lane.name = fairName(this.lane, this.draft.settings.lanes, this.spec);
  }

  /** For the lanes that were alike before; not for those that it meets while a slider moves. */
  setTemperature(value) {
    for (const lane of this.alike) lane.sampler.temperature = value;
    this.fillChips();
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
    this.prompt.value = this.draft.prompt;
    this.fillKnobs();
    this.fillChips();
    this.extras.fill(this.draft);
    this.hint();
    this.fit();
    this.onedit();
  }

  fillKnobs() {
    const { settings } = this.draft;
    this.front = frontLane(settings.lanes, this.picked);
    this.alike = followers(settings.lanes, this.lane);
    this.knobs.rho.value = this.lane.sampler.xtc.rho;
    this.knobs.tau.value = this.lane.sampler.xtc.tau;
    this.knobs.temperature.value = this.lane.sampler.temperature;
    this.knobs.max_new_tokens.value = settings.max_new_tokens;
    this.knobs.seed.value = settings.seed;
    this.mark();
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

  /** `half` says whether Step can take another half step; undefined where it begins a run. */
  busy(phase, half) {
    const busy = phase !== "idle";
    this.run.disabled = busy;
    this.step.disabled = half === undefined ? busy : !half;
    this.stop.disabled = !busy;
    set(this.element, { "data-phase": phase });
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
    if (knob) {
      this.unfold(true);
      return knob.wrong(message);
    }
    const where = lane === undefined ? "" : `${this.draft.settings.lanes[lane].name}: `;
    setText(this.error, where + message);
    if (field === "prompt") {
      set(this.prompt, { "aria-invalid": "true" });
      this.prompt.focus();
    }
  }
}

// The settings in front: the knobs of the lane that leads, the lanes as chips, and what is seldom
// needed.

import { button, h, set, setText } from "../core/dom.js";
import { count } from "../core/format.js";
import { laneTag } from "../core/lanetag.js";
import { BaseChoice } from "./basechoice.js";
import { Drawer } from "./drawer.js";
import { exampleMenu } from "./examples.js";
import { Extras } from "./extras.js";
import { Knob } from "./knob.js";
import { laneChips } from "./lanechips.js";
import { LaneEditor } from "./laneeditor.js";

/** @import { NextRun } from "./nextrun.js" */

export class Panel {
  /**
   * `onfill()` follows when the whole draft is to be shown anew, `onchange()` every change of what a
   * what-if may show, `onedit()` all else, `onbegin(text)` when an example was chosen.
   * @param {Spec} spec
   * @param {NextRun} run
   * @param {{ onfill: () => void, onchange: () => void, onedit: () => void,
   *   onbegin: (text: string) => void, ask: Transport["tokens"], onbring: () => void,
   *   onelsewhere: (lane: LaneSettings<Typed>) => void }} events
   */
  constructor(spec, run, { onfill, onchange, onedit, onbegin, ask, onbring, onelsewhere }) {
    this.spec = spec;
    this.run = run;
    this.onfill = onfill;
    this.onchange = onchange;
    this.onbring = onbring;
    const lead = () => {
      this.mark();
      this.fillChips();
      onchange();
    };
    this.knobs = {
      rho: new Knob(spec.knobs.rho, {
        label: "ρ",
        onchange: (rho) => {
          run.setLead({ rho });
          lead();
        },
      }),
      tau: new Knob(spec.knobs.tau, {
        label: "τ",
        onchange: (tau) => {
          run.setLead({ tau });
          lead();
        },
      }),
      temperature: this.knob("temperature", (temperature) => {
        run.setTemperature(temperature);
        this.fillChips();
        onchange();
      }),
      max_new_tokens: this.knob("max_new_tokens", (length) => {
        run.setRun("max_new_tokens", length);
        onchange();
      }),
      seed: new Knob(spec.knobs.seed, {
        slider: false,
        onchange: (seed) => {
          run.setRun("seed", seed);
          onchange();
        },
      }),
    };
    const dice = button("new", () => this.newSeed(), { class: "quiet", "aria-label": "new seed" });
    this.knobs.seed.element.append(dice);
    this.whose = h("b", { class: "whose" });
    this.presets = spec.strengths.map(({ name, sampler: { xtc } }) =>
      button(name, () => this.change(() => run.setLead({ rho: xtc.rho, tau: xtc.tau })), {
        title: `ρ ${xtc.rho}, τ ${xtc.tau}`,
      }),
    );
    const strengths = { class: "segmented", role: "group", "aria-label": "Strength of XTC" };
    this.editor = new LaneEditor(spec, run, {
      onchange: () => this.edited(),
      onremove: (k) => this.change(() => run.remove(k)),
      onelsewhere: (k) => onelsewhere(run.lanes[k]),
    });
    const { rho, tau, seed, ...seldom } = this.knobs;
    const others = Object.values(seldom).map((knob) => knob.element);
    this.extras = new Extras(spec, run, others, { onchange, onedit, ask });
    this.examples = exampleMenu(spec.examples, onbegin);
    this.base = new BaseChoice(spec, run, (base) => this.change(() => run.setBase(base)));
    this.drawer = new Drawer(run, onchange);
    this.chips = h("div", { class: "lane-chips", role: "group", "aria-label": "Lanes" });
    this.element = h(
      "div",
      { class: "panel", id: "composer-panel" },
      h(
        "div",
        { class: "front" },
        this.whose,
        rho.element,
        tau.element,
        h("div", strengths, this.presets),
      ),
      this.chips,
      this.base.element,
      seed.element,
      this.drawer.element,
    );
    // On a phone the settings are folded away behind this button, which says the main ones.
    this.gist = h("span", { class: "tag" });
    this.fold = h(
      "button",
      {
        type: "button",
        class: "quiet fold",
        "aria-expanded": "false",
        "aria-controls": this.element.id,
        onclick: () => this.unfold(!this.element.hasAttribute("data-open")),
      },
      h("span", {}, "Settings"),
      this.gist,
    );
  }

  /** @param {KnobName} name @param {(value: Typed) => void} onchange */
  knob(name, onchange) {
    return new Knob(this.spec.knobs[name], { onchange });
  }

  /** The draft becomes another one, in more than what was just typed. @param {() => void} action */
  change(action) {
    action();
    this.onfill();
    this.onchange();
  }

  newSeed() {
    this.change(() => this.run.newSeed());
  }

  /** The dialog changed a lane: the chips and the sliders in front follow. */
  edited() {
    this.fillKnobs();
    this.fillChips();
    this.onchange();
  }

  /** @param {boolean} open */
  unfold(open) {
    set(this.element, { "data-open": open ? "" : null });
    const composer = this.element.closest(".composer");
    if (composer) set(composer, { "data-unfolded": open ? "" : null });
    set(this.fold, { "aria-expanded": String(open) });
  }

  /** A lane's own settings; where XTC acts on it, the sliders in front come to it too. */
  openLane(/** @type {number} */ k) {
    this.run.pick(k);
    this.fillKnobs();
    this.fillWhose();
    this.editor.open(k, this.run.lanes.length === 1);
  }

  fill() {
    this.fillKnobs();
    this.fillChips();
    this.drawer.fill();
    this.extras.fill();
  }

  /** Another model is in use. @param {ModelLine} model */
  model(model) {
    this.drawer.model(model);
    this.extras.model(model);
  }

  fillKnobs() {
    const { lead, settings } = this.run;
    this.knobs.rho.value = lead.sampler.xtc.rho;
    this.knobs.tau.value = lead.sampler.xtc.tau;
    this.knobs.temperature.value = lead.sampler.temperature;
    this.knobs.max_new_tokens.value = settings.max_new_tokens;
    this.knobs.seed.value = settings.seed;
    this.mark();
  }

  fillChips() {
    const { lanes, lead } = this.run;
    const chips = laneChips(this.spec, lanes, {
      onopen: (k) => this.openLane(k),
      onadd: (lane) => this.change(() => this.run.add(lane)),
      onbring: this.onbring,
    });
    this.chips.replaceChildren(...chips);
    this.base.fill();
    this.fillWhose();
    const tag = laneTag(lead.sampler, this.spec);
    setText(this.gist, `${count(lanes.length, "lane")} · ${tag}`);
  }

  /** Say which lane the controls in front speak for, and which ones the temperature. */
  fillWhose() {
    const { lanes, lead, alike } = this.run;
    setText(this.whose, lead.name);
    set(this.whose, { title: `ρ and τ of ${lead.name}` });
    const all = alike.length === lanes.length;
    this.knobs.temperature.of(all ? "" : alike.map((lane) => lane.name).join(", "));
  }

  /** Which strength the lane in front has. */
  mark() {
    const { rho, tau } = this.run.lead.sampler.xtc;
    for (const [i, preset] of this.presets.entries()) {
      const { xtc } = this.spec.strengths[i].sampler;
      set(preset, { "aria-pressed": String(xtc.rho === rho && xtc.tau === tau) });
    }
  }

  clear() {
    for (const knob of Object.values(this.knobs)) knob.clear();
  }

  /**
   * Say what is wrong at its own control; returns whether there is one.
   * @param {Problem} problem
   */
  wrong({ field, message, lane }) {
    const own = lane === undefined || lane === this.run.leadIndex || field === "temperature";
    const knob = own ? new Map(Object.entries(this.knobs)).get(field ?? "") : undefined;
    if (!knob) return false;
    this.unfold(true);
    if (this.extras.element.contains(knob.element)) this.extras.open(true);
    knob.wrong(message);
    return true;
  }
}

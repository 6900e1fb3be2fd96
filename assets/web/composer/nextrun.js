// The next run: what it is asked for with, and which of its lanes the controls in front speak for.
// Its views show it and change it by its methods. No document.

import { withDialect } from "../core/dialect.js";
import { baseOf, hasOwnBase, sameBase, sharedBase } from "../core/lanebase.js";
import { fairName, followers, freeName, leadLane, nameBy } from "./leadlane.js";
import { protection } from "./protection.js";

/** @typedef {LaneSettings<Typed>} Lane */

export class NextRun {
  #spec;
  /** @type {Draft} */
  #draft;
  /** @type {Lane | null} */
  #picked = null;
  #lead = 0;
  /** @type {Lane[]} */
  #alike = [];
  /** @type {Lane[]} */
  #based = [];

  /** @param {Spec} spec */
  constructor(spec) {
    this.#spec = spec;
    this.#draft = {
      prompt: spec.examples[0].text,
      system: "",
      chat: false,
      thinking: true,
      settings: structuredClone(spec.settings),
      protect: protection(),
    };
    this.#relate();
  }

  get draft() {
    return this.#draft;
  }

  get settings() {
    return this.#draft.settings;
  }

  get lanes() {
    return this.#draft.settings.lanes;
  }

  /** The place of the lane in front. */
  get leadIndex() {
    return this.#lead;
  }

  /** The lane that the controls in front speak for. */
  get lead() {
    return this.lanes[this.#lead];
  }

  /** The lanes that the temperature in front is for. */
  get alike() {
    return this.#alike;
  }

  /** The lanes that stand on the base of all; the others have cutoffs of their own. */
  get based() {
    return this.#based;
  }

  /** What all lanes stand on before XTC acts; null where each has cutoffs of its own. */
  get base() {
    return this.#based.length ? baseOf(this.#based[0].sampler, this.#spec) : null;
  }

  /** The lanes or their settings have changed: which one is in front, who follows it? */
  #relate() {
    const { lanes } = this;
    this.#lead = leadLane(lanes, this.#picked);
    this.#alike = followers(lanes, this.lead);
    const free = lanes.filter((lane) => !hasOwnBase(lane, this.#spec));
    const samplers = free.map((lane) => lane.sampler);
    const base = free.length ? sharedBase(samplers, this.#spec) : {};
    this.#based = free.filter(({ sampler }) => sameBase(base, baseOf(sampler, this.#spec)));
  }

  /** A preset as a lane: on the base of all, unless it has cutoffs of its own. */
  #onBase(/** @type {LaneSettings} */ preset) {
    const lane = structuredClone(preset);
    if (!hasOwnBase(preset, this.#spec)) Object.assign(lane.sampler, this.base);
    return lane;
  }

  /** Take a whole draft over, from a link or a run on show. @param {Draft} draft */
  take(draft) {
    const picked = this.#picked?.name;
    this.#draft = { ...this.#draft, ...structuredClone(draft) };
    this.#draft.protect = protection(this.#draft.protect);
    this.#picked = this.lanes.find((lane) => lane.name === picked) ?? null;
    this.#relate();
  }

  /**
   * @template {"prompt" | "system" | "chat" | "thinking"} K
   * @param {K} name
   * @param {Draft[K]} value
   */
  set(name, value) {
    this.#draft[name] = value;
  }

  /**
   * @template {Exclude<keyof RunSettings, "lanes">} K
   * @param {K} name
   * @param {RunSettings<Typed>[K]} value
   */
  setRun(name, value) {
    this.#draft.settings[name] = value;
  }

  /**
   * @template {keyof Protection} K
   * @param {K} name
   * @param {Protection[K]} value
   */
  setProtection(name, value) {
    this.#draft.protect[name] = value;
  }

  newSeed(random = Math.random()) {
    this.#draft.settings.seed = Math.floor(random * 10_000);
  }

  /** XTC of the lane in front. @param {{ rho?: Typed, tau?: Typed }} xtc */
  setLead(xtc) {
    const { lead } = this;
    Object.assign(lead.sampler.xtc, xtc);
    this.#picked = lead;
    lead.name = fairName(lead, this.lanes, this.#spec);
  }

  /**
   * For the lanes that were alike before; not for those that it meets while a slider moves.
   * @param {Typed} temperature
   */
  setTemperature(temperature) {
    for (const lane of this.#alike) lane.sampler.temperature = temperature;
  }

  /**
   * For the lanes that stood on the base before; not for those that it meets on the way.
   * @param {Base} base
   */
  setBase(base) {
    for (const lane of this.#based) Object.assign(lane.sampler, base);
  }

  /** Where XTC acts on a lane, the controls in front come to it. @param {number} k */
  pick(k) {
    if (this.lanes[k].sampler.xtc.rho !== 0) this.#picked = this.lanes[k];
    this.#relate();
  }

  /** @param {LaneSettings} lane a preset */
  add(lane) {
    this.lanes.push({ ...this.#onBase(lane), name: freeName(lane.name, this.lanes) });
    this.#relate();
  }

  /**
   * A lane from elsewhere comes with cutoffs of its own: as a new one, or in place of lane k.
   * @param {LaneSettings} lane
   * @param {number | null} k
   */
  bring(lane, k) {
    const others = this.lanes.filter((_, i) => i !== k);
    const brought = { ...structuredClone(lane), name: freeName(lane.name, others) };
    if (k === null) this.lanes.push(brought);
    else this.lanes[k] = brought;
    this.#relate();
  }

  /** @param {number} k */
  remove(k) {
    this.lanes.splice(k, 1);
    this.#relate();
  }

  /** @param {number} k @param {string} name */
  rename(k, name) {
    this.lanes[k].name = name;
    this.#relate();
  }

  /** @param {number} k @param {Partial<Sampler<Typed>>} values */
  setSampler(k, values) {
    Object.assign(this.lanes[k].sampler, values);
    this.#relate();
  }

  /** @param {number} k @param {Partial<Xtc<Typed>>} values */
  setXtc(k, values) {
    Object.assign(this.lanes[k].sampler.xtc, values);
    this.#relate();
  }

  /**
   * The rule of an engine, with an order of stages.
   * @param {number} k
   * @param {string} engine
   * @param {string[]} order
   */
  setEngine(k, engine, order) {
    const lane = this.lanes[k];
    lane.sampler.xtc = withDialect(lane.sampler.xtc, engine);
    lane.sampler.order = [...order];
    lane.name = nameBy(engine, lane, this.lanes, this.#spec);
    this.#relate();
  }

  /** A lane becomes a preset. @param {number} k @param {LaneSettings} preset */
  start(k, preset) {
    Object.assign(this.lanes[k], this.#onBase(preset));
    this.#relate();
  }

  /**
   * The lanes that also that draft has, and what is protected, become as they are there.
   * @param {Draft} draft
   */
  putBack({ settings, protect }) {
    for (const [k, { name, sampler }] of settings.lanes.entries()) {
      if (this.lanes[k]?.name === name) this.lanes[k].sampler = structuredClone(sampler);
    }
    this.#draft.protect = protection(protect);
    this.#relate();
  }
}

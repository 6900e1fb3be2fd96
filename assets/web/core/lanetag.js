// A lane's settings in a few characters: "ρ 0.50 · τ 0.10 · T 1.3". Pure.

import { setting } from "./format.js";
import { baseOf, sameBase, sharedBase } from "./lanebase.js";

/** @typedef {Pick<Spec, "knobs" | "order" | "switches" | "bases">} Names */

/** @type {Record<string, string>} Names that people write shorter than the labels are. */
const SHORT = { temperature: "T" };

/**
 * Whether a stage of a lane does anything.
 * @param {string} stage
 * @param {Sampler<Typed>} sampler
 * @param {Pick<Spec, "knobs" | "switches">} spec
 */
export function isOn(stage, sampler, { knobs, switches }) {
  if (stage === "xtc") return sampler.xtc.rho !== 0;
  return switches[stage].some((name) => sampler[name] !== knobs[name].default);
}

/**
 * Which stages that are on stand before one that they follow by default, by their short names.
 * @param {Sampler<Typed>} sampler
 * @param {Names} spec
 */
function moved(sampler, spec) {
  const { order } = spec;
  const place = new Map(order.map(([name], i) => [name, i]));
  const labels = new Map(order);
  const short = (/** @type {string} */ name) => SHORT[name] ?? labels.get(name) ?? name;
  const on = sampler.order.filter((stage) => isOn(stage, sampler, spec));
  return on.slice(1).flatMap((after, i) => {
    const before = on[i];
    const swapped = (place.get(before) ?? 0) > (place.get(after) ?? 0);
    return swapped ? [`${short(before)} before ${short(after)}`] : [];
  });
}

/**
 * Those settings that are not the default: "Min-p 0.05".
 * @param {object} settings
 * @param {Names["knobs"]} knobs
 */
function named(settings, knobs) {
  const values = new Map(Object.entries(settings));
  return Object.entries(knobs).flatMap(([name, knob]) => {
    const value = values.get(name);
    if (value === undefined || value === knob.default) return [];
    return [`${SHORT[name] ?? knob.label} ${setting(value)}`];
  });
}

/**
 * A base of all lanes in words.
 * @param {Base} base
 * @param {Names} spec
 */
export function baseTag(base, { knobs }) {
  return named(base, knobs).join(" · ") || "plain sampling";
}

/**
 * What there is to say of a lane's cutoffs beside a base that others have: nothing where they are
 * the same, its own where it has some, else that it lacks those of the base.
 * @param {Base} own
 * @param {Base} base
 * @param {Names} spec
 */
function beside(own, base, { knobs }) {
  if (sameBase(own, base)) return [];
  const words = named(own, knobs);
  const labels = new Map(Object.entries(knobs).map(([name, { label }]) => [name, label]));
  const lacks = Object.entries(base)
    .filter(([name, value]) => value !== own[/** @type {StackKnob} */ (name)])
    .map(([name]) => `no ${labels.get(name)}`);
  return words.length ? words : lacks;
}

/**
 * A lane's settings; those of a `base` that all lanes share are said elsewhere.
 * @param {Sampler<Typed>} sampler
 * @param {Names} spec
 * @param {Base} [base]
 */
export function laneTag(sampler, spec, base) {
  const { rho, tau } = sampler.xtc;
  const own = baseOf(sampler, spec);
  const others = Object.fromEntries(Object.entries(sampler).filter(([name]) => !(name in own)));
  const parts = [
    ...(rho === 0 ? [] : [`ρ ${setting(rho)}`, `τ ${setting(tau)}`]),
    ...named(others, spec.knobs),
  ];
  const cutoffs = base && parts.length ? beside(own, base, spec) : named(own, spec.knobs);
  const all = [...parts, ...cutoffs, ...moved(sampler, spec)];
  return all.length ? all.join(" · ") : "plain sampling";
}

/**
 * The tag of one of several lanes: what they share before XTC is said by the first that has it.
 * @param {Sampler<Typed>[]} samplers
 * @param {number} k
 * @param {Names} spec
 */
export function laneTagAmong(samplers, k, spec) {
  const base = sharedBase(samplers, spec);
  const first = samplers.findIndex((sampler) => sameBase(baseOf(sampler, spec), base));
  return laneTag(samplers[k], spec, k === first ? undefined : base);
}

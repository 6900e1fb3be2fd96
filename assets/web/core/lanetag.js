// A lane's settings in a few characters: "ρ 0.50 · τ 0.10 · T 1.3". Pure.

import { dialectOf, PAPER } from "./dialect.js";
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
 * Which cutoffs of a base a lane does without.
 * @param {Base} own
 * @param {Base} base
 * @param {Names} spec
 */
function lacks(own, base, { knobs }) {
  const mine = new Map(Object.entries(own));
  const labels = new Map(Object.entries(knobs).map(([name, { label }]) => [name, label]));
  return Object.entries(base)
    .filter(([name, value]) => value !== mine.get(name))
    .map(([name]) => `no ${labels.get(name)}`);
}

/**
 * A lane's settings. Of a `base` that others have too nothing is said, only where the lane differs.
 * @param {Sampler<Typed>} sampler
 * @param {Names} spec
 * @param {Base} [base]
 */
export function laneTag(sampler, spec, base) {
  const { rho, tau } = sampler.xtc;
  const dialect = dialectOf(sampler.xtc);
  const engine = dialect === PAPER ? [] : [dialect];
  const own = baseOf(sampler, spec);
  const others = Object.fromEntries(Object.entries(sampler).filter(([name]) => !(name in own)));
  const parts = [
    ...(rho === 0 ? [] : [`ρ ${setting(rho)}`, `τ ${setting(tau)}`, ...engine]),
    ...named(others, spec.knobs),
  ];
  const shared = base && sameBase(own, base);
  const cutoffs = shared ? [] : named(own, spec.knobs);
  if (base && !shared && parts.length && !cutoffs.length) cutoffs.push(...lacks(own, base, spec));
  const all = [...parts, ...cutoffs, ...moved(sampler, spec)];
  return all.length || shared ? all.join(" · ") : "plain sampling";
}

/**
 * A tag beside a lane's name, which may say the engine already.
 * @param {string} tag
 * @param {string} name
 */
export function besideName(tag, name) {
  const plain = name.replace(/ \d+$/, "");
  const parts = tag.split(" · ").filter((part) => part !== plain);
  return parts.join(" · ") || tag;
}

/**
 * The tag of one of several lanes: what they share before XTC is said by the first that has it, and
 * by those of which there is nothing else to say.
 * @param {Sampler<Typed>[]} samplers
 * @param {number} k
 * @param {Names} spec
 */
export function laneTagAmong(samplers, k, spec) {
  const base = sharedBase(samplers, spec);
  const first = samplers.findIndex((sampler) => sameBase(baseOf(sampler, spec), base));
  return laneTag(samplers[k], spec, k === first ? undefined : base) || baseTag(base, spec);
}

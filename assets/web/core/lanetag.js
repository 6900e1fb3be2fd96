// A lane's settings in a few characters: "ρ 0.50 · τ 0.10 · T 1.3". Pure.

import { setting } from "./format.js";

/** @typedef {Pick<Spec, "knobs" | "order" | "switches">} Names */

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
 * @param {Sampler<Typed>} sampler
 * @param {Names} spec
 */
export function laneTag(sampler, spec) {
  const parts = [];
  if (sampler.xtc.rho !== 0)
    parts.push(`ρ ${setting(sampler.xtc.rho)}`, `τ ${setting(sampler.xtc.tau)}`);
  const values = new Map(Object.entries(sampler));
  for (const [name, knob] of Object.entries(spec.knobs)) {
    const value = values.get(name);
    if (value === undefined || value === knob.default) continue;
    parts.push(`${SHORT[name] ?? knob.label} ${setting(value)}`);
  }
  parts.push(...moved(sampler, spec));
  return parts.length ? parts.join(" · ") : "plain sampling";
}

// The lane that the controls in front speak for, who follows them, and what it is then called. Pure.

import { PAPER } from "../core/dialect.js";

/** @typedef {LaneSettings<Typed>} Lane */

/**
 * A name that no other lane has.
 * @param {string} name
 * @param {Lane[]} lanes
 */
export function freeName(name, lanes) {
  const taken = new Set(lanes.map((other) => other.name));
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name} ${n}`;
  return free;
}

/**
 * The place of the lane that was picked, else of the first on which XTC acts, else of the second.
 * @param {Lane[]} lanes
 * @param {Lane | null} picked
 */
export function leadLane(lanes, picked = null) {
  const at = picked ? lanes.indexOf(picked) : -1;
  if (at >= 0) return at;
  const first = lanes.findIndex((lane) => lane.sampler.xtc.rho !== 0);
  return first >= 0 ? first : Math.min(1, lanes.length - 1);
}

/**
 * The lanes that share the temperature of this one; the others have one of their own.
 * @param {Lane[]} lanes
 * @param {Lane} lead
 */
export function followers(lanes, { sampler }) {
  return lanes.filter((lane) => lane.sampler.temperature === sampler.temperature);
}

/**
 * A lane's name once an engine was chosen: one that nobody made up says which engine it is.
 * @param {string} engine
 * @param {Lane} lane
 * @param {Lane[]} lanes
 * @param {Pick<Spec, "strengths" | "engines">} spec
 */
export function nameBy(engine, lane, lanes, { strengths, engines }) {
  const plain = lane.name.replace(/ \d+$/, "");
  const usual = [{ name: "XTC" }, ...strengths, ...engines.map(({ name }) => ({ name }))];
  if (!usual.some(({ name }) => name === plain)) return lane.name;
  const others = lanes.filter((other) => other !== lane);
  return freeName(engine === PAPER ? "XTC" : engine, others);
}

/**
 * A lane's name once its XTC was set: that of a preset only while it is that preset.
 * @param {Lane} lane
 * @param {Lane[]} lanes
 * @param {Pick<Spec, "baseline" | "strengths">} spec
 */
export function fairName(lane, lanes, { baseline, strengths }) {
  const plain = lane.name.replace(/ \d+$/, "");
  const preset = [baseline, ...strengths].find(({ name }) => name === plain);
  const { rho, tau } = lane.sampler.xtc;
  if (!preset || typeof rho !== "number" || typeof tau !== "number") return lane.name;
  const { xtc } = preset.sampler;
  if (xtc.rho === rho && (rho === 0 || xtc.tau === tau)) return lane.name;
  const others = lanes.filter((other) => other !== lane);
  return freeName("XTC", others);
}

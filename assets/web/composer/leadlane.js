// The lane that the controls in front speak for, who follows them, and what it is then called.

import { freeName } from "./lanechips.js";

/** The lane that was picked, else the first on which XTC acts, else the second. */
export function frontLane(lanes, picked) {
  const at = lanes.indexOf(picked);
  if (at >= 0) return at;
  const found = lanes.findIndex((lane) => lane.sampler.xtc.rho !== 0);
  return found >= 0 ? found : Math.min(1, lanes.length - 1);
}

/** The lanes that share the temperature of this one; the others have one of their own. */
export function followers(lanes, { sampler }) {
  return lanes.filter((lane) => lane.sampler.temperature === sampler.temperature);
}

/** A lane's name once its XTC was set: that of a preset only while it is that preset. */
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

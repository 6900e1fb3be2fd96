// What lanes stand on before XTC acts: the cutoffs that most of them share. Pure.

/** @typedef {Pick<Spec, "bases">} Bases */

/**
 * The cutoffs of a lane.
 * @param {Sampler<Typed>} sampler
 * @param {Bases} spec
 * @returns {Base}
 */
export function baseOf(sampler, { bases }) {
  const values = new Map(Object.entries(sampler));
  return Object.fromEntries(Object.keys(bases[0]).map((name) => [name, values.get(name)]));
}

/** @param {Base} a @param {Base} b */
export function sameBase(a, b) {
  const others = new Map(Object.entries(b));
  return Object.entries(a).every(([name, value]) => others.get(name) === value);
}

/**
 * The base that most lanes have; of several the one that comes first.
 * @param {Sampler<Typed>[]} samplers
 * @param {Bases} spec
 */
export function sharedBase(samplers, spec) {
  const every = samplers.map((sampler) => baseOf(sampler, spec));
  const counts = every.map((base) => every.filter((other) => sameBase(base, other)).length);
  return every[counts.indexOf(Math.max(...counts))];
}

/**
 * Whether a lane is a preset that is about its own cutoffs, such as "Top-p .95".
 * @param {LaneSettings<Typed>} lane
 * @param {Pick<Spec, "bases" | "comparators">} spec
 */
export function hasOwnBase({ name, sampler }, spec) {
  const plain = name.replace(/ \d+$/, "");
  const preset = spec.comparators.find((other) => other.name === plain || other.name === name);
  if (!preset) return false;
  const own = baseOf(preset.sampler, spec);
  return !sameBase(own, spec.bases[0]) && sameBase(own, baseOf(sampler, spec));
}

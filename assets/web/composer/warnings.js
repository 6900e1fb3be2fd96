// Warnings that help, while someone sets up a run. Pure.

import { dialectOf } from "../core/dialect.js";
import { isOn } from "../core/lanetag.js";

const CODE = /```|\bdef \w+\(|\bfunction\s*\w*\(|#include\b|\bclass \w+[:{(]|;\s*\n|<\/\w+>|=>/;
const STRUCTURE = /^\s*[{[]|"\w+"\s*:|\bJSON\b|\bYAML\b|\bCSV\b|\bextract\b/i;

/**
 * What one lane's settings come to, where that may surprise.
 * @param {LaneSettings<Typed>} lane
 * @param {Pick<Spec, "knobs" | "order" | "switches" | "engines">} spec
 */
function ofLane({ sampler }, spec) {
  const tau = Number(sampler.xtc.tau);
  const engine = spec.engines.find(({ name }) => name === dialectOf(sampler.xtc));
  const words = [];
  if (tau > 0.5 && tau < 1) {
    const off = engine?.inert ? `, and ${engine.label} switches it off there` : "";
    words.push(`above τ = 0.5 XTC can never act, because only one token can be that likely${off}.`);
  }
  if (sampler.temperature === 0) {
    words.push(
      engine?.zero === "skipped"
        ? `temperature 0 always takes the likeliest token, and ${engine.label} skips XTC then.`
        : "temperature 0 always takes the likeliest token that is left. XTC still acts before that choice.",
    );
  }
  const labels = new Map(spec.order);
  const missing = engine?.lacks.filter((stage) => isOn(stage, sampler, spec)) ?? [];
  if (missing.length) {
    const names = missing.map((stage) => labels.get(stage)).join(", ");
    words.push(`${engine?.label} has no ${names}; here it acts all the same.`);
  }
  return words;
}

/**
 * What to say about a draft; empty for most.
 * @param {Pick<Draft, "prompt" | "settings">} draft
 * @param {Pick<Spec, "knobs" | "order" | "switches" | "engines">} spec
 */
export function warnings({ prompt, settings }, spec) {
  const words = settings.lanes
    .filter(({ sampler }) => Number(sampler.xtc.rho) > 0)
    .flatMap((lane) => ofLane(lane, spec).map((said) => `${lane.name}: ${said}`));
  const strongest = Math.max(...settings.lanes.map((lane) => Number(lane.sampler.xtc.rho) || 0));
  if (CODE.test(prompt) && strongest > 0.15) {
    words.push(
      "The prompt looks like code. There XTC does harm soon: the paper advises ρ of at most 0.15.",
    );
  } else if (STRUCTURE.test(prompt) && strongest > 0.2) {
    words.push("The prompt asks for structured output. There the paper advises ρ of at most 0.20.");
  }
  return words;
}

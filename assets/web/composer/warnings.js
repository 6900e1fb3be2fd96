// Warnings that help, while someone sets up a run. Pure.

const CODE = /```|\bdef \w+\(|\bfunction\s*\w*\(|#include\b|\bclass \w+[:{(]|;\s*\n|<\/\w+>|=>/;
const STRUCTURE = /^\s*[{[]|"\w+"\s*:|\bJSON\b|\bYAML\b|\bCSV\b|\bextract\b/i;

/**
 * What to say about a draft; empty for most.
 * @param {Pick<Draft, "prompt" | "settings">} draft
 */
export function warnings({ prompt, settings }) {
  const words = [];
  for (const { name, sampler } of settings.lanes) {
    const [rho, tau] = [Number(sampler.xtc.rho), Number(sampler.xtc.tau)];
    if (rho > 0 && tau > 0.5 && tau < 1) {
      words.push(
        `${name}: above τ = 0.5 XTC can never act, because only one token can be that likely.`,
      );
    }
    if (sampler.temperature === 0 && rho > 0) {
      words.push(
        `${name}: temperature 0 always takes the likeliest token that is left. XTC still acts before that choice.`,
      );
    }
  }
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

// Warnings that help, while someone sets up a run.

const CODE = /```|\bdef \w+\(|\bfunction\s*\w*\(|#include\b|\bclass \w+[:{(]|;\s*\n|<\/\w+>|=>/;
const STRUCTURE = /^\s*[{[]|"\w+"\s*:|\bJSON\b|\bYAML\b|\bCSV\b|\bextract\b/i;

/** What to say about a draft; empty for most. */
export function hints(draft) {
  const found = [];
  for (const { name, sampler } of draft.settings.lanes) {
    const { rho, tau } = sampler.xtc;
    if (rho > 0 && tau > 0.5 && tau < 1) {
      found.push(
        `${name}: above τ = 0.5 XTC can never act, because only one token can be that likely.`,
      );
    }
    if (sampler.temperature === 0 && rho > 0) {
      found.push(
        `${name}: temperature 0 always takes the likeliest token that is left. XTC still acts before that choice.`,
      );
    }
  }
  const strongest = Math.max(
    ...draft.settings.lanes.map((lane) => Number(lane.sampler.xtc.rho) || 0),
  );
  if (CODE.test(draft.prompt) && strongest > 0.15) {
    found.push(
      "The prompt looks like code. There XTC does harm soon: the paper advises ρ of at most 0.15.",
    );
  } else if (STRUCTURE.test(draft.prompt) && strongest > 0.2) {
    found.push("The prompt asks for structured output. There the paper advises ρ of at most 0.20.");
  }
  return found;
}

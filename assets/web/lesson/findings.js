// What the paper says of XTC, each figure with the place where it stands, and where XTC comes from.
// Pure.

import { decimal, percent } from "../core/format.js";

/** @typedef {{ figure: string, words: string, source: string }} Finding */

/** What it found. @type {Finding[]} */
export const FOUND = [
  {
    figure: "+11 to +15 %",
    words:
      "more varied word pairs (distinct-2) in stories, with four models from 12 to 70 billion parameters",
    source: "Table 1",
  },
  {
    figure: "−27 to −47 %",
    words:
      "repeated groups of three words, with the same four; the interval of the largest model touches zero",
    source: "Appendix D, Table 1",
  },
  {
    figure: "62 % against 21 %",
    words:
      "of comparisons were won by XTC and by the text without it, for creativity, judged by people who did not know which was which; 17 % were ties",
    source: "Section 4.3.2, Figure 6",
  },
  {
    figure: "84 %",
    words: "of comparisons found its quality as good or better",
    source: "Section 4.3.2, Figure 6",
  },
  {
    figure: ".695 against .598",
    words:
      "distinct-2 of min-p with XTC against min-p alone; of all that were tried, the two together came out best",
    source: "Table 3",
  },
  {
    figure: ".494 against .434",
    words:
      "distinct-2 of keeping only the least likely word against dropping only the top one (without XTC .307)",
    source: "Appendix E.2",
  },
];

/** Where it says to be careful. @type {Finding[]} */
export const CAREFUL = [
  {
    figure: "Code",
    words:
      "fewer programs pass their tests above ρ = 0.15: where one token is the right one, XTC may take it away",
    source: "Appendix C.1",
  },
  {
    figure: "Structure",
    words:
      "pulling fields out of a text, or a fixed format: the limit is ρ = 0.20; protect line breaks, the end of the text and the signs of the format",
    source: "Appendix C.1",
  },
  {
    figure: "Facts",
    words: "names, numbers, mathematics, anything with high stakes: leave XTC off",
    source: "Appendix C.1 and C.3",
  },
  {
    figure: "Instructions",
    words:
      "followed 1.7 points less often at ρ = 0.5 (IFEval); a temperature that brings the same variety costs 8.8; the paper gives no intervals for these yet",
    source: "Section 4.4, Table 4",
  },
  {
    figure: "τ",
    words:
      "is absolute: the same value is mild for one model and strong for another, or behind other samplers",
    source: "Appendix C.1",
  },
  {
    figure: "Limits",
    words:
      "tried with compressed open models in English; XTC chooses among what the model already finds plausible and makes no model better",
    source: "Appendix C.1",
  },
];

/**
 * What was measured on the story model of this page, in words and as a table.
 * @param {Case} measured
 */
export function here({ model, prompts, seeds, length, improbable, samplers }) {
  return {
    words:
      `${model}, ${prompts} beginnings with ${seeds} seeds and ${length} tokens each. ` +
      "XTC here has ρ 0.50 and τ 0.10. In brackets: 95 % intervals over the beginnings.",
    heads: [
      "",
      "distinct-2",
      "repeated trigrams",
      `words below ${percent(improbable).replace(" ", "\u00a0")}`,
    ],
    rows: samplers.map(({ name, ...values }) => [
      name,
      interval(values.distinct2, (value) => decimal(value)),
      interval(values.repeated3, percent),
      interval(values.improbable, percent),
    ]),
  };
}

/** @param {Estimate} estimate @param {(value: number) => string} write */
function interval({ value, low, high }, write) {
  return `${write(value)} (${write(low).replace("\u00a0%", "")}–${write(high).replace("\u00a0%", "")})`;
}

/** @type {[label: string, address: string, words: string][]} */
export const LINKS = [
  [
    "The first proposal",
    "https://github.com/oobabooga/text-generation-webui/pull/6335",
    "Philipp Emanuel Weidmann (p-e-w) for text-generation-webui, 2024, with his reasons",
  ],
  [
    "XTC in llama.cpp",
    "https://github.com/ggml-org/llama.cpp/pull/9742",
    "the sampler that many programs use",
  ],
  ["ExLlamaV2", "https://github.com/turboderp-org/exllamav2", "another engine that has it"],
];

export const PAPER =
  "Weidmann, Roush, Goldfeder, Basu, Shwartz-Ziv: XTC: Head-Aware Sampling by Excluding Top Choices (preprint)";

// Every word of the interface, once: its name on the page and what it means. Pure.

/** @typedef {{ key: string, term: string, words: string }} Entry */

/** @type {[heading: string, entries: [key: string, term: string, words: string][]][]} */
const GROUPS = [
  [
    "The rule",
    [
      ["token", "token", "What the model writes in one step: a word, a part of one, a sign."],
      [
        "distribution",
        "distribution",
        "The probability of every possible next token. Adds up to 100 %.",
      ],
      [
        "xtc",
        "XTC",
        "Exclude top choices: when several tokens are plausible, remove the likeliest ones.",
      ],
      [
        "tau",
        "τ, the floor",
        "A token is plausible, or eligible, when its probability is at least τ.",
      ],
      [
        "rho",
        "ρ, the probability",
        "How often XTC acts when it could: 0 never, 0.5 every other time, 1 always.",
      ],
      ["eligible", "eligible", "Clears τ. XTC needs two such tokens, or it does nothing."],
      [
        "underdog",
        "underdog, kept",
        "The least likely eligible token: the one of them that XTC keeps.",
      ],
      [
        "removed",
        "removed",
        "The eligible tokens above the underdog. When XTC fires, they cannot be drawn.",
      ],
      ["removed_mass", "removed mass", "The probability of the removed tokens together."],
      [
        "tail",
        "tail, below τ",
        "All tokens that do not clear τ. XTC never removes them, and when it fires they grow with what is left.",
      ],
      [
        "tail_share",
        "implausible, tail share",
        "The probability of the tail together, before XTC and after.",
      ],
      [
        "renormalize",
        "renormalize",
        "Scale what is left up by one factor, so that it adds up to 100 % again.",
      ],
      ["strategy", "strategy", "Which eligible token XTC keeps."],
      ["keep_least", "keep the least likely", "The rule of XTC itself."],
      ["keep_second", "keep the second", "A variant: the second likeliest stays."],
      [
        "keep_random",
        "keep one at random",
        "A variant: one of the eligible tokens stays, by chance.",
      ],
      ["drop_top", "drop only the top", "A variant: only the likeliest goes."],
      [
        "protected",
        "protected",
        "Tokens that XTC must never remove, such as a line break or the end of the text. If one of them would go, XTC leaves the whole step alone.",
      ],
    ],
  ],
  [
    "What happened at a step",
    [
      ["step", "step", "One decision: the place of one token in one lane."],
      [
        "coin",
        "coin",
        "One random number from 0 to 1 for each step. XTC fires when it is below ρ.",
      ],
      [
        "fired",
        "fired",
        "Two or more tokens were eligible, the coin said yes: XTC removed all but the underdog.",
      ],
      ["skipped", "skipped", "XTC could have fired, but the coin said no."],
      ["unambiguous", "nothing to remove", "Fewer than two tokens cleared τ, so XTC did nothing."],
      ["off", "off", "XTC is switched off in this lane (ρ = 0)."],
      [
        "changed",
        "changed",
        "XTC fired, and the token drawn is not the one that the same dice would have drawn without it.",
      ],
      ["drawn", "▲ drawn", "The token that stands in the text."],
      ["instead", "△ would have been drawn", "What the same dice would have drawn without XTC."],
      [
        "from_tail",
        "~ from below τ",
        "Drawn from the tail: XTC fired, and the dice fell on a token below τ.",
      ],
      ["forced", "chosen by you", "You chose this token in place of the one drawn."],
      [
        "outcome",
        "outcome",
        "What XTC did at a step: one of fired, skipped, protected, nothing to remove.",
      ],
    ],
  ],
  [
    "The page",
    [
      ["prompt", "prompt", "The beginning that all lanes go on from."],
      ["lane", "lane", "One text with settings of its own, written beside the others."],
      ["baseline", "Baseline", "The lane without XTC."],
      ["base", "base", "The settings before XTC that all lanes share."],
      [
        "preset",
        "Light, Medium, Strong",
        "Strengths of XTC from the paper: ρ 0.25, 0.5 and 1, with τ 0.1.",
      ],
      [
        "dice",
        "shared dice",
        "All lanes draw from the same random numbers, so they stay the same until their settings make them differ.",
      ],
      [
        "seed",
        "seed",
        "The number that fixes the dice: the same seed and settings give the same text.",
      ],
      [
        "what_if",
        "what if",
        "Other settings of XTC along the text that is there. Nothing is written anew, so it is exact for each step and silent about the text that would have followed.",
      ],
      [
        "branch",
        "branch",
        "A new lane that takes another token at one step and goes on from there.",
      ],
      ["restore", "restore", "Branch with a token that XTC removed."],
      [
        "map",
        "map of ρ and τ",
        "How often XTC would fire along this text, and how much it would remove, for many settings.",
      ],
      [
        "stage",
        "stage by stage",
        "What each sampler made of the same tokens, in the order in which they act.",
      ],
      ["beside", "beside", "Two lanes at the same place, side by side."],
      [
        "timeline",
        "timeline",
        "All steps of all lanes in small: how much was removed, how many tokens were eligible, which words changed.",
      ],
      ["classroom", "classroom", "Text and bars large, for a room that looks on."],
      ["shelf", "shelf", "The runs of before, kept in this browser."],
      ["candidates", "candidates", "The likeliest tokens of a step, as many as are shown."],
      ["rest", "everything else", "All tokens that are not shown, together."],
      ["log_scale", "log scale", "Stretches small probabilities, so that they can be compared."],
      ["stepping", "step by step", "First look at the distribution and the coin, then draw."],
      [
        "bounded",
        "seen in part",
        "The model showed only its likeliest tokens, so some numbers are bounds.",
      ],
      [
        "thought",
        "thought",
        "What a reasoning model writes before its answer. It does not count in the numbers.",
      ],
      ["trace", "trace", "A run as a file: settings, seed, model and every step."],
      ["replay", "replay", "A page of its own that shows a run without a server."],
      [
        "finish",
        "end of text, stop text, length reached, context full",
        "Why a lane ended: the model said so, a text of yours came, it was long enough, or the model's context was full.",
      ],
    ],
  ],
  [
    "Numbers and colours",
    [
      ["probability", "probability, p", "How likely the model found a token, as XTC received it."],
      ["rank", "rank", "The place of a token in the list by probability. 1 is the likeliest."],
      [
        "surprisal",
        "surprise, surprisal",
        "How unexpected a token was, in bits: 1 bit for 50 %, 2 for 25 %, 3 for 12.5 %.",
      ],
      [
        "entropy",
        "uncertainty, entropy",
        "How open the choice was, in bits: the average surprise.",
      ],
      [
        "distinct2",
        "distinct-2",
        "How many of the pairs of neighbouring tokens are different ones. More is more varied. The Lab and the window of many seeds count pairs of words, as the paper does.",
      ],
      [
        "repeated3",
        "repeated trigrams",
        "How many of the groups of three tokens came before. Less is less repetitive. The Lab counts words.",
      ],
      [
        "difference",
        "difference",
        "Marks the tokens that differ from the other lane at the same place.",
      ],
      ["rate", "tokens/s", "How many tokens a lane gets in a second."],
    ],
  ],
];

/** Knobs whose words stand above. */
const OWN = new Set(["rho", "tau", "seed"]);

/** What a stage does, and under their names its further knobs. @param {string} stage @param {Spec} spec */
function stageWords(stage, { knobs, switches, stack }) {
  const names = switches[stage] ?? [];
  return stack
    .filter((name) => names.includes(name))
    .map((name) => knobs[name])
    .map(({ label, help }, place) => (place ? `${label}: ${help}` : help))
    .join(" ");
}

/** The samplers, in the words of their own knobs. @param {Spec} spec @returns {Entry[]} */
function samplers(spec) {
  const stages = spec.order
    .filter(([name]) => name !== "xtc")
    .map(([key, term]) => ({ key, term, words: stageWords(key, spec) }));
  const known = new Set([...OWN, ...stages.map(({ key }) => key)]);
  const knobs = Object.values(spec.knobs)
    .filter(({ name }) => !known.has(name))
    .map(({ name, label, help }) => ({ key: name, term: label, words: help }));
  return [...stages, ...knobs];
}

/**
 * All words under headings. Those of the samplers are the ones of their controls.
 * @param {Spec} spec
 * @returns {[heading: string, entries: Entry[]][]}
 */
export function glossary(spec) {
  const own = GROUPS.map(
    ([heading, entries]) =>
      /** @type {[string, Entry[]]} */ ([
        heading,
        entries.map(([key, term, words]) => ({ key, term, words })),
      ]),
  );
  return [...own, ["The other samplers and settings", samplers(spec)]];
}

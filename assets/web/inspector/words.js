// What is said of a step in a few words. Pure.

import { decimal, percent } from "../core/format.js";

/** @import { Cell } from "./distribution.js" */
/** @typedef {Pick<Look, "pending" | "imagined">} Light */

/** @type {Record<Outcome, string>} */
const VERDICT = {
  fired: "XTC fired",
  skipped: "The coin said no",
  protected: "Protected",
  unambiguous: "Nothing to remove",
};
/** @type {Record<Outcome, string>} */
const WOULD = {
  fired: "XTC would fire",
  skipped: "the coin would say no",
  protected: "a protected token would hold XTC back",
  unambiguous: "nothing to remove",
};
/** @type {Record<string, string>} */
const KINDS = {
  removed: "removed",
  kept: "kept",
  eligible: "eligible",
  tail: "below τ",
  rest: "",
};

/**
 * What happened at a step; `pending` is not drawn yet, `imagined` never was.
 * @param {StepView} step
 * @param {Light} light
 */
export function verdict(step, { pending, imagined }) {
  if (imagined) return `What if: ${WOULD[step.outcome]}`;
  if (step.forced) return "You chose this token";
  if (pending && step.outcome === "fired") return "XTC fires";
  if (step.outcome === "skipped" && step.rho === 0) return "XTC is off";
  return VERDICT[step.outcome] + (step.changed ? " and changed the word" : "");
}

/**
 * The share of all words below τ, before XTC and in what was drawn from.
 * @param {Pick<StepView, "tail" | "tail_bound">} step
 */
export function tailShare({ tail, tail_bound }) {
  const [before, after] = tail.map((share) => percent(share));
  const most = tail_bound ? "at most " : "";
  return most + (before === after ? before : `${before} → ${after}`);
}

/** @param {StepView} step @returns {[string, string][]} */
function numbers(step) {
  return [
    ["Rank of the drawn token", String(step.rank)],
    ["Surprise", `${decimal(-Math.log2(step.p))} bits`],
    ["Uncertainty (entropy)", `${decimal(step.entropy / Math.LN2)} bits`],
    ["Eligible tokens", String(step.eligible)],
    ["Implausible (below τ)", tailShare(step)],
  ];
}

/**
 * [name, value] pairs.
 * @param {StepView} step
 * @returns {[string, string][]}
 */
export function facts(step) {
  const fired = step.outcome === "fired";
  return [
    ...numbers(step),
    fired
      ? ["Removed", percent(step.removed_mass)]
      : ["Could be removed", percent(step.removable_mass)],
  ];
}

/**
 * [name, value, value]: the same of two lanes, with one name for both.
 * @param {StepView[]} steps
 * @returns {[string, string, string][]}
 */
export function factsOfTwo(steps) {
  const [a, b] = steps.map(({ outcome, removed_mass, removable_mass }) => {
    if (!removable_mass) return "–";
    const gone = outcome === "fired" ? percent(removed_mass).replace("\u00a0%", "") : "0";
    return `${gone} of ${percent(removable_mass)}`;
  });
  const [left, right] = steps.map(numbers);
  return [
    ...left.map(([name, value], i) => three(name, value, right[i][1])),
    ["Removed of possible", a, b],
  ];
}

/** @param {[string, string, string]} texts */
const three = (...texts) => texts;

/** What ▲ says: a what-if goes along a text that was drawn under other settings. */
export function drawnSign(/** @type {boolean} */ imagined) {
  return imagined ? "the text's word" : "drawn";
}

/**
 * What a candidate is, and whether it was drawn, or stands in the text of a what-if.
 * @param {Pick<Cell, "known" | "p" | "kind" | "drawn" | "instead">} cell
 * @param {boolean} imagined
 */
export function stateOf(cell, imagined) {
  if (!cell.known && cell.p === 0) return "cut before XTC";
  if (!cell.known) return "not among the recorded";
  const states = [KINDS[cell.kind]];
  if (cell.drawn) states.push(drawnSign(imagined));
  if (cell.instead) states.push("would have been drawn");
  return states.filter(Boolean).join(", ");
}

/**
 * Which settings before XTC two lanes do not share, by their labels.
 * @param {Sampler<Typed>} a
 * @param {Sampler<Typed>} b
 * @param {Spec["knobs"]} knobs
 */
function apart(a, b, knobs) {
  const others = new Map(Object.entries(b));
  const labels = new Map(Object.entries(knobs).map(([name, { label }]) => [name, label]));
  return Object.entries(a)
    .filter(([name, value]) => name !== "xtc" && String(value) !== String(others.get(name)))
    .map(([name]) => labels.get(name)?.toLowerCase() ?? "the order of the stages");
}

/**
 * Whether two lanes chose from the same probabilities at position `i`, and why. `samplers` are
 * their settings, `parted` is where their texts begin to differ, -1 where they never do.
 * @param {Sampler<Typed>[]} samplers
 * @param {number} parted
 * @param {number} i
 * @param {Spec["knobs"]} knobs
 */
export function sameness(samplers, parted, i, knobs) {
  if (parted >= 0 && parted < i) {
    return `The texts differ since token ${parted + 1}, so these are two different distributions.`;
  }
  const [a, b] = samplers;
  const start = i
    ? "Both lanes have written the same text so far"
    : "Both lanes begin at the same prompt";
  const same = `${start}, so the model gives both the same probabilities`;
  const other = apart(a, b, knobs);
  const here = parted === i ? " Here they part." : "";
  if (other.length)
    return `${same}; what reaches XTC differs by their settings (${other.join(", ")}).${here}`;
  if (JSON.stringify(a.xtc) === JSON.stringify(b.xtc))
    return `${same}, and their settings are the same too.${here}`;
  return `${same}; only the settings of XTC differ.${here}`;
}

// What a figure is called: the lines over and under it, and the name of its file. Pure.

import { dialectOf, PAPER } from "../core/dialect.js";
import { shown } from "../core/format.js";
import { besideName, laneTag } from "../core/lanetag.js";

/** @import { Names } from "../core/lanetag.js" */
/**
 * A lane as a figure shows it, with its XTC settings.
 * @typedef {{ name: string, sampler: Sampler<Typed>, imagined?: boolean }} NamedLane
 * @typedef {Pick<RunHead, "prompt" | "model" | "seed" | "shared" | "server">} Origin
 */

const LONGEST = 24; // characters of a word in a file's name

/** A text as a part of a file's name. @param {string} text */
export function slug(text) {
  const plain = text.normalize("NFKC").toLowerCase();
  const words = plain.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, LONGEST);
  return words.replace(/^-|-$/g, "");
}

/**
 * How strong XTC was: "rho0.5-tau0.1", or "off".
 * @param {Pick<NamedLane, "sampler">} lane
 */
function strength({ sampler }) {
  const { rho, tau } = sampler.xtc;
  const dialect = dialectOf(sampler.xtc);
  const engine = dialect === PAPER ? "" : `-${slug(dialect)}`;
  return rho === 0 ? "off" : `rho${rho}-tau${tau}${engine}`;
}

/**
 * The name of a figure's file without its ending: "xtc-bars-step5-village-rho0.5-tau0.1-seed7".
 * Words and step are those of a view of one step; two lanes stand by their names.
 * @param {string} view
 * @param {{ lanes: NamedLane[], seed: number, step?: number, words?: string[] }} what
 */
export function fileName(view, { lanes, seed, step, words = [] }) {
  const [lane, ...others] = lanes;
  const names = others.length > 1 ? [`${lanes.length}-lanes`] : lanes.map(({ name }) => slug(name));
  const whose = others.length
    ? names
    : [...(step === undefined ? [slug(lane.name)] : []), strength(lane)];
  const parts = [
    "xtc",
    view,
    step === undefined ? "" : `step${step}`,
    ...new Set(words.map(slug)),
    ...whose,
    lanes.some(({ imagined }) => imagined) ? "what-if" : "",
    `seed${seed}`,
  ];
  return parts.filter(Boolean).join("-");
}

/** @param {NamedLane} lane @param {Names} spec */
export function laneLine({ name, sampler, imagined }, spec) {
  const off = sampler.xtc.rho === 0 ? " · XTC off" : "";
  return `${name}: ${imagined ? "what if " : ""}${besideName(laneTag(sampler, spec), name)}${off}`;
}

/** @param {string} prompt */
export function beginning(prompt) {
  const start = prompt.trim().replace(/\s+/g, " ");
  return `“${start.length > 60 ? `${start.slice(0, 59)}…` : start}”`;
}

/**
 * The lines over a view of one step: which word, after what, under which settings.
 * @param {(NamedLane & Pick<Look, "at" | "word" | "pending">)[]} looks
 * @param {string} prompt
 * @param {Names} spec
 */
export function stepLines(looks, prompt, spec) {
  const [{ at, pending }] = looks;
  const single = looks.length === 1;
  const drew = looks.map(({ word, name }) => {
    const plain = shown(word.trim() || word);
    return single ? plain : `${plain} (${name})`;
  });
  const what = pending ? "not drawn yet" : drew.join(", ");
  const first = `${beginning(prompt)}${at.i ? " …" : ""} token ${at.i + 1}: ${what}`;
  return [first, ...looks.map((look) => laneLine(look, spec))];
}

/**
 * The line under every figure.
 * @param {Origin} head
 */
export function origin({ model, seed, shared, server }) {
  const apart = shared ? "" : " · dice of its own for each lane";
  const dice = server ? " · drawn by its server" : apart;
  return `Model ${model.name} · seed ${seed}${dice} · xtc_viz`;
}

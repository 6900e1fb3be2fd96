// One question of "Guess what survives": the words of a step, which of them XTC leaves, and why.
// Pure.

import { percent, setting } from "../core/format.js";
import { rows } from "../inspector/distribution.js";

/** @import { Row } from "../inspector/distribution.js" */
/** @import { Level } from "./levels.js" */
/** @typedef {"removed" | "kept" | "tail" | "alone" | "held" | "cut"} Fate */
/**
 * `fates` are those of the words in `list`, by id, when the coin says yes; `before` is the text up
 * to the step, `note` what else must be known, `imagined` that it is a what-if.
 * @typedef {{ level: Level, at: Place, step: StepView, texts: Texts, list: Row[],
 *   fates: Map<number, Fate>, before: string, note: Sentence, imagined: boolean }} Question
 */

const SHOWN = 6; // words, or three more than are eligible
const READ = 110; // characters before the step

/** @type {Record<Fate, string>} */
const WHY = {
  removed: "gone: it clears τ, and so does a less likely word",
  kept: "kept: of the words that clear τ it is the least likely",
  tail: "still possible: XTC never removes what is below τ",
  alone: "still possible: XTC needs two words that clear τ",
  held: "still possible: a protected word would have to go, so XTC leaves all",
  cut: "gone: min-p cut it before XTC looked",
};

/** Whether a word can still be drawn. @param {Fate | undefined} fate */
export function survives(fate) {
  return fate !== "removed" && fate !== "cut";
}

/**
 * What becomes of each word of a step when the coin says yes; `guard` are protected.
 * @param {Pick<StepView, "ids" | "eligible" | "underdog">} step
 * @param {Set<number>} guard
 * @returns {(id: number) => Fate}
 */
export function fateOf({ ids, eligible, underdog }, guard) {
  const clear = new Set(ids.slice(0, eligible));
  const held = [...clear].some((id) => id !== underdog && guard.has(id));
  return (id) => {
    if (eligible < 2) return "alone";
    if (held) return "held";
    if (!clear.has(id)) return "tail";
    return id === underdog ? "kept" : "removed";
  };
}

/** The end of the text before a place. @param {string} prompt @param {readonly Chip[]} chips @param {number} i */
export function textBefore(prompt, chips, i) {
  const text =
    prompt +
    chips
      .slice(0, i)
      .map((chip) => chip.text)
      .join("");
  const dense = text.replace(/\n+/g, "\n");
  if (dense.length <= READ) return dense;
  const cut = dense.slice(-READ);
  return `…${cut.slice(Math.max(0, cut.indexOf(" ")))}`;
}

/** How many words are shown. @param {number} eligible */
function room(eligible) {
  return Math.max(SHOWN, eligible + 3);
}

/** A step before its draw. @param {StepView} step @returns {StepView} */
export function undrawn(step) {
  return { ...step, token: -1, instead: -1, changed: false };
}

/**
 * @param {Omit<Question, "list" | "fates" | "note"> & { guard: Set<number> }} parts
 * @returns {Question}
 */
export function question({ guard, ...parts }) {
  const { step, texts, imagined } = parts;
  const list = rows(undrawn(step), texts, room(step.eligible));
  const fate = fateOf(step, guard);
  const named = step.ids.filter((id) => guard.has(id)).slice(0, 3);
  const held = parts.level.name === "protected" && named.length > 0;
  const given = held ? ["Protected here: ", ...named.flatMap((id) => [id, " "])] : [];
  const what = imagined
    ? [`What if τ were ${setting(step.tau)}: a real step, other settings. `]
    : [];
  const note = held && imagined ? [...given, "(what if: a real step, with this protection)"] : what;
  return {
    ...parts,
    list,
    fates: new Map(list.filter(({ id }) => id >= 0).map(({ id }) => [id, fate(id)])),
    note: note.length ? note : given,
  };
}

/**
 * The question behind min-p: words as the model gave them, of which min-p cuts some before XTC.
 * Null where it cut none of those that are shown.
 * @param {Omit<Question, "list" | "fates" | "note"> & { guard: Set<number> }} given
 * @param {StageView} view
 * @param {number} minP
 * @returns {Question | null}
 */
export function questionBehind({ guard, ...parts }, view, minP) {
  const { step } = parts;
  const names = view.stages.map(({ name }) => name);
  const at = names.findIndex((name) => name.includes("min_p"));
  if (at < 1) return null;
  const [before, left] = [view.stages[at - 1], view.stages[at]];
  const top = Math.max(...before.probs);
  const line = minP * top;
  const order = view.ids
    .map((id, i) => ({ id, p: before.probs[i], q: left.probs[i] }))
    .filter(({ p }) => p > 0)
    .sort((a, b) => b.p - a.p);
  const cut = order.findIndex(({ q }) => q === 0);
  const most = room(step.eligible) + 2;
  if (cut < 0 || cut >= most) return null;
  const shown = order.slice(0, Math.min(most, Math.max(cut + 2, SHOWN)));
  const fate = fateOf(step, guard);
  const texts = { ...parts.texts, ...view.texts };
  const clear = new Set(step.ids.slice(0, step.eligible));
  /** @type {Row[]} */
  const list = shown.map(({ id, p }) => ({
    ...{ id, p, q: 0, kind: "tail", drawn: false, instead: false, known: true },
    text: texts[id] ?? "?",
  }));
  const rest = 1 - shown.reduce((sum, { p }) => sum + p, 0);
  list.push({ ...list[0], id: -1, p: Math.max(0, rest), text: "everything else" });
  const note = [
    `Min-p ${setting(minP)} acts first: it cuts every word below ${percent(minP)} of the top one's `,
    `${percent(top)}, which is ${percent(line)}. XTC sees what is left, scaled up to 100 %.`,
  ];
  return {
    ...parts,
    texts,
    list,
    fates: new Map(
      shown.map(({ id, q }) => [
        id,
        q === 0 && !clear.has(id) ? /** @type {Fate} */ ("cut") : fate(id),
      ]),
    ),
    note: [note.join("")],
  };
}

/**
 * A guess held to a question: how many words were judged rightly, and the `wrong` ones, those of
 * one fate together with the reason.
 * @param {Pick<Question, "fates">} question
 * @param {Set<number>} marked what is thought to survive
 */
export function judge({ fates }, marked) {
  const all = [...fates];
  const missed = all.filter(([id, fate]) => marked.has(id) !== survives(fate));
  const kinds = [...new Set(missed.map(([, fate]) => fate))];
  const wrong = kinds.map((kind) => ({
    ids: missed.flatMap(([id, fate]) => (fate === kind ? [id] : [])),
    why: WHY[kind],
  }));
  return { right: all.length - missed.length, of: all.length, wrong, all: !missed.length };
}

/**
 * What the coin did, in a sentence.
 * @param {Pick<StepView, "coin" | "rho" | "eligible" | "outcome">} step
 */
export function coinWords({ coin, rho, eligible, outcome }) {
  if (eligible < 2)
    return "Fewer than two words clear τ: XTC does nothing, whatever the coin says.";
  const [fell, limit] = [coin.toFixed(2), setting(rho)];
  if (coin >= rho)
    return `The coin fell at ${fell}, not under ρ = ${limit}: this time all words stay. Had it said yes:`;
  const yes = `The coin fell at ${fell}, under ρ = ${limit}`;
  return outcome === "protected" ? `${yes}, but XTC must hold back.` : `${yes}: XTC fires.`;
}

// The stops of the tour through one step, and what of the bars each of them shows. Pure.

import { besideThreshold, count, percent, setting } from "../core/format.js";
import { FIRED } from "../session/chips.js";

/** @import { BarCell, BarView } from "../inspector/barparts.js" */
/** @import { Run } from "../session/run.js" */
/** @typedef {typeof STOPS[number]} Stop */
/** @typedef {Pick<StepView, "ids" | "probs" | "final" | "eligible" | "removed" | "kept" | "tail" | "removed_mass" | "coin" | "rho" | "tau" | "token" | "instead" | "changed">} Fired */

export const STOPS = /** @type {const} */ ([
  "distribution",
  "floor",
  "eligible",
  "coin",
  "strike",
  "renormalize",
  "draw",
  "yours",
]);

/** Where each stop points: the first of these that can be seen. @type {Record<Stop, string[]>} */
export const TARGETS = {
  distribution: [".inspector .bars"],
  floor: [".inspector .bars"],
  eligible: [".inspector .bars"],
  coin: [".inspector .coin-box"],
  strike: [".inspector .bars"],
  renormalize: [".inspector .bars"],
  draw: [".inspector [data-testid=sentence]"],
  yours: [".composer .knob:has([data-field=rho])", ".composer .fold"],
};

/**
 * A step at which XTC fired: the one that is looked at, else one that shows much. Null where it
 * never fired.
 * @param {Pick<Run, "lanes">} run
 * @param {Place | null} selected
 * @returns {Place | null}
 */
export function firedStep({ lanes }, selected) {
  const chipAt = (/** @type {Place | null} */ at) => (at ? lanes[at.lane]?.chips[at.i] : undefined);
  if (selected && chipAt(selected)?.outcome === FIRED) return selected;
  const all = lanes.flatMap(({ chips }, lane) =>
    chips.flatMap((chip, i) => (chip.outcome === FIRED ? [{ at: { lane, i }, chip }] : [])),
  );
  const best =
    all.find(({ chip }) => chip.changed && chip.eligible >= 3) ??
    all.find(({ chip }) => chip.changed) ??
    all[0];
  return best?.at ?? null;
}

/** Words in a row: `a, b and c`. @param {number[]} ids @returns {Sentence} */
function named(ids) {
  return ids.flatMap((id, k) => {
    const last = k > 0 && k === ids.length - 1;
    return k ? [last ? " and " : ", ", id] : [id];
  });
}

/** What a word is drawn with. @param {Fired} step @param {number} id */
function after({ ids, probs, final, removed_mass: removed }, id) {
  const i = ids.indexOf(id);
  return final ? final[i] : probs[i] / (1 - removed);
}

/**
 * What is said at a stop.
 * @param {Stop} stop
 * @param {Fired} step
 * @returns {Sentence}
 */
export function stopWords(stop, step) {
  const { ids, probs, eligible, removed, kept, coin, rho, tau } = step;
  const clear = ids.slice(0, eligible);
  const [tail, grown] = step.tail;
  switch (stop) {
    case "distribution":
      return [
        "Before each word the model gives every possible next one a probability. These are the likeliest; ",
        clear[0],
        ` leads with ${percent(probs[0])}.`,
      ];
    case "floor":
      return [
        `The dashed line is τ, the floor. A word is plausible when its bar reaches ${percent(tau)}.`,
      ];
    case "eligible":
      return [
        `${count(eligible, "word")} clear it: `,
        ...named(clear),
        ". With two or more, XTC may act; with fewer it never does.",
      ];
    case "coin":
      return [
        `A coin decides. It fell at ${besideThreshold(coin, rho)}, below ρ = ${setting(rho)}, so XTC fires.`,
        rho < 1 ? ` It does so in ${percent(rho)} of such cases.` : " With ρ = 1 it always does.",
      ];
    case "strike":
      return [
        "XTC strikes out ",
        ...named(removed),
        " and keeps the least likely plausible word, ",
        ...named(kept),
        ".",
      ];
    case "renormalize":
      return [
        "What is left is scaled up to 100 %: ",
        ...kept.flatMap((id) => [
          id,
          ` goes from ${percent(probs[ids.indexOf(id)])} to ${percent(after(step, id))}`,
        ]),
        tail > 0
          ? `. The words below τ grow too, from ${percent(tail)} together to ${percent(grown)}.`
          : ".",
      ];
    case "draw":
      return step.changed
        ? [
            "The dice drew ",
            step.token,
            ". Without XTC the same dice would have drawn ",
            step.instead,
            ".",
          ]
        : ["The dice drew ", step.token, ", which they would have drawn without XTC too."];
    default:
      return [
        "Now you: move ρ. The page says at once where XTC would fire along this text. “Put back” undoes it.",
      ];
  }
}

/** @param {BarCell} cell @returns {BarCell} */
const blank = (cell) => ({ ...cell, bar: 0, value: "", short: undefined, restore: false });

/**
 * The bars as far as a stop has come.
 * @param {BarView} view before and after XTC
 * @param {Stop} stop
 * @returns {BarView}
 */
export function unveiled(view, stop) {
  const n = STOPS.indexOf(stop);
  const reached = (/** @type {Stop} */ other) => n >= STOPS.indexOf(other);
  const kindOf = (/** @type {string} */ kind) => {
    if (kind === "rest" || reached("strike")) return kind;
    return kind === "tail" || !reached("eligible") ? "tail" : "eligible";
  };
  const [before, behind] = view.heads;
  const head = reached("floor") ? before : { ...before, tau: undefined };
  return {
    ...view,
    heads: [head, reached("strike") ? behind : { ...behind, title: "" }],
    list: view.list.map((row) => {
      const [p, q] = row.cells;
      const kind = kindOf(row.kind);
      const shows = reached("renormalize") || (reached("strike") && row.kind === "removed");
      const drawn = reached("draw");
      return {
        ...row,
        kind,
        drawn: drawn && row.drawn,
        sign: drawn ? row.sign : "",
        cells: [{ ...p, kind: kindOf(p.kind) }, shows ? q : blank({ ...q, kind })],
      };
    }),
  };
}

// The stages of a step drawn: a column of bars for each, and over it the cutoff of the next.

import { s, setText } from "../core/dom.js";
import { percent, setting, shown } from "../core/format.js";
import { cutLine, extent } from "./cutline.js";

const ROW = 20;
const TOP = 40;
const LABELS = 120; // room for the tokens, and for a column
const WIDE = 150;
const NARROW = 85; // the least in which bars can be told apart
const NUMBER = 52; // of a column, behind its bars

/** @typedef {(x: number) => SVGElement} Cut A line over the bars of a column. */

/** @param {string} text @param {number} most characters */
function shorten(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/**
 * The pixels for so many stages in a box: all of them in sight, as long as bars can be read.
 * @param {number} stages
 * @param {number} box
 */
export function roomFor(stages, box) {
  return Math.max(LABELS + NARROW * stages, Math.min(box, LABELS + WIDE * stages));
}

/**
 * `name` gives a stage's name for people, `width` is room for all columns, in pixels; without it
 * they take what they need.
 * @param {StageView} view
 * @param {(stage: string) => string} name
 * @param {number} [width]
 */
export function stageBars(view, name, width = LABELS + WIDE * view.stages.length) {
  const wide = (width - LABELS) / view.stages.length;
  const height = TOP + ROW * (view.ids.length + 1) + 6;
  const kindOf = kinds(view);
  /** @type {SVGElement[]} */
  const parts = [];
  for (const [j, id] of [...view.ids, -1].entries()) {
    const y = TOP + ROW * j + 14;
    const words = id < 0 ? "everything else" : shown(view.texts[id]);
    const label = s("text", { x: 0, y, class: id === view.token ? "label drawn" : "label" });
    setText(label, shorten(words, 16));
    parts.push(label);
  }
  for (const [k, stage] of view.stages.entries()) {
    const x = LABELS + wide * k;
    const room = wide - NUMBER;
    const title = shorten(name(stage.name), Math.floor(wide / 7));
    parts.push(s("text", { x, y: 14, class: "head" }, title));
    parts.push(s("line", { x1: x, x2: x, y1: TOP - 4, y2: height - 6, class: "zero" }));
    /** @type {[number, number][]} */
    const spans = [];
    for (const [j, p] of [...stage.probs, stage.rest].entries()) {
      const y = TOP + ROW * j;
      const gone = p === 0 && (k ? view.stages[k - 1].probs[j] > 0 : false);
      const words = gone ? "✕" : p > 0 ? percent(p) : "";
      const behind = x + p * room + 4;
      spans.push(words ? [behind - 3, behind + extent(words) + 3] : [0, 0]);
      parts.push(
        s("rect", {
          x,
          y: y + 3,
          height: 13,
          width: Math.max(p > 0 ? 1 : 0, p * room),
          class: `bar ${kindOf(k, view.ids[j])}`,
        }),
        s("text", { x: behind, y: y + 14, class: gone ? "value gone" : "value" }, words),
      );
    }
    /** @type {Cut} */
    const cut = (at) => {
      /** @type {[number, number][]} */
      const gaps = [];
      for (const [j, [from, to]] of spans.entries()) {
        if (at > from && at < to) gaps.push([TOP + ROW * j + 1, TOP + ROW * j + 18]);
      }
      return s("path", { d: cutLine(at, TOP - 8, height - ROW - 6, gaps), class: "tau" });
    };
    cutoff(parts, view, k, x, room, cut);
  }
  return { width, height, parts };
}

/**
 * The colours of the bars above, from what XTC received on; before it all bars are alike.
 * @param {StageView} view
 */
function kinds({ stages, eligible, removed }) {
  const received = stages.findIndex(({ name }) => name === "xtc") - 1;
  const [clear, gone] = [new Set(eligible), new Set(removed)];
  return (/** @type {number} */ k, /** @type {number} */ id) => {
    if (k < received || !clear.has(id)) return "";
    if (gone.has(id)) return "removed";
    return gone.size ? "kept" : "eligible";
  };
}

/**
 * A stage's cutoff lies on the column before it: a line, or for top-p a staircase.
 * @param {SVGElement[]} parts
 * @param {StageView} view
 * @param {number} k
 * @param {number} x
 * @param {number} room
 * @param {Cut} cut
 */
function cutoff(parts, view, k, x, room, cut) {
  const next = view.stages[k + 1];
  if (next?.line) {
    const at = x + next.line * room;
    parts.push(
      cut(at),
      s(
        "text",
        { x: at + 3, y: TOP - 10, class: "tau-text" },
        `${next.name === "xtc" ? "τ" : "cut"} ${setting(next.line)}`,
      ),
    );
  }
  if (!next?.reach || next.name !== "top_p") return;
  let sum = 0;
  let path = `M${x} ${TOP}`;
  for (const [j, p] of view.stages[k].probs.entries()) {
    sum += p;
    path += `H${x + Math.min(1, sum) * room}V${TOP + ROW * (j + 1)}`;
  }
  const at = x + next.reach * room;
  parts.push(
    s("path", { d: path, class: "stairs" }),
    cut(at),
    s(
      "text",
      { x: at - 3, y: TOP - 10, class: "tau-text", "text-anchor": "end" },
      `p ${setting(next.reach)}`,
    ),
  );
}

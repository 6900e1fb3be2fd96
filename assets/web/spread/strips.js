// How one number of the texts lies over the seeds: a strip of dots for each lane, one dot a seed.

import { h, s } from "../core/dom.js";
import { decimal } from "../core/format.js";
import { dodged, estimated, scaleOf, tick, written } from "./strip.js";

/** @import { Result } from "./spread.js" */

const WIDTH = 340;
const SIDE = 12; // room for half a dot and half a number at either end
const NAME = 17; // for a lane's name
const STRIP = 40; // for its dots, and its mean below them
const FOOT = 22; // for the numbers of the scale
const DOT = 4;
const ROOM = 11; // above and below the line of the dots
const LONGEST = 38; // characters of a lane's name

/**
 * One number of all lanes as a figure. `shown` is the seed of the run on show, `chosen` the one
 * whose texts are read; `onchoose(seed)` follows a click on a dot.
 * @param {Result} result
 * @param {number} place of the quantity
 * @param {{ shown: number | null, chosen: number | null, onchoose: (seed: number) => void }} marks
 */
export function strips({ head, rows, summary }, place, { shown, chosen, onchoose }) {
  const { name, label, meaning, unit } = head.quantities[place];
  const of = (/** @type {SpreadRow} */ row, /** @type {number} */ k) => row.lanes[k].values[place];
  const means = head.lanes.map((_, k) => summary?.means[k][place] ?? null);
  const known = rows.flatMap((row) => row.lanes.map((_, k) => of(row, k)));
  const ends = means.flatMap((one) => one ?? []);
  const scale = scaleOf(
    [...known, ...ends].filter((x) => x !== null),
    unit,
  );
  const x = (/** @type {number} */ value) =>
    SIDE + ((WIDTH - 2 * SIDE) * (value - scale.low)) / (scale.high - scale.low);
  const height = head.lanes.length * (NAME + STRIP) + FOOT;
  const words = head.lanes.map((lane, k) => `${lane.name}: ${estimated(means[k], unit)}`);
  const svg = s(
    "svg",
    {
      class: `strips of-${name}`,
      viewBox: `0 0 ${WIDTH} ${height}`,
      role: "img",
      "aria-label": `${label}, ${rows.length} seeds. ${summary ? words.join("; ") : ""}`,
    },
    scale.ticks.map((value) =>
      s("line", { class: "grid", x1: x(value), x2: x(value), y1: NAME - 4, y2: height - FOOT + 4 }),
    ),
    scale.ticks.map((value) =>
      s(
        "text",
        { class: "tick", x: x(value), y: height - 5, "text-anchor": "middle" },
        tick(value, unit),
      ),
    ),
  );
  for (const [k, lane] of head.lanes.entries()) {
    const top = k * (NAME + STRIP);
    const line = top + NAME + ROOM + DOT;
    const floor = name === "tail_after" ? `, below τ ${decimal(lane.tau, 2)}` : "";
    const short = lane.name.length > LONGEST ? `${lane.name.slice(0, LONGEST)}…` : lane.name;
    svg.append(s("text", { class: "lane-name", x: 1, y: top + 12 }, short + floor));
    svg.append(s("line", { class: "base", x1: SIDE, x2: WIDTH - SIDE, y1: line, y2: line }));
    const dots = rows.flatMap((row) => {
      const value = of(row, k);
      return value === null ? [] : [{ seed: row.seed, value }];
    });
    const ys = dodged(
      dots.map(({ value }) => x(value)),
      DOT,
      ROOM,
    );
    const drawn = dots.map(({ seed, value }, i) =>
      dot(x(value), line + ys[i], {
        shown: seed === shown,
        chosen: seed === chosen,
        words: `Seed ${seed}: ${written(value, unit)}`,
        onclick: () => onchoose(seed),
      }),
    );
    // The marked ones lie over the others.
    svg.append(...drawn.filter((_, i) => dots[i].seed !== shown && dots[i].seed !== chosen));
    svg.append(...drawn.filter((_, i) => dots[i].seed === shown || dots[i].seed === chosen));
    const mean = means[k];
    if (mean) svg.append(...interval(mean, x, top + NAME + STRIP - 6));
  }
  return h(
    "figure",
    { "data-quantity": name },
    h("figcaption", {}, h("b", {}, label), h("span", {}, meaning)),
    svg,
  );
}

/**
 * @param {number} cx
 * @param {number} cy
 * @param {{ shown: boolean, chosen: boolean, words: string, onclick: () => void }} of
 */
function dot(cx, cy, { shown, chosen, words, onclick }) {
  const wide = 1.7 * DOT;
  const diamond = `M${cx} ${cy - wide}L${cx + wide} ${cy}L${cx} ${cy + wide}L${cx - wide} ${cy}Z`;
  const mark = shown ? s("path", { d: diamond }) : s("circle", { cx, cy, r: DOT });
  const ring = chosen ? s("circle", { class: "ring", cx, cy, r: 2.1 * DOT }) : null;
  return s("g", { class: shown ? "dot shown" : "dot", onclick }, s("title", {}, words), mark, ring);
}

/** @param {SpreadEstimate} estimate @param {(value: number) => number} x @param {number} y */
function interval([mean, low, high], x, y) {
  if (mean === null) return [];
  const at = s("line", { class: "mean", x1: x(mean), x2: x(mean), y1: y - 5, y2: y + 5 });
  if (low === null || high === null || low === high) return [at];
  const bar = s("path", {
    class: "interval",
    d: `M${x(low)} ${y - 3}v6M${x(low)} ${y}H${x(high)}M${x(high)} ${y - 3}v6`,
  });
  return [bar, at];
}

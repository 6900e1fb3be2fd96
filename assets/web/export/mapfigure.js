// The map of ρ and τ as a figure: with names on both axes, and a scale with its unit.

import { s } from "../core/dom.js";
import { decimal, setting } from "../core/format.js";

/** @import { Paper } from "./paper.js" */

const LEFT = 46;
const BOTTOM = 44;
const TOP = 8;
const SCALE = 84; // room for the scale and its unit
const BAR = 14;
const RING = 7;
const FAINT = 0.04; // how strong the colour is at 0, and how much stronger at the most
const STRONG = 0.9;
export const UNIT = "interventions per 100 tokens";

/**
 * About so many round numbers from 0 to at most `top`.
 * @param {number} top
 */
export function ticks(top, about = 4) {
  const rough = top / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((each) => each >= rough) ?? rough;
  const count = Math.floor(top / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

/**
 * Where a τ lies among those of the map: 0 is the middle of the first column, 1 of the second; null
 * where it is outside.
 * @param {number[]} taus
 * @param {number} tau
 */
export function column(taus, tau) {
  const after = taus.findIndex((value) => value >= tau);
  if (after < 0 || tau < taus[0]) return null;
  if (!after) return 0;
  return after - 1 + (tau - taus[after - 1]) / (taus[after] - taus[after - 1]);
}

/**
 * `now` are the settings of the lane, ringed where they lie on the map.
 * @param {StrengthGrid} grid
 * @param {{ rho: number, tau: number }} now
 * @param {Paper} paper
 */
export function mapFigure({ rhos, taus, interventions }, now, paper) {
  const ink = (/** @type {string} */ name) => paper.ink(name);
  const room = paper.width - LEFT - SCALE;
  const tall = Math.max(180, Math.min(420, room * 0.6));
  const height = TOP + tall + BOTTOM;
  const top = Math.max(0.001, ...interventions.flat());
  const [wide, high] = [room / taus.length, tall / rhos.length];
  const text = (
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {string} */ words,
    /** @type {Props} */ props = {},
  ) => s("text", { x, y, "text-anchor": "middle", fill: ink("ink-2"), ...props }, words);
  const cells = rhos.flatMap((_, i) =>
    taus.map((_, j) =>
      s("rect", {
        x: LEFT + wide * j,
        y: TOP + tall - high * (i + 1),
        width: wide - 0.5,
        height: high - 0.5,
        fill: ink("removed"),
        "fill-opacity": decimal(FAINT + (STRONG * interventions[i][j]) / top, 3),
      }),
    ),
  );
  const every = wide < 34 ? 2 : 1;
  const tauTicks = taus.map((tau, j) =>
    j % every ? null : text(LEFT + wide * (j + 0.5), TOP + tall + 16, setting(tau)),
  );
  const rhoTicks = rhos.map((rho, i) => {
    const y = TOP + tall - high * (i + 0.5) + 4;
    return i % 2 ? null : text(LEFT - 6, y, decimal(rho, 1), { "text-anchor": "end" });
  });
  const middle = TOP + tall / 2;
  /** @type {(SVGElement | null)[]} */
  const parts = [
    ...cells,
    ...tauTicks,
    ...rhoTicks,
    text(LEFT + room / 2, height - 6, "τ, the plausibility floor"),
    text(12, middle, "ρ, how often XTC acts", { transform: `rotate(-90 12 ${middle})` }),
    ...scale(top, paper, tall),
  ];
  const at = column(taus, now.tau);
  if (at !== null) {
    const cx = LEFT + wide * (at + 0.5);
    const cy = TOP + tall - high * (now.rho * (rhos.length - 1) + 0.5);
    const ring = { cx, cy, fill: "none" };
    parts.push(
      s("circle", { ...ring, r: RING, stroke: ink("paper"), "stroke-width": 5 }),
      s("circle", { ...ring, r: RING, stroke: ink("ink"), "stroke-width": 2.5 }),
    );
  }
  return { node: s("g", {}, parts), height };
}

/**
 * From the faintest colour to the strongest, with numbers and their unit.
 * @param {number} top
 * @param {Paper} paper
 * @param {number} tall
 */
function scale(top, paper, tall) {
  const ink = (/** @type {string} */ name) => paper.ink(name);
  const x = paper.width - SCALE + 16;
  const stop = (/** @type {number} */ offset, /** @type {number} */ opacity) =>
    s("stop", { offset, "stop-color": ink("removed"), "stop-opacity": opacity });
  const ends = [stop(0, FAINT), stop(1, FAINT + STRONG)];
  const marks = ticks(100 * top).flatMap((value) => {
    const y = TOP + tall * (1 - value / (100 * top));
    const line = { x1: x + BAR, x2: x + BAR + 4, y1: y, y2: y, stroke: ink("ink-2") };
    const words = { x: x + BAR + 8, y: y + 4, fill: ink("ink-2") };
    return [s("line", line), s("text", words, String(value))];
  });
  const middle = TOP + tall / 2;
  const far = paper.width - 2;
  const turn = { transform: `rotate(-90 ${far} ${middle})`, "text-anchor": "middle" };
  return [
    s("linearGradient", { id: "amount", x1: 0, x2: 0, y1: 1, y2: 0 }, ends),
    s("rect", { x, y: TOP, width: BAR, height: tall, fill: "url(#amount)", stroke: ink("line") }),
    ...marks,
    s("text", { x: far, y: middle, fill: ink("ink-2"), ...turn }, UNIT),
  ];
}

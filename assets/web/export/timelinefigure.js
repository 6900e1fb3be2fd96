// The run at a glance as a figure: lane under lane, what was removed and how many were eligible.

import { s } from "../core/dom.js";
import { FIRED } from "../session/chips.js";
import { diamond, wordSign } from "./figure.js";
import { ticks } from "./mapfigure.js";

/** @import { Run } from "../session/run.js" */
/** @import { Paper } from "./paper.js" */

const LEFT = 44;
const NAME = 24; // over a lane: its name
const MASS = 64; // the height of 100 % removed
const SIZE = 22; // below its line: how many tokens were eligible
const GAP = 14;
const BOTTOM = 36;
const LEAST = 3; // pixels of a bar: thinner, neither hatching nor circles could be told apart
const [SKIPPED, PROTECTED] = [1, 2]; // places in OUTCOMES

/**
 * So many tokens of each lane as `shown` says.
 * @param {Run} run
 * @param {number[]} shown
 * @param {Paper} paper
 */
export function timelineFigure(run, shown, paper) {
  const ink = (/** @type {string} */ name) => paper.ink(name);
  const length = Math.max(1, ...shown);
  const step = (paper.width - LEFT) / length;
  const wide = Math.max(0.5, Math.min(10, step * 0.7));
  const band = NAME + MASS + SIZE + GAP;
  const height = band * shown.length + BOTTOM - GAP;
  const outcomes = shown.map((count, k) =>
    Array.from({ length: count }, (_, i) => run.outcome(k, i)),
  );
  const most = Math.max(2, ...outcomes.flat().map(({ eligible }) => eligible));
  const small = { fill: ink("ink-2"), "font-size": 12 };
  let skipped = false;
  /** @type {SVGElement[]} */
  const parts = [];
  const line = (/** @type {Props} */ props) => {
    parts.push(s("line", { stroke: ink("line"), ...props }));
  };
  for (const [k, lane] of outcomes.entries()) {
    const { name, sampler } = run.head.lanes[k];
    const off = (run.lanes[k].imagined?.xtc ?? sampler.xtc).rho === 0;
    const base = band * k + NAME + MASS;
    parts.push(s("text", { x: 0, y: band * k + 13, "font-weight": 700, fill: ink("ink") }, name));
    for (const share of [0, 0.5, 1]) {
      const y = base - share * MASS;
      line({ x1: LEFT, x2: paper.width, y1: y, y2: y });
      const words = `${100 * share} %`;
      parts.push(s("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end", ...small }, words));
    }
    const lowest = { x: LEFT - 6, y: base + SIZE, "text-anchor": "end", ...small };
    parts.push(s("text", lowest, String(most)));
    for (const [i, chip] of lane.entries()) {
      const x = LEFT + (i + 0.5) * step;
      if (chip.eligible > 1) {
        const tall = (SIZE * chip.eligible) / most;
        const box = { x: x - wide / 2, y: base + 1, width: wide, height: tall };
        parts.push(s("rect", { ...box, fill: ink("eligible") }));
      }
      if (chip.outcome === FIRED) {
        const tall = Math.max(1, chip.mass * MASS);
        const box = { x: x - wide / 2, y: base - tall, width: wide, height: tall };
        const hatched = { fill: "url(#hatch)", stroke: ink("removed"), "stroke-width": 0.8 };
        const paint = wide > LEAST ? hatched : { fill: ink("removed") };
        parts.push(s("rect", { ...box, ...paint }));
        if (chip.changed) parts.push(diamond(x, base - tall - 6, ink, Math.min(4, 1.5 + wide)));
      } else if (chip.outcome === PROTECTED) parts.push(wordSign("protected", x, base - 8, ink));
      else if (chip.outcome === SKIPPED && !off && wide > LEAST) {
        skipped = true;
        parts.push(wordSign("skipped", x, base - 6, ink));
      }
    }
  }
  const foot = height - BOTTOM;
  for (const value of ticks(length, paper.width / 110).filter((n) => n > 0 && n % 1 === 0)) {
    const x = LEFT + (value - 0.5) * step;
    line({ x1: x, x2: x, y1: foot, y2: foot + 4, stroke: ink("ink-2") });
    parts.push(s("text", { x, y: foot + 17, "text-anchor": "middle", ...small }, String(value)));
  }
  const middle = { x: LEFT + (paper.width - LEFT) / 2, y: foot + 33, "text-anchor": "middle" };
  parts.push(s("text", { ...middle, ...small }, "token"));
  const split = run.lanes[0].splits;
  if (split >= 0 && split < Math.min(...shown)) {
    for (const dx of [-1.5, 1.5]) {
      const x = LEFT + split * step + dx;
      line({ x1: x, x2: x, y1: NAME - 8, y2: foot, stroke: ink("ink-2") });
    }
  }
  return { node: s("g", {}, parts), height, skipped, ...kinds(outcomes) };
}

/** What occurs, for the legend. @param {ChipOutcome[][]} lanes */
function kinds(lanes) {
  const all = lanes.flat();
  return {
    fired: all.some(({ outcome }) => outcome === FIRED),
    changed: all.some(({ changed }) => changed),
    guarded: all.some(({ outcome }) => outcome === PROTECTED),
  };
}

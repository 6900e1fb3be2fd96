// Where the dots of a strip lie: its scale, and how dots make room for one another. Pure.

import { count, decimal, percent } from "../core/format.js";

const STEPS = [1, 2, 5, 10];

/**
 * A scale that holds all values: its ends, and at most `most` round numbers on it. Shares and counts
 * begin at 0 where that is near.
 * @param {number[]} values
 * @param {SpreadUnit} unit
 */
export function scaleOf(values, unit, most = 5) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (!values.length) [low, high] = [0, unit === "tokens" ? 10 : 1];
  if (low < high / 3) low = 0;
  if (high - low < 1e-9) {
    const room = unit === "tokens" ? Math.max(1, Math.round(high * 0.1)) : 0.05;
    [low, high] = [Math.max(0, low - room), high + room];
    if (unit !== "tokens") high = Math.min(1, high);
  }
  const step = niceStep((high - low) / (most - 1), unit);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
  return { low: first * step, high: last * step, ticks };
}

/** The least round number that is no smaller. @param {number} least @param {SpreadUnit} unit */
function niceStep(least, unit) {
  const power = 10 ** Math.floor(Math.log10(least));
  const step = (STEPS.find((one) => one * power >= least * (1 - 1e-9)) ?? 10) * power;
  return unit === "tokens" ? Math.max(1, Math.round(step)) : step;
}

/**
 * How far above (negative) or below its line each dot lies, so that none hides another: dots of
 * radius `r` at these x, in a strip that is 2 · `room` high. Where there is not room enough they lie
 * closer.
 * @param {number[]} xs
 * @param {number} r
 * @param {number} room
 */
export function dodged(xs, r, room) {
  const ys = xs.map(() => 0);
  /** @type {number[]} */
  const placed = [];
  const order = xs.map((_, i) => i).sort((a, b) => xs[a] - xs[b] || a - b);
  for (const i of order) {
    const near = placed.filter((j) => xs[i] - xs[j] < 2 * r);
    let k = 0;
    // 0, one up, one down, two up, …
    const at = () => (k % 2 ? -1 : 1) * Math.ceil(k / 2) * 2 * r;
    const hit = () =>
      near.some((j) => (xs[i] - xs[j]) ** 2 + (at() - ys[j]) ** 2 < (2 * r) ** 2 - 1e-6);
    while (hit()) k += 1;
    ys[i] = at();
    placed.push(i);
  }
  const widest = Math.max(...ys.map(Math.abs), 0);
  const squeeze = widest > room ? room / widest : 1;
  return ys.map((y) => y * squeeze);
}

/** A value as people read it. @param {number | null} value @param {SpreadUnit} unit */
export function written(value, unit) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (unit === "share") return percent(value);
  return unit === "tokens" ? count(Math.round(value * 10) / 10, "token") : decimal(value, 3);
}

/** A value beside its name, which says what is counted. @param {number | null} value @param {SpreadUnit} unit */
export function bare(value, unit) {
  return written(value, unit).replace(/ tokens?$/, "");
}

/** A number on the scale. @param {number} value @param {SpreadUnit} unit */
export function tick(value, unit) {
  if (unit === "share") return `${Number((100 * value).toFixed(1))} %`;
  return unit === "tokens" ? String(Math.round(value)) : String(Number(value.toFixed(3)));
}

/**
 * A difference as people read it, of shares in points.
 * @param {number | null} value
 * @param {SpreadUnit} unit
 */
export function signed(value, unit) {
  if (value === null) return "–";
  const sign = value < 0 ? "−" : value > 0 ? "+" : "";
  const size = Math.abs(unit === "share" ? 100 * value : value);
  const [digits, after] = { share: [1, " points"], ratio: [3, ""], tokens: [1, " tokens"] }[unit];
  // No number that is not 0 is written as one.
  const small = size > 0 && size < 0.5 * 10 ** -Number(digits);
  return `${sign}${small ? Number(size.toPrecision(1)) : decimal(size, Number(digits))}${after}`;
}

/**
 * A mean with its interval; `write` is how such a value is written.
 * @param {SpreadEstimate | null | undefined} estimate
 * @param {SpreadUnit} unit
 * @param {(value: number | null, unit: SpreadUnit) => string} write
 */
export function estimated(estimate, unit, write = written) {
  if (!estimate || estimate[0] === null) return "–";
  const [mean, low, high] = estimate;
  const words = write(mean, unit);
  if (low === null || high === null) return `${words} (no interval)`;
  if (low === high) return `${words} (all the same)`;
  const [from, to] = [low, high].map((end) =>
    write(end, unit).replace(/\s(%|tokens?|points)$/, ""),
  );
  return `${words} (${from} to ${to})`;
}

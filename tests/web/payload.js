// Answers that Python wrote for these tests; see payloads.py.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One answer by its name, new each time. */
export function read(name) {
  const folder = process.env.XTC_PAYLOADS;
  if (!folder) throw new Error("XTC_PAYLOADS names no folder: run pytest tests/web");
  return JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
}

/** The same sequence of numbers in [0, 1) for the same seed: mulberry32. */
export function dice(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

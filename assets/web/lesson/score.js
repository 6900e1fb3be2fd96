// How someone stands in a game. Pure.

import { count } from "../core/format.js";

/** `level` counts from 0. @typedef {{ level: number, asked: number, right: number }} Score */

/** @type {Score} */
export const START = { level: 0, asked: 0, right: 0 };

/** After a question; a right answer leads a level further. @param {Score} score @param {boolean} right */
export function after({ level, asked, right: sum }, right) {
  const by = right ? 1 : 0;
  return { level: level + by, asked: asked + 1, right: sum + by };
}

/** A level that nobody can play. @param {Score} score */
export function skip(score) {
  return { ...score, level: score.level + 1 };
}

/** @param {Score} score */
export function scoreWords({ asked, right }) {
  return asked ? `${right} of ${count(asked, "question")} right` : "";
}

/** A score as it was written down, or a new one. @param {string | null} text @returns {Score} */
export function readScore(text) {
  try {
    const { level, asked, right } = JSON.parse(text ?? "");
    const whole = [level, asked, right].every((n) => Number.isInteger(n) && n >= 0);
    return whole && right <= asked ? { level, asked, right } : START;
  } catch {
    return START;
  }
}

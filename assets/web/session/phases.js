// What a run lives through, as a table: which phase follows which, at what. Pure.

/** @typedef {"idle" | "asked" | "starting" | "waiting" | "writing" | "stopping" | "lost" | "cut"} Phase */
/** @typedef {"ask" | "starting" | "waiting" | "running" | "stop" | "miss" | "heal" | "cut" | "again" | "end"} Happening */

/** @type {Record<Phase, Partial<Record<Happening, Phase>>>} */
const NEXT = {
  // Cut off before the page was loaded anew.
  idle: { ask: "asked", cut: "cut" },
  asked: {
    ...{ starting: "starting", waiting: "waiting", running: "writing" },
    ...{ stop: "stopping", miss: "lost", cut: "cut", end: "idle" },
  },
  starting: {
    ...{ waiting: "waiting", running: "writing" },
    ...{ stop: "stopping", miss: "lost", cut: "cut", end: "idle" },
  },
  waiting: {
    ...{ starting: "starting", running: "writing" },
    ...{ stop: "stopping", miss: "lost", cut: "cut", end: "idle" },
  },
  writing: { stop: "stopping", miss: "lost", cut: "cut", end: "idle" },
  // It is stopped at its next step; until then its messages change nothing.
  stopping: { end: "idle" },
  // A message is missing: what was written so far is asked for.
  lost: { heal: "writing", stop: "stopping", cut: "cut", end: "idle" },
  // The server has left in the middle; when it is back, the rest is asked for.
  cut: { again: "asked", end: "idle" },
};

/**
 * The phase after something happened; what means nothing in a phase leaves it as it is.
 * @param {Phase} phase
 * @param {Happening} happening
 * @returns {Phase}
 */
export function next(phase, happening) {
  return NEXT[phase][happening] ?? phase;
}

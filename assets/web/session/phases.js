// What a run lives through, as a table: which phase follows which, at what. Pure.

/** @typedef {"idle" | "asked" | "starting" | "waiting" | "writing" | "stopping" | "lost"} Phase */
/** @typedef {"ask" | "starting" | "waiting" | "running" | "stop" | "miss" | "heal" | "end"} Happening */

/** @type {Record<Phase, Partial<Record<Happening, Phase>>>} */
const NEXT = {
  idle: { ask: "asked" },
  asked: {
    ...{ starting: "starting", waiting: "waiting", running: "writing" },
    ...{ stop: "stopping", miss: "lost", end: "idle" },
  },
  starting: { waiting: "waiting", running: "writing", stop: "stopping", miss: "lost", end: "idle" },
  waiting: {
    ...{ starting: "starting", running: "writing", stop: "stopping", miss: "lost", end: "idle" },
  },
  writing: { stop: "stopping", miss: "lost", end: "idle" },
  // It is stopped at its next step; until then its messages change nothing.
  stopping: { end: "idle" },
  // A message is missing: what was written so far is asked for.
  lost: { heal: "writing", stop: "stopping", end: "idle" },
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

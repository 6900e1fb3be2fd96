// What a strip of bars shows of one engine, in kinds, heights and words. Pure.

import { dialectOf } from "../core/dialect.js";
import { count, percent, shown } from "../core/format.js";

/**
 * One bar: of a height in 0 … 1, `gone` where nothing is left of it and the bar is what it was.
 * @typedef {{ id: number, text: string, kind: string, height: number, value: string, gone: boolean,
 *   guarded: boolean, drawn: boolean }} StripCell
 * @typedef {Pick<EnginesView, "texts" | "guarded">} Names
 */

const REST = -1;

/** The tallest bar of all strips: they stand on one scale. @param {EngineStrips} strips */
export function tallest({ probs, rest, groups }) {
  const all = [...probs, rest, ...groups.flatMap((group) => [...group.probs, group.rest])];
  return Math.max(1e-6, ...all);
}

/**
 * What an engine leaves; without a group what all of them received.
 * @param {EngineStrips} strips
 * @param {EngineGroup | null} group
 * @param {Names} names
 * @param {number} token the one in the text
 * @returns {StripCell[]}
 */
export function cells(strips, group, { texts, guarded }, token) {
  const top = tallest(strips);
  const [removed, eligible] = [new Set(group?.removed), new Set(group?.eligible)];
  const fires = group?.effect === "fired" || group?.effect === "mixed";
  const guard = new Set(guarded);
  const kindOf = (/** @type {number} */ id) => {
    if (removed.has(id)) return "removed";
    if (!eligible.has(id)) return "tail";
    return fires ? "kept" : "eligible";
  };
  /** @type {StripCell[]} */
  const list = strips.ids.map((id, i) => {
    const q = group ? group.probs[i] : strips.probs[i];
    const gone = q === 0 && strips.probs[i] > 0;
    return {
      id,
      text: texts[id] ?? "?",
      kind: kindOf(id),
      height: (gone ? strips.probs[i] : q) / top,
      value: gone ? (removed.has(id) ? "✕" : "–") : percent(q),
      gone,
      guarded: guard.has(id),
      drawn: id === token,
    };
  });
  const rest = group ? group.rest : strips.rest;
  if (strips.rest > 0 || rest > 0) {
    const others = { id: REST, text: "others", kind: "rest", gone: false };
    list.push({
      ...others,
      ...{
        height: rest / top,
        value: rest > 0 ? percent(rest) : "–",
        guarded: false,
        drawn: false,
      },
    });
  }
  return list;
}

/** What the engine of the first group begins with. @param {EngineStrips} strips @returns {EngineGroup} */
export function receivedBy({ groups, probs, rest }) {
  return { ...groups[0], effect: "skipped", count: 0, removed: [], probs, rest };
}

/** A strip in words, for those who do not see it. @param {StripCell[]} list */
export function described(list) {
  return list
    .map(({ text, value, gone, kind }) => {
      const state = gone && kind === "removed" ? "removed" : gone ? "cut off" : value;
      return `${shown(text).trim()} ${state}${kind === "kept" ? ", kept" : ""}`;
    })
    .join("; ");
}

/** What the engines of a group do. @param {Pick<EngineGroup, "effect" | "count">} group */
export function deed({ effect, count: removed }) {
  switch (effect) {
    case "fired":
      return `removes ${count(removed, "word")}`;
    case "mixed":
      return `makes ${count(removed, "word")} rarer`;
    case "skipped":
      return "the coin said no";
    case "protected":
      return "leaves the step alone";
    case "off":
      return "does without XTC";
    default:
      return "removes nothing";
  }
}

/**
 * Whether all agree, or how many do not.
 * @param {EngineStrips} strips
 */
export function agreement({ groups }) {
  const [first, ...others] = groups;
  const all = groups.reduce((sum, { engines }) => sum + engines.length, 0);
  if (!others.length) return `All ${all} leave the same.`;
  const differ = all - first.engines.length;
  const same = first.engines.length - 1;
  const alike = same
    ? `${count(same, "other engine")} ${same === 1 ? "does" : "do"} the same`
    : "No other engine does the same";
  return `${alike}, ${differ} ${differ === 1 ? "does not" : "do not"}.`;
}

/**
 * The engines along a text: those that differ at the same steps together, the fewest steps first;
 * the lane's own engine is none of them.
 * @param {EnginesAlong} along
 * @param {"own" | "fired"} which
 */
export function alongRows({ chosen, engines }, which) {
  /** @type {Map<string, { engines: string[], exact: boolean } & EngineDifferences>} */
  const rows = new Map();
  for (const { engine, exact, [which]: found } of engines) {
    if (engine === chosen) continue;
    const key = found.steps.join();
    const row = rows.get(key) ?? { engines: [], exact: true, ...found };
    row.engines.push(engine);
    row.exact &&= exact;
    rows.set(key, row);
  }
  return [...rows.values()].sort((a, b) => a.steps.length - b.steps.length);
}

/**
 * What the timeline marks: the steps at which an engine would decide otherwise than the lane's own,
 * null where that is the lane's own engine.
 * @param {EnginesAlong} along
 * @param {"own" | "fired"} which
 * @param {string} engine
 * @param {Pick<Spec, "engines">} spec
 * @returns {Omit<Marks, "lane"> | null}
 */
export function marksOf(along, which, engine, spec) {
  const row = alongRows(along, which).find(({ engines }) => engines.includes(engine));
  if (!row) return null;
  const yes = which === "fired" ? ", had the coin said yes" : "";
  const than = labelOf(along.chosen, spec);
  const about = row.exact ? "" : ", as far as was recorded";
  return {
    steps: row.steps,
    words: `${labelOf(engine, spec)} would decide otherwise than ${than}${yes}${about}`,
  };
}

/** An engine's name for people. @param {string} name @param {Pick<Spec, "engines">} spec */
export function labelOf(name, { engines }) {
  return engines.find((engine) => engine.name === name)?.label ?? name;
}

/** What is asked of the server about a lane: what is imagined of it, or nothing. @param {RunLane} lane */
export function imaginedXtc({ imagined }) {
  return imagined?.xtc ?? null;
}

/** The engine of a lane as it is shown. @param {HeadLane} head @param {RunLane} lane */
export function engineOf(head, lane) {
  return dialectOf(imaginedXtc(lane) ?? head.sampler.xtc);
}

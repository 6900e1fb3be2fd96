// What the shelf knows of a run without opening it, and how runs are found, ordered and bounded.
// Pure.

import { laneTag } from "../core/lanetag.js";
import { written } from "../lanes/lanetext.js";

/** @import { Names } from "../core/lanetag.js" */
/** @import { Texts } from "../lanes/lanetext.js" */
/**
 * One run of the shelf. `id` stays, `version` changes whenever its file is written anew; `time` is
 * in milliseconds, `bytes` are those of its file and its texts, `run` is what the page calls it. Of
 * one that is `cut` there are only its texts: it is being written, or was cut off.
 * @typedef {{
 *   id: string, version: string, name: string, pinned: boolean, time: number, bytes: number,
 *   run?: string, cut?: boolean,
 *   prompt: string, model: string, seed: number,
 *   lanes: { name: string, tag: string, tokens: number, text: string }[],
 * }} Entry
 */
/** @typedef {{ runs: number, bytes: number }} Bounds */

/** @type {Bounds} */
export const BOUNDS = { runs: 200, bytes: 50_000_000 };

/**
 * What a run is called by on the shelf, without what only the shelf knows.
 * @param {Texts} run
 * @param {Names} spec
 */
export function described(run, spec) {
  const { prompt, model, seed, lanes } = run.head;
  return {
    prompt,
    model: model.name,
    seed,
    lanes: lanes.map(({ name, sampler }, k) => ({
      name,
      tag: laneTag(sampler, spec),
      tokens: run.lanes[k].chips.length,
      text: written(run, k),
    })),
  };
}

/** Its own name, or how its prompt begins. @param {Pick<Entry, "name" | "prompt">} entry */
export function titleOf({ name, prompt }) {
  const line = name || prompt.trim().replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79).trimEnd()}…` : line;
}

/** Pinned ones first, then the newest. @param {Entry[]} entries */
export function ordered(entries) {
  return entries.toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || b.time - a.time);
}

/** Letters as they are searched for: without case and accents. @param {string} text */
function plain(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** All that one can find a run by. @param {Entry} entry */
function words({ name, prompt, model, lanes }) {
  return plain([name, prompt, model, ...lanes.flatMap((lane) => Object.values(lane))].join("\n"));
}

/**
 * The runs in which every word of the query occurs somewhere.
 * @param {Entry[]} entries
 * @param {string} query
 */
export function matching(entries, query) {
  const wanted = plain(query).split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const text = wanted.length ? words(entry) : "";
    return wanted.every((word) => text.includes(word));
  });
}

/**
 * A passage of what the run's last lane wrote, or of the lane in which the query's first word is.
 * @param {Entry} entry
 * @param {string} query
 */
export function passage({ lanes }, query, length = 160) {
  const [word = ""] = plain(query).split(/\s+/).filter(Boolean);
  const texts = lanes.map((lane) => lane.text.trim().replace(/\s+/g, " ")).reverse();
  const text = (word && texts.find((other) => plain(other).includes(word))) || texts[0] || "";
  const at = word ? Math.max(0, plain(text).indexOf(word)) : 0;
  const from = at < length / 2 ? 0 : at - Math.floor(length / 3);
  const part = text.slice(from, from + length).trim();
  return `${from ? "…" : ""}${part}${from + length < text.length ? "…" : ""}`;
}

/**
 * Which runs have to go, so that the others are within the bounds: the oldest first, pinned ones
 * never, nor the one that has just come.
 * @param {Entry[]} entries
 * @param {string} newest the id of that one
 * @param {Bounds} bounds
 */
export function excess(entries, newest, bounds = BOUNDS) {
  let runs = entries.length;
  let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const gone = [];
  for (const entry of entries.toSorted((a, b) => a.time - b.time)) {
    if (runs <= bounds.runs && bytes <= bounds.bytes) break;
    if (entry.pinned || entry.id === newest) continue;
    runs -= 1;
    bytes -= entry.bytes;
    gone.push(entry);
  }
  return gone;
}

/**
 * Under which heading a run stands.
 * @param {Pick<Entry, "pinned" | "time">} entry
 * @param {number} now
 */
export function heading({ pinned, time }, now) {
  if (pinned) return "Pinned";
  const day = (/** @type {number} */ ms) => new Date(ms).setHours(0, 0, 0, 0);
  const days = Math.round((day(now) - day(time)) / 86_400_000);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  return new Date(time).toLocaleDateString("en", {
    day: "numeric",
    month: "long",
    year: "numeric",
  });
}

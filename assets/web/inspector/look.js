// All there is to know of a lane at a place, as the inspector shows it. No document.

import { laneTag, laneTagAmong } from "../core/lanetag.js";

/** @import { Playback } from "../session/playback.js" */
/** @typedef {Pick<Playback, "run" | "shown" | "step">} Shown What of it a look needs. */

/**
 * Undefined while its record is on its way.
 * @param {Shown} playback
 * @param {Place} at
 * @param {Spec} spec
 * @returns {Look | undefined}
 */
export function lookAt(playback, at, spec) {
  const record = playback.step(at);
  const { run } = playback;
  const chip = run?.chip(at);
  if (!run || !chip || !record) return undefined;
  const { name, sampler } = run.head.lanes[at.lane];
  const { imagined } = run.lanes[at.lane];
  const pending = at.i >= playback.shown(at.lane);
  const hidden = { token: -1, instead: -1, changed: false };
  const step = pending ? { ...record.step, ...hidden } : record.step;
  const now = { ...sampler, xtc: { ...sampler.xtc, ...imagined?.xtc } };
  // A what-if draws nothing, but the text's own token may be among those it removes.
  const silent = pending || (imagined && !step.removed.includes(step.token));
  return {
    at,
    name,
    step,
    texts: record.texts,
    sampler: now,
    tag: (imagined ? "what if " : "") + laneTag(now, spec),
    word: chip.text || chip.sign || "",
    said: silent ? step.said : [...step.said, ...step.drew],
    imagined: Boolean(imagined),
    pending,
  };
}

/**
 * Two lanes as they stand side by side: what they share before XTC is said once.
 * @param {Look[]} looks
 * @param {Spec} spec
 * @returns {Look[]}
 */
export function sideBySideTags(looks, spec) {
  const samplers = looks.map((look) => look.sampler);
  return looks.map((look, k) => ({
    ...look,
    tag: (look.imagined ? "what if " : "") + laneTagAmong(samplers, k, spec),
  }));
}

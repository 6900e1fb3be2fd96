// What other XTC settings would do along a text, in numbers and words. Pure.

import { sameProtection } from "../composer/protection.js";
import { ruleOf } from "../core/dialect.js";

/**
 * The lane of a draft that stands for lane k of a run: the one of that name, or that was renamed.
 * @param {LaneSettings<Typed>[]} lanes
 * @param {Pick<HeadLane, "name">[]} heads
 * @param {number} k
 */
export function counterpart(lanes, heads, k) {
  const { name } = heads[k];
  const draft = lanes[k];
  if (!draft || draft.name === name) return draft;
  const another = lanes.some((lane) => lane.name === name);
  return another || heads.some((head) => head.name === draft.name) ? undefined : draft;
}

/**
 * The question of each lane of a run, null where a draft asks nothing of it. `same` says that only
 * the protected tokens may differ, and thus perhaps nothing.
 * @param {Draft} draft
 * @param {Pick<RunHead, "lanes" | "protect">} head
 * @returns {({ xtc: OtherXtc, same: boolean } | null)[]}
 */
export function questions({ settings, protect }, head) {
  // A choice is sent only where it reads otherwise; what it means, the server finds out.
  const guard = sameProtection(protect, head.protect) ? {} : { protect };
  return head.lanes.map(({ sampler }, k) => {
    const draft = counterpart(settings.lanes, head.lanes, k);
    if (!draft) return null;
    const own = sampler.xtc;
    const xtc = ruleOf(draft.sampler.xtc);
    const same = JSON.stringify(xtc) === JSON.stringify(ruleOf(own));
    if (same && (own.rho === 0 || !guard.protect)) return null;
    return { xtc: structuredClone({ ...xtc, ...guard }), same };
  });
}

/**
 * Over all coins, token by token: how often XTC acts, and the probability that it removes.
 * @param {Pick<WhatIfAnswer, "expected" | "removed" | "counts">} answer
 */
export function perToken({ expected, removed, counts }) {
  const tokens = Math.max(
    1,
    counts.reduce((sum, n) => sum + n, 0),
  );
  return { interventions: expected / tokens, removed, firing: (removed * tokens) / expected };
}

/**
 * Below 1/K, what is known beyond the K recorded tokens of a step; empty where that is no question.
 * @param {Pick<WhatIfAnswer, "exact" | "recorded">} answer
 * @param {number} tau
 */
export function certainty({ exact, recorded }, tau) {
  if (!exact) {
    return ` May be off: a step records its ${recorded} likeliest tokens, and at this τ more may be eligible.`;
  }
  if (tau >= 1 / recorded) return "";
  return ` Exact, though τ is below 1/${recorded}: no token beyond the ${recorded} recorded at each step reaches it.`;
}

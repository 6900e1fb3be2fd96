// What is left to write of a run that was cut off. Pure.

/** @import { Run } from "./run.js" */
/**
 * What was asked for, and how long the lanes were of which it goes on.
 * @typedef {{ request: RunRequest, draft: Draft | null, goal: Place | null, stepping: boolean,
 *   before: number[] }} Asked
 */

/**
 * The request that writes the rest of a run as the server has it now, null where nothing is left.
 * The random numbers belong to the steps: what comes is what would have come.
 * @param {Asked} asked
 * @param {Pick<Run, "id" | "head" | "lengths" | "lanes">} run
 * @returns {RunRequest | null}
 */
export function restOf({ request, before }, { id, head, lengths, lanes }) {
  const one =
    request.kind === "branch" ? lanes.length - 1 : "lane" in request ? request.lane : undefined;
  const added = request.kind === "continue" || request.kind === "edit";
  const lacks = lanes.map(({ finish }, k) => {
    // Its length, or nothing at all: neither its own end nor a stop word.
    const open = finish === null || finish === "length";
    if (!open || (one !== undefined && one !== k)) return 0;
    return (added ? (before[k] ?? 0) + Number(request.more) : head.length) - lengths[k];
  });
  const more = Math.max(0, ...lacks);
  if (more === 0) return null;
  return { kind: "continue", run: id, more, ...(one === undefined ? {} : { lane: one }) };
}

// What the composer asks for next, and what the run on show was asked for. Pure.

/**
 * The request that writes a run anew; its branches have no way into one. `draft` has the rest.
 * @param {RunHead} head
 * @param {Draft} draft
 * @returns {Draft}
 */
export function draftOf(head, draft) {
  const { prompt, system, chat, seed, length, shared, server, stop, protect } = head;
  const lanes = head.lanes
    .filter((lane) => !lane.branch)
    .map(({ name, sampler }) => ({
      name,
      // Which tokens are protected is said once, by `protect`.
      sampler: { ...sampler, dry_breakers: [], xtc: { ...sampler.xtc, protected: [] } },
    }));
  const settings = {
    ...draft.settings,
    lanes,
    seed,
    max_new_tokens: length,
    shared_randomness: shared,
    stop,
    server_draws: server,
  };
  const thinking = chat ? head.thinking : draft.thinking;
  return structuredClone({ prompt, system, chat, thinking, settings, protect });
}

/**
 * A place in a run's lanes as a place in the lanes of its draft: a branch stands in its parent.
 * @param {RunHead} head
 * @param {Place | null} at
 * @returns {Place | null}
 */
export function placeOf(head, at) {
  if (!at) return at;
  let { lane } = at;
  for (let branch = head.lanes[lane]?.branch; branch; branch = head.lanes[lane]?.branch) {
    [lane] = branch;
  }
  return { lane: head.lanes.slice(0, lane).filter((other) => !other.branch).length, i: at.i };
}

/**
 * Whether two plain values say the same.
 * @param {unknown} a
 * @param {unknown} b
 * @returns {boolean}
 */
export function same(a, b) {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return (
    left.length === right.size &&
    left.every(([name, value]) => right.has(name) && same(value, right.get(name)))
  );
}

/**
 * A lane without its name, and without what a what-if shows along the text: when XTC fires, and
 * what it must not touch.
 * @param {LaneSettings<Typed>} lane
 */
function beyond({ sampler }) {
  const { rho, tau, strategy, dialect, protected: ids, ...xtc } = sampler.xtc;
  return { ...sampler, xtc };
}

/**
 * Whether a draft asks for something else than another.
 * @param {Draft} draft
 * @param {Draft | null} base
 */
export function touched(draft, base) {
  return Boolean(base) && !same(draft, base);
}

/**
 * What awaits Generate, in words; "" where nothing does, or a what-if shows all of it.
 * @param {Draft} draft
 * @param {Draft | null} base
 */
export function awaits(draft, base) {
  if (!base) return "";
  const { lanes, ...settings } = draft.settings;
  const { lanes: others, ...known } = base.settings;
  const named = lanes.length === others.length;
  // No what-if goes along a text that a server drew.
  const shown = known.server_draws
    ? (/** @type {LaneSettings<Typed>} */ lane) => lane.sampler
    : beyond;
  const quiet =
    named &&
    same(lanes.map(shown), others.map(shown)) &&
    same(settings, known) &&
    draft.system === base.system &&
    draft.chat === base.chat &&
    draft.thinking === base.thinking;
  if (quiet) return draft.prompt === base.prompt ? "" : "Prompt changed: press Generate.";
  const seed = settings.seed === known.seed ? "" : `Shown: seed ${known.seed}. `;
  return `${seed}Settings changed: press Generate.`;
}

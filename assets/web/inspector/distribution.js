// The distribution of a step as rows to be drawn or read, of one lane or of two side by side.
// Pure: records in, rows out.

/** Every recorded candidate: p that XTC received, q that the lane drew from. */
function candidates(step) {
  const removed = new Set(step.removed);
  const kept = new Set(step.kept);
  const fired = step.outcome === "fired";
  // Without temperature all of q is on one token, also before it is drawn.
  const sure = step.sure ?? step.token;
  return step.ids.map((id, i) => {
    const p = step.probs[i];
    const gone = fired && removed.has(id);
    let q = gone || p <= 0 ? 0 : Math.min(1, p ** step.power / Math.exp(step.log_z));
    if (step.greedy) q = id === sure ? 1 : 0;
    let kind = "tail";
    if (gone) kind = "removed";
    else if (i < step.eligible) kind = fired && kept.has(id) ? "kept" : "eligible";
    const drawn = id === step.token;
    return { id, p, q, kind, drawn, instead: !drawn && id === step.instead, known: true };
  });
}

/** Everything that is not shown: what the shown ones leave. */
function remainder(step, all, isShown) {
  let p = step.rest;
  let q = 1;
  for (const one of all) {
    if (isShown(one)) q -= one.q;
    else p += one.p;
  }
  return { id: -1, p, q: Math.max(0, q), kind: "rest", known: true };
}

const REST = "everything else";

/** One row a token, in falling order of p, then everything else: both columns sum to 1. */
export function rows(step, texts, limit) {
  const all = candidates(step);
  const first = Math.max(limit, step.eligible);
  const shown = new Set(all.filter((one, i) => i < first || one.drawn || one.instead));
  const list = [...shown].map((one) => ({ ...one, text: texts[one.id] ?? "?" }));
  return [...list, { ...remainder(step, all, (one) => shown.has(one)), text: REST }];
}

/** A token without a record has at most this probability. */
function ceiling(step, all) {
  // The drawn tokens are recorded wherever they stand; all others stand without a gap.
  const last = all.findLast((one) => !one.drawn && !one.instead);
  return Math.min(step.rest, last?.p ?? 1);
}

/**
 * The same tokens in two lanes: rows of two cells, in the order of p in lane `own` (0 or 1), then
 * in the other. They are the `limit` most probable of the two together, with all that is eligible
 * or drawn in either. A cell that is not `known` has a probability of at most its p.
 */
export function together(steps, texts, limit, own) {
  const every = steps.map(candidates);
  const found = every.map((all) => new Map(all.map((one) => [one.id, one])));
  const best = (id) => Math.max(...found.map((lane) => lane.get(id)?.p ?? 0));
  const ids = [...new Set(every.flatMap((all) => all.map((one) => one.id)))];
  const wanted = new Set(ids.sort((a, b) => best(b) - best(a)).slice(0, limit));
  for (const [k, all] of every.entries()) {
    all.forEach((one, i) => {
      if (i < steps[k].eligible || one.drawn || one.instead) wanted.add(one.id);
    });
  }
  const p = (k, id) => found[k].get(id)?.p ?? -1;
  const order = [...wanted].sort(
    (a, b) => p(own, b) - p(own, a) || p(1 - own, b) - p(1 - own, a) || a - b,
  );
  const limits = steps.map((step, k) => ceiling(step, every[k]));
  const list = order.map((id) => ({
    id,
    text: texts[0][id] ?? texts[1][id] ?? "?",
    cells: found.map(
      (lane, k) => lane.get(id) ?? { id, p: limits[k], q: 0, kind: "tail", known: false },
    ),
  }));
  const rest = steps.map((step, k) => remainder(step, every[k], (one) => wanted.has(one.id)));
  return [...list, { id: -1, text: REST, cells: rest }];
}

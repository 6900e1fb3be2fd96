import assert from "node:assert/strict";
import { test } from "node:test";
import { restOf } from "../../assets/web/session/rest.js";

/** A run with lanes of these lengths; `ends` are how those that ended did. */
function run(lengths, { length = 100, ends = [] } = {}) {
  const lanes = lengths.map((_, k) => ({ finish: ends[k] ?? null }));
  return { id: "a", head: { length }, lengths, lanes };
}

const asked = (request, before = []) => ({ request, before, draft: null, goal: null });

test("a fresh run is written to its length, an ended lane not at all", () => {
  const fresh = asked({ kind: "run" });
  assert.deepEqual(restOf(fresh, run([30, 30])), { kind: "continue", run: "a", more: 70 });
  const one = run([12, 30], { ends: ["eos"] });
  assert.deepEqual(restOf(fresh, one), { kind: "continue", run: "a", more: 70 });
  assert.equal(restOf(fresh, run([100, 40], { ends: ["length", "stop"] })), null);
});

test("more of a run is so much more than it was", () => {
  const more = asked({ kind: "continue", run: "p", more: "50" }, [100, 100]);
  assert.deepEqual(restOf(more, run([120, 120])), { kind: "continue", run: "a", more: 30 });
  const one = asked({ kind: "continue", run: "p", more: 50, lane: 1 }, [100, 100]);
  const lane = restOf(one, run([100, 120], { ends: ["length"] }));
  assert.deepEqual(lane, { kind: "continue", run: "a", more: 30, lane: 1 });
  assert.equal(restOf(one, run([100, 150])), null);
});

test("of a branch only its own lane goes on", () => {
  const branch = asked({ kind: "branch", run: "p", lane: 0, i: 4, token: 3 }, [100, 100]);
  const grown = run([100, 100, 40], { ends: ["length", "length"] });
  assert.deepEqual(restOf(branch, grown), { kind: "continue", run: "a", more: 60, lane: 2 });
});

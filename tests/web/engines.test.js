import assert from "node:assert/strict";
import { test } from "node:test";
import { nameBy } from "../../assets/web/composer/leadlane.js";
import { NextRun } from "../../assets/web/composer/nextrun.js";
import { dialectOf, PAPER, ruleOf, withDialect } from "../../assets/web/core/dialect.js";
import { laneTag } from "../../assets/web/core/lanetag.js";
import { fileName } from "../../assets/web/export/names.js";
import { awaits } from "../../assets/web/session/draft.js";
import { fromLink, toLink } from "../../assets/web/session/link.js";
import { counterpart, questions } from "../../assets/web/whatif/expectation.js";
import { read } from "./payload.js";

const specification = read("specification");
const { engines } = specification;
const llama = engines.find(({ name }) => name === "llama.cpp");

/** A next run whose second lane follows llama.cpp. */
function chosen() {
  const run = new NextRun(specification);
  run.setEngine(1, "llama.cpp", llama.order);
  return run;
}

test("the paper comes first and has nothing to say of itself; every other engine has", () => {
  assert.equal(engines[0].name, PAPER);
  assert.ok(!engines[0].meaning.includes("but"));
  const stages = specification.order.map(([name]) => name).sort();
  for (const engine of engines) {
    assert.deepEqual([...engine.order].sort(), stages, engine.name);
    assert.ok(!engine.lacks.includes("xtc"), engine.name);
  }
  assert.match(llama.meaning, /protects no words/);
});

test("a lane without a dialect follows the paper, and says nothing of it", () => {
  const xtc = { rho: 0.5, tau: 0.1, strategy: "keep_least", protected: [] };
  assert.equal(dialectOf(xtc), PAPER);
  assert.deepEqual(withDialect(withDialect(xtc, "mlx-lm"), PAPER), xtc);
  assert.equal(ruleOf(withDialect(xtc, "mlx-lm")).dialect, "mlx-lm");
  // A question names it always: what is left out of one stays as it was.
  assert.equal(ruleOf(xtc).dialect, PAPER);
});

test("a lane with an engine has its name, its order and its tag", () => {
  const { lanes } = chosen();
  assert.equal(lanes[1].name, "llama.cpp");
  assert.deepEqual(lanes[1].sampler.order, llama.order);
  assert.equal(
    laneTag({ ...lanes[1].sampler, min_p: 0 }, specification),
    "ρ 0.50 · τ 0.10 · llama.cpp",
  );
  assert.equal(
    laneTag(lanes[0].sampler, specification),
    laneTag(specification.baseline.sampler, specification),
  );
  const file = fileName("bars", { lanes: [lanes[1]], seed: 7, step: 3 });
  assert.match(file, /rho0\.5-tau0\.1-llama-cpp-seed7$/);
});

test("a name that somebody gave stays; one of an engine goes with it", () => {
  const run = chosen();
  run.setEngine(
    1,
    PAPER,
    specification.order.map(([name]) => name),
  );
  assert.equal(run.lanes[1].name, "XTC");
  assert.deepEqual(run.lanes, specification.settings.lanes);
  run.rename(1, "mine");
  assert.equal(nameBy("mlx-lm", run.lanes[1], run.lanes, specification), "mine");
});

test("another engine is a what-if along the text, another order is not", () => {
  const run = new NextRun(specification);
  const base = structuredClone(run.draft);
  const head = { lanes: structuredClone(base.settings.lanes), protect: base.protect };
  run.setEngine(1, "llama.cpp", run.lanes[1].sampler.order);
  const [first, second] = questions(run.draft, head);
  assert.deepEqual([first, second.xtc.dialect, second.same], [null, "llama.cpp", false]);
  assert.ok(counterpart(run.lanes, head.lanes, 1));
  assert.equal(awaits(run.draft, base), "");
  run.setEngine(1, "llama.cpp", llama.order);
  assert.match(awaits(run.draft, base), /press Generate/);
});

test("a link takes the engine along, and an unknown one is named", () => {
  const { draft } = chosen();
  const link = (draft) => toLink("", draft, null);
  assert.deepEqual(fromLink(link(draft), specification).request.draft.settings, draft.settings);
  draft.settings.lanes[1].sampler.xtc.dialect = "nobody";
  const { request, words } = fromLink(link(draft), specification);
  assert.equal(dialectOf(request.draft.settings.lanes[1].sampler.xtc), PAPER);
  assert.match(words, /The engine cannot be "nobody"/);
});

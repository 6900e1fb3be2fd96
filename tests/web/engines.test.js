import assert from "node:assert/strict";
import { test } from "node:test";
import { nameBy } from "../../assets/web/composer/leadlane.js";
import { NextRun } from "../../assets/web/composer/nextrun.js";
import { dialectOf, PAPER, ruleOf, withDialect } from "../../assets/web/core/dialect.js";
import { besideName, laneTag } from "../../assets/web/core/lanetag.js";
import { EXAMPLES, faultOf, readNumbers } from "../../assets/web/engines/numbers.js";
import {
  agreement,
  alongRows,
  cells,
  deed,
  described,
  marksOf,
  tallest,
} from "../../assets/web/engines/strips.js";
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

const steps = read("engines");
const typed = read("engines_typed");

test("a strip has a bar for each word and one for the others, on one scale for all engines", () => {
  for (const view of steps) {
    for (const strips of [view.rule.fired, view.rule.own, view.chain.fired]) {
      const top = tallest(strips);
      for (const group of [null, ...strips.groups]) {
        const list = cells(strips, group, view, -1);
        assert.ok(list.length >= strips.ids.length);
        for (const cell of list) assert.ok(cell.height >= 0 && cell.height <= 1, cell.text);
        assert.ok(top > 0 && list.every(({ kind }) => kind));
      }
    }
  }
});

test("what an engine removed is struck, what it kept is named, and the protected is marked", () => {
  const strips = typed.rule.fired;
  const llama = strips.groups.find(({ engines }) => engines.includes("llama.cpp"));
  const names = {
    texts: { 0: "town", 1: "house", 2: "village", 3: "castle" },
    guarded: typed.guarded,
  };
  const list = cells(strips, llama, names, 2);
  assert.deepEqual(
    list.map(({ kind, value }) => [kind, value]),
    [
      ["removed", "✕"],
      ["removed", "✕"],
      ["kept", "100\u00a0%"],
      ["removed", "✕"],
    ],
  );
  assert.deepEqual(
    list.map(({ guarded, drawn }) => [guarded, drawn]),
    [
      [false, false],
      [true, false],
      [false, true],
      [false, false],
    ],
  );
  assert.equal(
    described(list),
    "town removed; house removed; village 100\u00a0%, kept; castle removed",
  );
  const paper = strips.groups[0];
  assert.deepEqual([deed(paper), deed(llama)], ["leaves the step alone", "removes 3 words"]);
});

test("a word that another stage cut is not said to be removed", () => {
  const strips = { ids: [1, 2], probs: [0.9, 0.1], rest: 0, groups: [] };
  const group = { engines: ["paper"], effect: "unambiguous", count: 0, eligible: [1], removed: [] };
  const whole = { ...group, probs: [1, 0], rest: 0, reasons: [], bound: false };
  const list = cells(strips, whole, { texts: { 1: "a", 2: "b" }, guarded: [] }, 1);
  assert.deepEqual([list[1].value, list[1].kind, list[1].gone], ["–", "tail", true]);
  assert.equal(described(list), "a 100\u00a0%; b cut off");
});

test("how many agree, in words", () => {
  const of = (...sizes) => ({
    groups: sizes.map((n) => ({ engines: Array.from({ length: n }, (_, i) => String(i)) })),
  });
  assert.equal(agreement(of(10)), "All 10 leave the same.");
  assert.equal(agreement(of(2, 1)), "1 other engine does the same, 1 does not.");
  assert.equal(agreement(of(3, 4, 1)), "2 other engines do the same, 5 do not.");
  assert.equal(agreement(of(1, 4)), "No other engine does the same, 4 do not.");
});

test("along a lane, engines that differ at the same steps stand together, without the lane's own", () => {
  const along = read("engines_along");
  for (const which of ["own", "fired"]) {
    const rows = alongRows(along, which);
    const named = rows.flatMap((row) => row.engines).sort();
    const others = engines.map(({ name }) => name).filter((name) => name !== along.chosen);
    assert.deepEqual(named, others.sort());
    assert.equal(new Set(rows.map(({ steps }) => steps.join())).size, rows.length);
    assert.ok(rows.every(({ steps }, i) => !i || rows[i - 1].steps.length <= steps.length));
  }
});

test("what is marked are the steps of the engine's row; the lane's own engine has none", () => {
  const along = read("engines_along");
  for (const { engine, fired, exact } of along.engines) {
    const marks = marksOf(along, "fired", engine, specification);
    if (engine === along.chosen) assert.equal(marks, null);
    else assert.deepEqual(marks.steps, fired.steps);
    const about = marks?.words.endsWith(", as far as was recorded") ?? false;
    assert.equal(about, marks !== null && !exact);
  }
  const { words } = marksOf({ ...along, chosen: "paper" }, "own", "llama.cpp", specification);
  assert.match(words, /^llama.cpp would decide otherwise than the paper(,|$)/);
});

test("numbers are typed with their words, or in a row", () => {
  const read = (text) => {
    const { values, names, protect } = readNumbers(text);
    return [values, names, protect];
  };
  assert.deepEqual(read("town 0.4\nthe end: 0,3 *\n 0.2"), [
    [0.4, 0.3, 0.2],
    ["town", "the end", "word 3"],
    [1],
  ]);
  assert.deepEqual(read("0.5 .25, 0.125; 12.5 %"), [
    [0.5, 0.25, 0.125, 0.125],
    ["word 1", "word 2", "word 3", "word 4"],
    [],
  ]);
  assert.deepEqual(read("c* 0.2\na *: 0.5\n* 0.3\nb 0.1 *"), [
    [0.2, 0.5, 0.3, 0.1],
    ["c", "a", "*", "b"],
    [0, 1, 3],
  ]);
  assert.deepEqual(read("2, 1, 0, -1")[0], [2, 1, 0, -1]);
  assert.deepEqual(read("1e-3 a 2E1")[0], [20]);
  assert.match(readNumbers("town").wrong, /“town” has no number/);
  assert.match(readNumbers(" \n").wrong, /Type some/);
  assert.match(readNumbers("1\n".repeat(65)).wrong, /At most 64/);
  assert.match(faultOf([0.5, -0.5]), /logits/);
  assert.match(faultOf([0, 0]), /above 0/);
  assert.equal(faultOf([0.5, 3]), "");
});

test("every example can be asked", () => {
  for (const { text } of EXAMPLES) {
    const { values, wrong } = readNumbers(text);
    assert.equal(wrong, "");
    assert.ok(values.length > 3 && Math.abs(values.reduce((a, b) => a + b) - 1) < 1e-9);
  }
});

test("a lane that is called like its engine says it once", () => {
  assert.equal(besideName("ρ 0.50 · τ 0.10 · llama.cpp", "llama.cpp 2"), "ρ 0.50 · τ 0.10");
  assert.equal(besideName("ρ 0.50 · llama.cpp", "mine"), "ρ 0.50 · llama.cpp");
});

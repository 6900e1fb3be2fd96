import assert from "node:assert/strict";
import { test } from "node:test";
import { fairName, followers, freeName, leadLane } from "../../assets/web/composer/leadlane.js";
import { NextRun } from "../../assets/web/composer/nextrun.js";
import { protection, sameProtection } from "../../assets/web/composer/protection.js";
import { movedBy } from "../../assets/web/composer/stageorder.js";
import { fault, typed } from "../../assets/web/composer/typed.js";
import { warnings } from "../../assets/web/composer/warnings.js";
import { isOn, laneTag } from "../../assets/web/core/lanetag.js";
import { dice, read } from "./payload.js";

const specification = read("specification");
const { knobs, order, groups, stack } = specification;
const preset = (name) =>
  structuredClone(
    [specification.baseline, ...specification.strengths, ...specification.comparators].find(
      (lane) => lane.name === name,
    ),
  );

test("what is typed is a number where it is one", () => {
  const cases = { "0,2": 0.2, " .5 ": 0.5, "1e-3": 0.001, abc: "abc", "": "", nan: "nan" };
  for (const [text, value] of Object.entries(cases)) assert.equal(typed(text), value);
  assert.equal(typed("1,000", true), "1,000");
});

test("a fault is in the server's words, and no value in the bounds has one", () => {
  assert.equal(fault(knobs.tau, 3), "τ floor must be in (0, 1), but is 3");
  assert.equal(fault(knobs.tau, "abc"), "τ floor must be in (0, 1), but is “abc”");
  assert.equal(fault(knobs.tau, ""), "τ floor must be in (0, 1), but is empty");
  for (const knob of Object.values(knobs)) {
    assert.equal(fault(knob, knob.default), "", knob.name);
    assert.equal(fault(knob, knob.min) === "", !knob.open[0], knob.name);
    if (knob.max !== null) assert.equal(fault(knob, knob.max) === "", !knob.open[1], knob.name);
    assert.notEqual(fault(knob, knob.min - 1), "");
    if (knob.integer) assert.notEqual(fault(knob, knob.min + 0.5), "");
  }
});

test("every knob of the stack stands in one group, and every stage has a name", () => {
  assert.deepEqual(groups.flatMap(([, names]) => names).sort(), [...stack].sort());
  assert.deepEqual(
    specification.baseline.sampler.order,
    order.map(([name]) => name),
  );
});

test("the lane in front is the picked one, else the first on which XTC acts", () => {
  const run = new NextRun(specification);
  const [baseline, xtc] = run.lanes;
  assert.deepEqual([leadLane(run.lanes), leadLane(run.lanes, baseline)], [1, 0]);
  assert.equal(leadLane([baseline]), 0);
  assert.deepEqual(followers(run.lanes, xtc), [baseline, xtc]);
  assert.equal(freeName("XTC", [xtc, { ...xtc, name: "XTC 2" }]), "XTC 3");
});

test("a preset's name goes with its settings", () => {
  const strong = { ...preset("Strong") };
  assert.equal(fairName(strong, [strong], specification), "Strong");
  strong.sampler.xtc.rho = 0.8;
  assert.equal(fairName(strong, [strong], specification), "XTC");
  const own = { ...strong, name: "mine" };
  assert.equal(fairName(own, [own], specification), "mine");
});

test("the temperature in front is for the lanes that were alike before", () => {
  const run = new NextRun(specification);
  run.add(preset("T 1.3"));
  run.add(preset("Strong"));
  for (const value of [1.3, 0.7]) run.setTemperature(value);
  assert.deepEqual(
    run.lanes.map((lane) => lane.sampler.temperature),
    [0.7, 0.7, 1.3, 0.7],
  );
  run.pick(3);
  assert.equal(run.lead.name, "Strong");
  run.setLead({ rho: 0.8 });
  assert.equal(run.lead.name, "XTC 2");
  run.remove(0);
  assert.equal(run.lead.name, "XTC 2");
});

test("put back is what the run has, for the lanes that are the same", () => {
  const run = new NextRun(specification);
  const before = structuredClone(run.draft);
  run.setLead({ rho: 0.9, tau: 0.3 });
  run.setProtection("texts", [" Lily"]);
  run.add(preset("T 1.3"));
  run.putBack(before);
  assert.deepEqual(run.lanes.slice(0, 2), before.settings.lanes);
  assert.equal(run.lanes.length, 3);
  assert.equal(sameProtection(run.draft.protect, before.protect), true);
});

test("what is taken over is a copy, and a preset stays as it is", () => {
  const run = new NextRun(specification);
  const given = structuredClone(run.draft);
  run.take(given);
  run.start(0, specification.strengths[0]);
  run.setXtc(0, { rho: 0.123 });
  assert.notEqual(given.settings.lanes[0].sampler.xtc.rho, 0.123);
  assert.notEqual(specification.strengths[0].sampler.xtc.rho, 0.123);
});

test("links of older pages say yes or no for the line breaks", () => {
  assert.equal(protection({ newline: true }).newline, "all");
  assert.equal(protection({ newline: false }).newline, "none");
  assert.equal(protection({ newline: "token" }).newline, "token");
  assert.deepEqual(protection(), { eos: true, newline: "all", texts: [] });
});

test("a stage moves by a place, and back; at the ends it stays", () => {
  const names = order.map(([name]) => name);
  const random = dice(9);
  for (let round = 0; round < 100; round++) {
    const name = names[Math.floor(random() * names.length)];
    const down = movedBy(names, name, 1);
    assert.deepEqual([...down].sort(), [...names].sort());
    if (down === names) assert.equal(name, names.at(-1));
    else assert.deepEqual(movedBy(down, name, -1), names);
  }
  assert.equal(movedBy(names, names[0], -1), names);
});

test("a lane's tag has what is not the default, and the order where it acts otherwise", () => {
  const plain = preset("Baseline").sampler;
  assert.equal(laneTag(plain, specification), "plain sampling");
  const xtc = { ...plain, temperature: 1.3, xtc: { ...plain.xtc, rho: 0.5, tau: 0.1 } };
  assert.equal(laneTag(xtc, specification), "ρ 0.50 · τ 0.10 · T 1.30");
  const names = order.map(([name]) => name);
  const late = [...names.filter((name) => name !== "temperature"), "temperature"];
  assert.match(laneTag({ ...xtc, order: late }, specification), / · XTC before T$/);
  // Of stages that are off the order means nothing.
  assert.equal(laneTag({ ...plain, order: late }, specification), "plain sampling");
  const bad = { ...xtc, xtc: { ...xtc.xtc, tau: "abc" } };
  assert.equal(laneTag(bad, specification), "ρ 0.50 · τ ? · T 1.30");
});

test("a stage is on where its own knob says so", () => {
  const plain = preset("Baseline").sampler;
  for (const [stage] of order) assert.equal(isOn(stage, plain, specification), false, stage);
  const on = (values) =>
    order
      .map(([stage]) => stage)
      .filter((stage) => isOn(stage, { ...plain, ...values }, specification));
  assert.deepEqual(on({ min_p: 0.1 }), ["min_p"]);
  assert.deepEqual(on({ dynatemp_range: 0.5 }), ["temperature"]);
  assert.deepEqual(on({ dry_multiplier: 1 }), ["dry"]);
  assert.deepEqual(on({ dry_base: 2, penalty_window: 9 }), []);
});

test("helpful words for code, structure, and an XTC that never acts", () => {
  const { settings } = new NextRun(specification).draft;
  const say = (prompt) => warnings({ prompt, settings }).join(" ");
  assert.match(say("def add(a, b):\n    return"), /ρ of at most 0\.15/);
  assert.match(say('Extract the names as JSON: {"names":'), /ρ of at most 0\.20/);
  assert.equal(say("Once upon a time"), "");
  settings.lanes[1].sampler.xtc.tau = 0.6;
  assert.match(say("Once"), /above τ = 0\.5/);
  settings.lanes[1].sampler.xtc.tau = 3;
  assert.equal(say("Once"), "");
});

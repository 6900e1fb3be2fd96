import assert from "node:assert/strict";
import { test } from "node:test";
import { fairName, followers, freeName, leadLane } from "../../assets/web/composer/leadlane.js";
import { NextRun } from "../../assets/web/composer/nextrun.js";
import { protection, sameProtection } from "../../assets/web/composer/protection.js";
import { movedBy } from "../../assets/web/composer/stageorder.js";
import { fault, typed } from "../../assets/web/composer/typed.js";
import { warnings } from "../../assets/web/composer/warnings.js";
import { baseOf, hasOwnBase, sameBase, sharedBase } from "../../assets/web/core/lanebase.js";
import { baseTag, isOn, laneTag, laneTagAmong } from "../../assets/web/core/lanetag.js";
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

const minP = (run) => run.lanes.map((lane) => lane.sampler.min_p);

test("the base is for the lanes that share it; who has cutoffs of their own keeps them", () => {
  const run = new NextRun(specification);
  assert.deepEqual([minP(run), baseTag(run.base, specification)], [[0.05, 0.05], "Min-p 0.05"]);
  run.add(preset("Top-p .95"));
  run.add(preset("Strong"));
  run.setSampler(3, { min_p: 0.3 });
  const [, , topP, plain] = specification.bases;
  // On the way it meets the lane that is about top-p: that one stays what it says.
  for (const base of [topP, plain]) run.setBase(base);
  assert.deepEqual(minP(run), [0, 0, 0, 0.3]);
  assert.deepEqual(
    run.lanes.map((lane) => lane.sampler.top_p),
    [1, 1, 0.95, 1],
  );
  assert.equal(baseTag(run.base, specification), "plain sampling");
});

test("a preset that joins stands on the base of the others, unless it has its own", () => {
  const run = new NextRun(specification);
  run.setBase(specification.bases.at(-1));
  for (const name of ["Strong", "Min-p .10", "Plain + XTC"]) run.add(preset(name));
  assert.deepEqual(minP(run), [0, 0, 0, 0.1, 0]);
  run.start(0, preset("Medium"));
  run.start(1, preset("Min-p .10"));
  assert.deepEqual(minP(run), [0, 0.1, 0, 0.1, 0]);
  assert.equal(specification.strengths[2].sampler.min_p, 0.05);
});

test("an older draft without a base is one on plain sampling", () => {
  const run = new NextRun(specification);
  const old = structuredClone(run.draft);
  for (const lane of old.settings.lanes) lane.sampler.min_p = 0;
  run.take(old);
  assert.deepEqual(run.draft, old);
  assert.equal(baseTag(run.base, specification), "plain sampling");
  run.setBase({ ...run.base, min_p: 0.07 });
  assert.equal(baseTag(run.base, specification), "Min-p 0.07");
});

test("where every lane has cutoffs of its own there is no base to choose", () => {
  const run = new NextRun(specification);
  run.start(0, preset("Top-p .95"));
  run.start(1, preset("Min-p .10"));
  assert.equal(run.base, null);
  run.setBase(specification.bases[0]);
  assert.deepEqual(minP(run), [0, 0.1]);
  // Under another name it is a lane like others.
  run.rename(0, "mine");
  assert.equal(baseTag(run.base, specification), "Top-p 0.95");
});

test("the base of most lanes is the base, of several the first", () => {
  const samplers = ["Baseline", "Top-p .95", "Strong"].map((name) => preset(name).sampler);
  const usual = baseOf(samplers[0], specification);
  assert.deepEqual(sharedBase(samplers, specification), usual);
  assert.equal(sameBase(sharedBase([samplers[1], samplers[0]], specification), usual), false);
  assert.equal(hasOwnBase(preset("Baseline"), specification), false);
  assert.equal(hasOwnBase({ ...preset("Top-p .95"), name: "Top-p .95 2" }, specification), true);
});

test("a base that lanes share is said once, and where a lane differs", () => {
  const names = ["Baseline", "Medium", "Top-p .95", "Plain + XTC", "Plain sampling"];
  const samplers = names.map((name) => preset(name).sampler);
  samplers.push({ ...samplers[0], temperature: 1.3 });
  const tags = samplers.map((_, k) => laneTagAmong(samplers, k, specification));
  assert.deepEqual(tags, [
    "Min-p 0.05",
    "ρ 0.50 · τ 0.10",
    "Top-p 0.95",
    "ρ 0.50 · τ 0.10 · no Min-p",
    "plain sampling",
    "T 1.30",
  ]);
  const two = [samplers[1], samplers[0]];
  assert.equal(laneTagAmong(two, 0, specification), "ρ 0.50 · τ 0.10 · Min-p 0.05");
  assert.equal(laneTagAmong(two, 1, specification), "Min-p 0.05");
  // Beside the choice of the base nothing is left to say of a lane that has only that.
  assert.equal(laneTag(samplers[0], specification, baseOf(samplers[0], specification)), "");
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
  const plain = preset("Plain sampling").sampler;
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
  const plain = preset("Plain sampling").sampler;
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
  const say = (prompt) => warnings({ prompt, settings }, specification).join(" ");
  assert.match(say("def add(a, b):\n    return"), /ρ of at most 0\.15/);
  assert.match(say('Extract the names as JSON: {"names":'), /ρ of at most 0\.20/);
  assert.equal(say("Once upon a time"), "");
  settings.lanes[1].sampler.xtc.tau = 0.6;
  assert.match(say("Once"), /above τ = 0\.5/);
  settings.lanes[1].sampler.xtc.tau = 3;
  assert.equal(say("Once"), "");
  settings.lanes[1].sampler.xtc.tau = 0.1;
  settings.lanes[1].sampler.temperature = 0;
  assert.match(say("Once"), /XTC still acts/);
  settings.lanes[1].sampler.xtc.dialect = "mlx-lm";
  assert.match(say("Once"), /mlx-lm skips XTC then/);
  settings.lanes[1].sampler.eta_cutoff = 0.001;
  assert.match(say("Once"), /mlx-lm has no Eta/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { firstDifference, readChip } from "../../assets/web/session/chips.js";
import { Run } from "../../assets/web/session/run.js";
import { dice, read } from "./payload.js";

const whole = read("whole");
const blocks = read("blocks");

function complete() {
  const run = new Run(whole.run, whole.head);
  run.grow(whole);
  return run;
}

test("a chip worked by hand: fired, changed, chosen, seen in part", () => {
  const chip = readChip([7, " cat", 3 + 4 + 8 + 16, 4100, 2, 1500, 3, 2500]);
  assert.deepEqual(chip, {
    id: 7,
    text: " cat",
    outcome: 3,
    changed: true,
    forced: true,
    tail: false,
    bounded: true,
    p: 0.41,
    rank: 2,
    entropy: 1.5,
    eligible: 3,
    mass: 0.25,
    sign: undefined,
  });
  // Fired, on the fifth word where three clear τ; and the same where a person chose it.
  assert.equal(readChip([7, " cat", 3, 400, 5, 1500, 3, 2500]).tail, true);
  assert.equal(readChip([7, " cat", 3 + 8, 400, 5, 1500, 3, 2500]).tail, false);
  assert.equal(readChip([7, " cat", 1, 400, 5, 1500, 3, 2500]).tail, false);
  assert.equal(readChip([7, "", 1, 0, 1, 0, 1, 0, "</s>"]).sign, "</s>");
});

test("a chip says of a step what its block says", () => {
  const run = complete();
  const names = ["unambiguous", "skipped", "protected", "fired"];
  for (const [k, block] of blocks.entries()) {
    for (const [i, step] of block.steps.entries()) {
      const chip = run.lanes[k].chips[block.first + i];
      assert.equal(chip.id, step.token);
      assert.equal(names[chip.outcome], step.outcome);
      assert.equal(chip.changed, step.changed);
      assert.equal(chip.bounded, step.bounded);
      assert.equal(chip.eligible, step.eligible);
      assert.equal(chip.rank, step.rank);
      const below = step.outcome === "fired" && !step.ids.slice(0, step.eligible).includes(chip.id);
      assert.equal(chip.tail, below && !step.forced);
      assert.ok(Math.abs(chip.p - step.p) <= 6e-5);
      assert.ok(Math.abs(chip.mass - step.removed_mass) <= 6e-5);
      if (!chip.text) assert.equal(chip.sign, block.texts[step.token]);
    }
  }
});

test("a run that grows piece by piece is the run that came whole", () => {
  const random = dice(5);
  for (let round = 0; round < 30; round++) {
    const run = new Run(whole.run, whole.head);
    while (run.lengths.some((n, k) => n < whole.add[k].length)) {
      const at = run.lengths.map((n) => Math.max(0, n - Math.floor(random() * 3)));
      const add = whole.add.map((chips, k) => chips.slice(at[k], at[k] + Math.floor(random() * 9)));
      assert.notEqual(run.grow({ at, add }), null);
    }
    assert.deepEqual(
      run.lengths,
      whole.add.map((chips) => chips.length),
    );
    const all = complete();
    for (const [k, lane] of run.lanes.entries()) {
      assert.deepEqual(lane.chips, all.lanes[k].chips);
      assert.equal(lane.splits, all.lanes[k].splits);
    }
  }
});

test("a gap is noticed and takes nothing", () => {
  const run = new Run(whole.run, whole.head);
  const add = whole.add.map((chips) => chips.slice(0, 4));
  assert.equal(run.grow({ at: [0, 0, 0], add }), true);
  assert.equal(run.grow({ at: [5, 5, 5], add }), null);
  assert.equal(run.grow({ at: [0], add: [add[0]] }), null);
  assert.deepEqual(run.lengths, [4, 4, 4]);
  assert.equal(run.grow({ at: [4, 4, 4], add: [[], [], []] }), false);
});

test("lanes part where their tokens first differ", () => {
  const run = complete();
  const ids = run.lanes.map((lane) => lane.chips.map((chip) => chip.id));
  for (const [a, b] of [
    [0, 1],
    [1, 0],
    [1, 2],
  ]) {
    const at = run.parting(a, b);
    assert.ok(at >= 0);
    assert.deepEqual(ids[a].slice(0, at), ids[b].slice(0, at));
    assert.notEqual(ids[a][at], ids[b][at]);
  }
  assert.equal(firstDifference(run.lanes[0].chips, run.lanes[0].chips), -1);
  assert.equal(run.lanes[0].splits, Math.min(run.parting(0, 1), run.parting(0, 2)));
});

test("a what-if puts other outcomes on the same chips, and goes again", () => {
  const run = complete();
  const answer = read("what_if");
  run.imagine(1, { ...answer, xtc: { rho: 1, tau: 0.05, strategy: "keep_least" } });
  const outcomes = run.lanes[1].chips.map((_, i) => run.outcome(1, i).outcome);
  assert.deepEqual(outcomes, [...answer.outcomes].map(Number));
  for (const [n, total] of answer.counts.entries()) {
    assert.equal(outcomes.filter((outcome) => outcome === n).length, total);
  }
  run.imagine(1, null);
  assert.equal(run.outcome(1, 0), run.lanes[1].chips[0]);
});

test("what is shown first is a changed word of the last lane that has one", () => {
  const run = complete();
  const at = run.telling();
  assert.equal(run.chip(at).changed, true);
  assert.ok(!run.lanes.slice(at.lane + 1).some((lane) => lane.chips.some((chip) => chip.changed)));
  assert.ok(!run.lanes[at.lane].chips.slice(0, at.i).some((chip) => chip.changed));
});

test("behind a thought it is one of the answer", () => {
  const messages = read("thinking");
  const head = messages.find((message) => message.head).head;
  const run = new Run("thinking", head);
  for (const message of messages) run.grow(message);
  const at = run.telling();
  const { stats } = run.lanes[at.lane];
  assert.equal(stats.answering, true);
  assert.ok(at.i >= stats.thought[0]);
});

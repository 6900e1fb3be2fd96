import assert from "node:assert/strict";
import { test } from "node:test";
import { NextRun } from "../../assets/web/composer/nextrun.js";
import { level } from "../../assets/web/lanes/lane.js";
import { beside, nearest, rooms } from "../../assets/web/lanes/marks.js";
import { numbers } from "../../assets/web/lanes/numbers.js";
import { originWords } from "../../assets/web/lanes/statusline.js";
import { draftOf } from "../../assets/web/session/draft.js";
import { Run } from "../../assets/web/session/run.js";
import {
  certainty,
  counterpart,
  perToken,
  questions,
} from "../../assets/web/whatif/expectation.js";
import { read } from "./payload.js";

const whole = read("whole");
const specification = read("specification");

function complete() {
  const run = new Run(whole.run, whole.head);
  run.grow(whole);
  return run;
}

const draft = () => draftOf(whole.head, new NextRun(specification).draft);

test("the numbers of all tokens are the server's, those of some are counted", () => {
  const lane = complete().lanes[1];
  const { stats, chips } = lane;
  const [first, second] = numbers(lane, stats, chips.length, false);
  assert.ok(first.startsWith(`${chips.length} tokens`));
  assert.ok(first.includes(`fired ${stats.outcomes[3]} · changed ${stats.changed}`));
  assert.ok(first.endsWith("length reached"));
  assert.ok(second.startsWith(`${stats.outcomes[1]} skipped by the coin`));
  const [half] = numbers(lane, stats, 20, false);
  const fired = chips.slice(0, 20).filter((chip) => chip.outcome === 3).length;
  assert.ok(half.startsWith(`20 of ${chips.length} tokens`));
  assert.ok(half.includes(`fired ${fired} `));
});

test("words from below τ are counted, of all and of some", () => {
  const { lanes } = complete();
  for (const lane of lanes) {
    const { stats, chips } = lane;
    assert.equal(stats.tail, chips.filter((chip) => chip.tail).length);
  }
  const chips = [{ ...lanes[1].chips[0], outcome: 3, rank: 9, eligible: 2, tail: true }];
  const lane = { ...lanes[1], chips: [...chips, lanes[1].chips[1]], finish: "context" };
  const [first, second] = numbers(lane, { ...lanes[1].stats, tail: 4 }, 2, false);
  assert.match(second, /· 4 from below τ/);
  assert.match(first, /context full$/);
  assert.match(numbers(lane, lanes[1].stats, 1, false)[1], /· 1 from below τ/);
  // With a lower floor the word would have been one of many that clear it.
  const xtc = { rho: 1, tau: 0.01, strategy: "keep_least" };
  const imagined = { ...read("what_if"), xtc, outcomes: "30", eligible: [12, 1], mass: [100, 0] };
  const other = numbers({ ...lane, imagined }, lanes[1].stats, 2, false)[1];
  assert.doesNotMatch(other, /from below τ/);
});

test("in a what-if both counts stand in the first line", () => {
  const run = complete();
  const answer = read("what_if");
  run.imagine(1, { ...answer, xtc: { rho: 1, tau: 0.05, strategy: "keep_least" } });
  const lane = run.lanes[1];
  const [first, second] = numbers(lane, lane.stats, lane.chips.length, false);
  assert.ok(first.includes(`fired ${lane.stats.outcomes[3]} → ${answer.counts[3]} (what if)`));
  assert.ok(!first.includes("changed"));
  assert.match(second, /^What if: /);
});

test("a lane that was seen in part says so", () => {
  const bounded = whole.add.map((chips) =>
    chips.map(([id, text, flags, ...more]) => [id, text, flags | 16, ...more]),
  );
  const run = new Run(whole.run, whole.head);
  run.grow({ ...whole, add: bounded });
  const line = (lane) => numbers(lane, lane.stats, lane.chips.length, false)[0];
  assert.match(line(run.lanes[0]), / · seen in part/);
  assert.doesNotMatch(line(complete().lanes[0]), /seen in part/);
});

test("where XTC is off, its chances are told", () => {
  const lane = complete().lanes[0];
  const [, second] = numbers(lane, lane.stats, lane.chips.length, true);
  assert.match(second, new RegExp(`^XTC is off; it had ${lane.stats.outcomes[1]} chance`));
});

test("of a thought and its answer only the answer is counted", () => {
  const messages = read("thinking");
  const run = new Run("thinking", messages.find((message) => message.head).head);
  for (const message of messages) run.grow(message);
  const lane = run.lanes[1];
  const [thought] = lane.stats.thought;
  const [first, second] = numbers(lane, lane.stats, lane.chips.length, false);
  assert.match(first, /in the answer: fired/);
  assert.match(second, /^Answer only: /);
  assert.match(numbers(lane, lane.stats, thought, false)[0], /no answer yet/);
});

test("colours have seven levels", () => {
  const chips = complete().lanes.flatMap((lane) => lane.chips);
  for (const mode of ["probability", "rank", "surprisal", "entropy"]) {
    for (const chip of chips) {
      const found = level(chip, mode);
      assert.ok(Number.isInteger(found) && found >= 0 && found <= 6, `${mode} ${found}`);
    }
  }
  assert.equal(level({ ...chips[0], p: 1, rank: 1 }, "probability"), 0);
  assert.equal(level({ ...chips[0], p: 0 }, "surprisal"), 6);
});

test("where a run comes from", () => {
  assert.equal(originWords({ kind: "own", name: "" }), "");
  assert.match(originWords({ kind: "file", name: "a.json" }), /a\.json\.$/);
  assert.match(originWords({ kind: "file", name: "a.json", unknown: ["luck"] }), /luck\.$/);
});

test("a draft like the run asks nothing", () => {
  assert.deepEqual(questions(draft(), whole.head), [null, null, null]);
});

test("a draft asks of the lanes whose XTC it changed, and of all on other protected tokens", () => {
  const changed = draft();
  changed.settings.lanes[1].sampler.xtc.rho = 1;
  const [first, second, third] = questions(changed, whole.head);
  assert.deepEqual([first, third], [null, null]);
  assert.deepEqual([second.xtc.rho, second.same, "protect" in second.xtc], [1, false, false]);
  changed.protect.texts.push(" Lily");
  const guarded = questions(changed, whole.head);
  // Where XTC is off no token needs protection.
  assert.equal(guarded[0], null);
  assert.deepEqual(
    guarded.slice(1).map(({ same }) => same),
    [false, true],
  );
  assert.deepEqual(guarded[2].xtc.protect.texts, [" Lily"]);
});

test("a lane that was renamed is still that lane, one that took its place is not", () => {
  const heads = [{ name: "A" }, { name: "B" }];
  const lanes = (...names) => names.map((name) => ({ name }));
  assert.deepEqual(counterpart(lanes("A", "C"), heads, 1), { name: "C" });
  assert.equal(counterpart(lanes("B", "A"), heads, 1), undefined);
  assert.equal(counterpart(lanes("A"), heads, 1), undefined);
});

test("an expectation is one per token", () => {
  const { interventions, removed, firing } = perToken({
    expected: 5,
    removed: 0.1,
    counts: [50, 20, 10, 20],
  });
  assert.deepEqual([interventions, removed, firing], [0.05, 0.1, 2]);
  assert.match(certainty({ exact: false, recorded: 100 }, 0.005), /May be off/);
  assert.match(certainty({ exact: true, recorded: 100 }, 0.005), /Exact/);
  assert.equal(certainty({ exact: true, recorded: 100 }, 0.1), "");
});

test("a press near a mark means it, and another one does not", () => {
  const middle = (i) => 100 + 4 * i;
  assert.equal(nearest([3, 4, 20], middle, 112.5), 3);
  assert.equal(nearest([3, 4, 20], middle, 115), 4);
  assert.equal(nearest([3, 4, 20], middle, 126), 4);
  assert.equal(nearest([3, 4, 20], middle, 127), null);
  assert.equal(nearest([], middle, 100), null);
});

test("how much room a mark has is the way to the nearest other one", () => {
  assert.deepEqual(
    rooms([3, 4, 20], (i) => 100 + 4 * i),
    [4, 4, 64],
  );
  assert.deepEqual(
    rooms([7], (i) => i),
    [Number.POSITIVE_INFINITY],
  );
});

test("the marks before and after a step", () => {
  assert.deepEqual([beside([3, 7, 9], 7, -1), beside([3, 7, 9], 7, 1)], [3, 9]);
  assert.deepEqual([beside([3, 7], 5, -1), beside([3, 7], 5, 1)], [3, 7]);
  assert.deepEqual([beside([3], 3, -1), beside([3], 3, 1), beside([], 0, 1)], [null, null, null]);
});

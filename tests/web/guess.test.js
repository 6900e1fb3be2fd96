import assert from "node:assert/strict";
import { test } from "node:test";
import { Deck } from "../../assets/web/lesson/deck.js";
import { answered, asked } from "../../assets/web/lesson/guessbars.js";
import { LEVELS, otherXtc, placesFor, placesToImagine } from "../../assets/web/lesson/levels.js";
import {
  coinWords,
  fateOf,
  judge,
  question,
  questionBehind,
  survives,
  textBefore,
} from "../../assets/web/lesson/question.js";
import { after, readScore, START, scoreWords, skip } from "../../assets/web/lesson/score.js";
import { Run } from "../../assets/web/session/run.js";
import { dice, read } from "./payload.js";

const whole = read("whole");
const blocks = read("blocks");
const imagined = read("imagined");

function theRun() {
  const run = new Run(whole.run, whole.head);
  run.grow(whole);
  return run;
}

const step = (over) => ({
  ...{ ids: [1, 2, 3, 4], probs: [0.5, 0.25, 0.15, 0.05], rest: 0.05, final: null },
  ...{ eligible: 3, removed: [1, 2], kept: [3], underdog: 3, removed_mass: 0.75, outcome: "fired" },
  ...{ coin: 0.23, rho: 0.5, tau: 0.1, token: 3, instead: 1, changed: true },
  ...over,
});
const texts = { 1: " a", 2: " b", 3: " c", 4: " d" };
const level = (name) => LEVELS.find((one) => one.name === name);
const ask = (over = {}, guard = new Set(), name = "four") =>
  question({
    ...{ level: level(name), at: { lane: 1, i: 5 }, step: step(over), texts, before: "Once" },
    ...{ imagined: false, guard },
  });
const fates = (over, guard) => [...ask(over, guard).fates.values()];

test("what becomes of each word, worked by hand", () => {
  assert.deepEqual(fates({}), ["removed", "removed", "kept", "tail"]);
  assert.deepEqual(fates({ eligible: 1 }), ["alone", "alone", "alone", "alone"]);
  assert.deepEqual(fates({}, new Set([2])), ["held", "held", "held", "held"]);
  // A protected word that XTC would keep, or that is below τ, holds nothing back.
  assert.deepEqual(fates({}, new Set([3, 4])), ["removed", "removed", "kept", "tail"]);
});

test("on every real step the words that XTC removed are those that do not survive", () => {
  let seen = 0;
  for (const [k, { steps }] of blocks.entries()) {
    const guard = new Set(whole.head.lanes[k].sampler.xtc.protected);
    for (const one of steps) {
      const fate = fateOf(one, guard);
      const gone = one.ids.filter((id) => !survives(fate(id)));
      if (one.outcome === "fired") assert.deepEqual(gone, one.removed);
      if (one.outcome === "unambiguous" || one.outcome === "protected") assert.deepEqual(gone, []);
      seen += one.outcome === "fired";
    }
  }
  assert.ok(seen > 5);
});

test("a guess is judged word by word, with the reasons of those that are wrong", () => {
  const all = judge(ask(), new Set([3, 4]));
  assert.deepEqual(all, { right: 4, of: 4, wrong: [], all: true });
  const none = judge(ask(), new Set());
  assert.equal(none.right, 2);
  assert.deepEqual(
    none.wrong.map(({ ids }) => ids),
    [[3], [4]],
  );
  const every = judge(ask(), new Set([1, 2, 3, 4]));
  assert.equal(every.all, false);
  assert.deepEqual(
    every.wrong.map(({ ids }) => ids),
    [[1, 2]],
  );
  assert.equal(judge(ask({ eligible: 1 }), new Set([1, 2, 3, 4])).all, true);
});

test("before the coin nothing of the answer can be seen, after it all of it", () => {
  const one = ask();
  const before = asked(one, new Set([3]));
  assert.deepEqual(new Set(before.list.map((row) => row.kind)), new Set(["tail", "rest"]));
  assert.equal(
    before.list.some((row) => row.drawn || row.sign),
    false,
  );
  assert.deepEqual(
    before.list.map((row) => row.cells[1].value),
    ["", "", "still possible", "", ""],
  );
  const behind = answered(one);
  assert.deepEqual(
    behind.list.map((row) => row.kind),
    ["removed", "removed", "kept", "tail", "rest"],
  );
  assert.equal(behind.list[2].drawn, true);
  // A what-if has drawn nothing.
  assert.equal(
    answered({ ...one, imagined: true }).list.some((row) => row.drawn),
    false,
  );
});

test("the coin is told as it fell", () => {
  assert.match(coinWords(step()), /0\.23, under ρ = 0\.50: XTC fires/);
  assert.match(
    coinWords(step({ coin: 0.7, outcome: "skipped" })),
    /not under .*all words stay. Had it said yes/,
  );
  assert.match(coinWords(step({ outcome: "protected" })), /must hold back/);
  assert.match(coinWords(step({ eligible: 1 })), /does nothing/);
});

test("places of a level have what it wants, in lanes with XTC alone", () => {
  const run = theRun();
  const chip = ({ lane, i }) => run.lanes[lane].chips[i];
  const wanted = {
    two: (one) => one.eligible === 2,
    four: (one) => one.eligible >= 4,
    protected: (one) => one.outcome === 2,
    below: (one) => one.eligible < 2,
  };
  for (const [name, test] of Object.entries(wanted)) {
    for (const at of placesFor(run, name)) {
      assert.ok(test(chip(at)), name);
      assert.ok(whole.head.lanes[at.lane].sampler.xtc.rho > 0);
    }
  }
  assert.ok(placesFor(run, "two").length && placesFor(run, "below").length);
  assert.ok(placesFor(run, "min_p").length);
  const plain = structuredClone(whole.head);
  for (const { sampler } of plain.lanes) sampler.min_p = 0;
  assert.deepEqual(placesFor({ head: plain, lanes: run.lanes }, "min_p"), []);
  for (const at of placesToImagine(run, "protected")) assert.equal(chip(at).outcome, 3);
});

test("a what-if makes a level of another step: a lower τ, or a protected word", () => {
  const wide = step({ ids: [1, 2, 3, 4, 5], probs: [0.4, 0.2, 0.15, 0.0871, 0.03] });
  assert.equal(otherXtc("four", wide, texts).tau, 0.085);
  assert.deepEqual(otherXtc("protected", step(), texts).protect.texts, [" a"]);
  assert.equal(otherXtc("protected", step(), { 1: "\n" }), null);
  // Too many words would clear so low a floor.
  const flat = step({ ids: [1, 2, 3, 4, 5, 6, 7, 8], probs: Array(8).fill(0.03) });
  assert.equal(otherXtc("four", flat, texts), null);
  assert.equal(otherXtc("below", wide, texts), null);
});

test("behind min-p the words that it cut are gone too", () => {
  // The model: .5, .3, .04, .02; min-p .1 cuts below .05; what is left is .625 and .375.
  const view = {
    ...{ ids: [1, 2, 3, 4], texts, token: 2, eligible: [1, 2], removed: [1] },
    stages: [
      { name: "raw", probs: [0.5, 0.3, 0.04, 0.02], rest: 0.14 },
      { name: "min_p", probs: [0.625, 0.375, 0, 0], rest: 0, line: 0.05 },
      { name: "xtc", probs: [0, 1, 0, 0], rest: 0 },
    ],
  };
  const one = step({
    ...{ ids: [1, 2], probs: [0.625, 0.375], rest: 0, eligible: 2, removed: [1], kept: [2] },
    ...{ underdog: 2, removed_mass: 0.625, token: 2 },
  });
  const parts = { level: level("min_p"), at: { lane: 1, i: 5 }, step: one, texts, before: "" };
  const made = questionBehind({ ...parts, imagined: false, guard: new Set() }, view, 0.1);
  assert.deepEqual([...made.fates.values()], ["removed", "kept", "cut", "cut"]);
  assert.match(made.note[0], /below 10\u00a0% of the top one's 50\u00a0%, which is 5\u00a0%/);
  assert.equal(judge(made, new Set([2])).all, true);
  assert.equal(asked(made, new Set()).heads[0].tau, undefined);
  const shown = answered(made).list;
  assert.deepEqual(shown.map((row) => row.cells[1].value).slice(0, 4), [
    "removed",
    "100\u00a0%",
    "cut by min-p",
    "cut by min-p",
  ]);
  const uncut = { ...view, stages: [view.stages[0], { ...view.stages[0], name: "min_p" }] };
  assert.equal(questionBehind({ ...parts, imagined: false, guard: new Set() }, uncut, 0.1), null);
});

test("the deck asks about other steps before it asks again, and about none that is not there", async () => {
  const run = theRun();
  const asked = [];
  const transport = {
    block: async (_run, lane, _index, _depth, xtc) => {
      asked.push([lane, xtc]);
      return xtc ? imagined : blocks[lane];
    },
  };
  const deck = new Deck(transport, dice(5));
  const places = new Set();
  const all = placesFor(run, "two").length;
  assert.ok(all > 1);
  for (let n = 0; n < all; n++) {
    const { at, fates: found, step: shown } = await deck.next(level("two"), run);
    assert.equal(shown.eligible, 2);
    assert.ok(found.size >= 2);
    places.add(`${at.lane} ${at.i}`);
  }
  assert.equal(places.size, all);
  assert.ok(await deck.next(level("two"), run));
  // Without a server there are no stages and no what-if: what the run lacks, nobody has.
  assert.equal(await deck.next(level("min_p"), run), null);
  assert.equal(
    asked.some(([, xtc]) => xtc),
    false,
  );
  assert.equal(await deck.next(level("two"), null), null);
});

test("a score counts, goes up a level with a right answer, and is read again", () => {
  const one = after(START, true);
  assert.deepEqual(one, { level: 1, asked: 1, right: 1 });
  assert.deepEqual(after(one, false), { level: 1, asked: 2, right: 1 });
  assert.deepEqual(skip(one), { level: 2, asked: 1, right: 1 });
  assert.equal(scoreWords(START), "");
  assert.equal(scoreWords(one), "1 of 1 question right");
  assert.deepEqual(readScore(JSON.stringify(one)), one);
  for (const bad of [
    null,
    "",
    "{",
    "[]",
    '{"level":-1,"asked":0,"right":0}',
    '{"level":0,"asked":1,"right":2}',
  ])
    assert.deepEqual(readScore(bad), START);
});

test("the text before a step is its end, from a whole word on", () => {
  const chips = [{ text: " there" }, { text: " was" }, { text: " a" }];
  assert.equal(textBefore("Once", chips, 2), "Once there was");
  const long = textBefore("word ".repeat(60), chips, 1);
  assert.match(long, /^… word .* there$/);
  assert.ok(long.length <= 112);
});

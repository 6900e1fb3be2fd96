import assert from "node:assert/strict";
import { test } from "node:test";
import { beforeAndAfter, sideBySide } from "../../assets/web/inspector/barviews.js";
import { cutLine } from "../../assets/web/inspector/cutline.js";
import { rows, together } from "../../assets/web/inspector/distribution.js";
import { deedOf } from "../../assets/web/inspector/fork.js";
import { lookAt } from "../../assets/web/inspector/look.js";
import { wantsSpace } from "../../assets/web/inspector/ownword.js";
import { stageName } from "../../assets/web/inspector/stages.js";
import {
  facts,
  factsOfTwo,
  sameness,
  stateOf,
  tailShare,
  verdict,
} from "../../assets/web/inspector/words.js";
import { Playback } from "../../assets/web/session/playback.js";
import { dice, read } from "./payload.js";

const specification = read("specification");
const blocks = read("blocks");
const whole = read("whole");
const close = (a, b, by = 1e-9) => assert.ok(Math.abs(a - b) <= by, `${a} is not ${b}`);
const sum = (values) => values.reduce((total, value) => total + value, 0);

/** One step as the page gets it, of a whole distribution. */
function viewed(probs, token, { depth, tau, fired }) {
  const entries = Object.entries(probs).map(([id, p]) => [Number(id), p]);
  const ids = entries.sort(([a, p], [b, q]) => q - p || a - b).map(([id]) => id);
  const eligible = ids.filter((id) => probs[id] >= tau).length;
  const fires = fired && eligible > 1;
  const removed = fires ? ids.slice(0, eligible - 1) : [];
  const keep = ids.filter((id, i) => i < Math.max(depth, eligible) || id === token);
  return {
    token,
    instead: token,
    outcome: fires ? "fired" : "skipped",
    eligible,
    removed,
    kept: ids.slice(0, eligible).filter((id) => !removed.includes(id)),
    removed_mass: sum(removed.map((id) => probs[id])),
    final: null,
    ids: keep,
    probs: keep.map((id) => probs[id]),
    rest: Math.max(0, 1 - sum(keep.map((id) => probs[id]))),
  };
}

const textsOf = (steps) => steps.map(({ ids }) => Object.fromEntries(ids.map((v) => [v, `t${v}`])));
const pairOf = (steps, limit, own) => together(steps, textsOf(steps), limit, own);

test("one lane's rows worked by hand", () => {
  const probs = { 1: 0.5, 2: 0.3, 3: 0.15, 4: 0.05 };
  const step = viewed(probs, 4, { depth: 4, tau: 0.2, fired: true });
  const list = rows(step, { 1: "a", 2: "b", 4: "d" }, 2);
  assert.deepEqual(
    list.map(({ text, kind }) => [text, kind]),
    [
      ["a", "removed"],
      ["b", "kept"],
      ["d", "tail"],
      ["everything else", "rest"],
    ],
  );
  for (const [i, [p, q]] of [
    [0.5, 0],
    [0.3, 0.6],
    [0.05, 0.1],
    [0.15, 0.3],
  ].entries()) {
    close(list[i].p, p);
    close(list[i].q, q);
  }
});

test("where all else was cut nothing else is left, whatever was rounded", () => {
  const step = viewed({ 1: 0.6667, 2: 0.3332 }, 1, { depth: 2, tau: 0.2, fired: false });
  const { p, q } = rows({ ...step, rest: 0 }, {}, 2).at(-1);
  assert.deepEqual([p, q], [0, 0]);
});

test("the rows of two lanes worked by hand", () => {
  const left = viewed({ 1: 0.5, 2: 0.3, 3: 0.15, 4: 0.05 }, 1, {
    depth: 3,
    tau: 0.2,
    fired: false,
  });
  const right = viewed({ 1: 0.5, 2: 0.3, 4: 0.12, 5: 0.08 }, 2, {
    depth: 3,
    tau: 0.2,
    fired: true,
  });
  const list = pairOf([left, right], 10, 0);
  // In the order of the left lane, then what only the right one has.
  assert.deepEqual(
    list.map(({ text }) => text),
    ["t1", "t2", "t3", "t4", "everything else"],
  );
  const kinds = list.map(({ cells }) => cells.map(({ kind }) => kind));
  assert.deepEqual(kinds.slice(0, 2), [
    ["eligible", "removed"],
    ["eligible", "kept"],
  ]);
  const drawn = list.slice(0, 2).map(({ cells }) => cells.map((cell) => cell.drawn));
  assert.deepEqual(drawn, [
    [true, false],
    [false, true],
  ]);
  // Not recorded in that lane: at most what is least there, and no more than what is left.
  assert.deepEqual(
    list[2].cells.map(({ known }) => known),
    [true, false],
  );
  close(list[2].cells[1].p, 0.08);
  assert.deepEqual(
    list[3].cells.map(({ known }) => known),
    [false, true],
  );
  close(list[3].cells[0].p, 0.05);
  close(list[4].cells[1].q, 0.16);
  // From the other lane's side the rest of the order changes.
  const swapped = pairOf([left, right], 10, 1);
  assert.deepEqual(
    swapped.slice(0, 4).map(({ text }) => text),
    ["t1", "t2", "t4", "t3"],
  );
});

test("each of two columns sums to one, and no bound is too low", () => {
  const random = dice(17);
  const whole = (n) => Math.floor(random() * n);
  const distribution = () => {
    const ids = Array.from({ length: 41 }, (_, v) => v).filter(() => random() < 0.5);
    if (ids.length < 2) ids.push(41, 42);
    const weights = ids.map(() => 0.01 + random() ** 3 * 100);
    const probs = Object.fromEntries(ids.map((v, i) => [v, weights[i] / sum(weights)]));
    const how = { depth: 1 + whole(12), tau: 0.02 + 0.38 * random(), fired: random() < 0.5 };
    return { probs, step: viewed(probs, ids[whole(ids.length)], how) };
  };
  for (let round = 0; round < 300; round++) {
    const two = [distribution(), distribution()];
    const own = whole(2);
    const list = pairOf(
      two.map(({ step }) => step),
      1 + whole(12),
      own,
    );
    const ids = list.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const [k, { probs, step }] of two.entries()) {
      const cells = list.map((row) => row.cells[k]);
      const known = cells.filter((cell) => cell.known);
      close(sum(known.map(({ p }) => p)), 1);
      close(sum(known.map(({ q }) => q)), 1);
      for (const id of [...step.ids.slice(0, step.eligible), step.token])
        assert.ok(ids.includes(id));
      for (const { id, p, known } of cells.slice(0, -1)) {
        if (known) close(p, probs[id]);
        else assert.ok(p >= (probs[id] ?? 0) - 1e-9);
      }
    }
    const order = list
      .slice(0, -1)
      .map((row) => row.cells[own])
      .filter(({ known }) => known);
    assert.deepEqual(
      order,
      [...order].sort((a, b) => b.p - a.p),
    );
  }
});

test("the columns of every real step sum to one, and q of the drawn token is the server's", () => {
  let finals = 0;
  for (const { steps, texts } of blocks) {
    for (const step of steps) {
      const list = rows(step, texts, 10);
      close(sum(list.map(({ p }) => p)), 1, 1e-4);
      close(sum(list.map(({ q }) => q)), 1, 1e-3);
      const drawn = list.find((row) => row.drawn);
      close(drawn.p, step.p, 1e-4 * step.p);
      close(drawn.q, step.q, 1e-3 * step.q);
      const removed = list.filter(({ kind }) => kind === "removed").map(({ id }) => id);
      assert.deepEqual(removed.sort(), [...step.removed].sort());
      for (const row of list) if (step.removed.includes(row.id)) assert.equal(row.q, 0);
      finals += step.final ? 1 : 0;
    }
  }
  assert.ok(finals > 0, "a lane has stages behind XTC");
});

test("a cut line by hand", () => {
  assert.equal(
    cutLine(5, 0, 60, [
      [10, 20],
      [15, 30],
      [50, 70],
    ]),
    "M5 0V10M5 30V50",
  );
  assert.equal(cutLine(5, 0, 60, []), "M5 0V60");
  assert.equal(cutLine(5, 0, 60, [[-5, 99]]), "");
});

test("a cut line covers just what is no gap", () => {
  const random = dice(23);
  for (let round = 0; round < 200; round++) {
    const gaps = Array.from({ length: Math.floor(random() * 9) }, () => {
      const start = Math.floor(random() * 140) - 20;
      return [start, start + Math.floor(random() * 40)];
    }).sort(([a, b], [c, d]) => a - c || b - d);
    const drawn = new Set();
    for (const [, start, end] of cutLine(5, 0, 100, gaps).matchAll(/M5 (\d+)V(\d+)/g)) {
      for (let y = Number(start); y < Number(end); y++) drawn.add(y);
    }
    for (let y = 0; y < 100; y++) {
      assert.equal(drawn.has(y), !gaps.some(([start, end]) => y >= start && y < end));
    }
  }
});

const cell = (kind, p, q, more = {}) => ({ id: 1, text: "a", kind, p, q, known: true, ...more });

test("only what was removed can be restored", () => {
  const list = [cell("removed", 0.5, 0), cell("kept", 0.3, 0.6), cell("tail", 1e-5, 2e-5)];
  for (const [open, restore] of [
    [true, [true, false, false]],
    [false, [false, false, false]],
  ]) {
    const after = beforeAndAfter({ tau: 0.1 }, list, open).list.map(({ cells }) => cells[1]);
    assert.deepEqual(
      after.map((one) => one.restore),
      restore,
    );
    assert.deepEqual(
      after.map((one) => one.value),
      ["removed", "60\u00a0%", "0.002\u00a0%"],
    );
  }
  const heads = [
    { title: "A", open: false },
    { title: "B", open: true },
  ];
  const pair = list.map((row) => ({ ...row, cells: [row, row] }));
  const [left, right] = sideBySide(heads, pair).list[0].cells;
  assert.deepEqual([left.gone, left.value, left.restore], ["50\u00a0%", " removed", false]);
  assert.deepEqual([right.gone, right.value, right.restore], ["50\u00a0%", "", true]);
});

test("what a click on a word does", () => {
  const look = { name: "XTC", step: { token: 3, removed: [1, 2] }, imagined: false };
  assert.deepEqual(deedOf(look, 5, false), ["Continue with ", " instead"]);
  assert.deepEqual(deedOf(look, 5, true), ["Continue with ", " instead in XTC"]);
  assert.deepEqual(deedOf(look, 1, false), ["Restore ", " and continue with it"]);
  assert.deepEqual(deedOf({ ...look, imagined: true }, 1, false), ["Continue with ", " instead"]);
  assert.equal(deedOf(look, 3, false), null, "the text has this word");
  assert.equal(deedOf(look, -1, false), null, "everything else");
});

test("a typed word begins with a space where the model's own words do", () => {
  const texts = { 1: " girl", 2: "ly", 3: ",", 4: " the", 5: "猫" };
  const wants = (...pairs) =>
    wantsSpace({ ids: pairs.map(([id]) => id), probs: pairs.map(([, p]) => p) }, texts);
  assert.equal(wants([1, 0.5], [2, 0.3], [3, 0.2]), true);
  assert.equal(wants([2, 0.5], [1, 0.2], [4, 0.2]), false, "in the middle of a word");
  assert.equal(wants([3, 0.9], [4, 0.1]), true, "a comma is no word");
  assert.equal(wants([5, 0.9], [4, 0.1]), false, "a language without spaces");
  assert.equal(wants([3, 1]), false);
});

test("the drawn sign of a what-if is the text's word", () => {
  const drawn = cell("removed", 0.5, 0, { drawn: true });
  assert.equal(stateOf(drawn, false), "removed, drawn");
  assert.equal(stateOf(drawn, true), "removed, the text's word");
  assert.equal(stateOf({ ...drawn, known: false }, false), "not among the recorded");
  assert.equal(stateOf({ ...drawn, p: 0, known: false }, false), "cut before XTC");
});

test("what a lane cut has no share, and what is not recorded has at most one", () => {
  const one = cell("tail", 0.02, 0.02);
  const heads = [
    { title: "A", open: false },
    { title: "B", open: false },
  ];
  for (const [p, words] of [
    [0, "0\u00a0%"],
    [0.004, "≤ 0.4\u00a0%"],
  ]) {
    const row = { id: 1, text: "a", cells: [one, { ...one, p, q: 0, known: false }] };
    assert.equal(sideBySide(heads, [row]).list[0].cells[1].value, words);
  }
});

test("the share below τ, before and after", () => {
  assert.equal(tailShare({ tail: [0.08, 0.24], tail_bound: false }), "8\u00a0% → 24\u00a0%");
  assert.equal(tailShare({ tail: [0.3, 0.3], tail_bound: true }), "at most 30\u00a0%");
  // What the bars show below τ, and everything else, is all of the tail.
  for (const step of blocks.flatMap((block) => block.steps)) {
    const list = rows(step, {}, 10).filter(({ kind }) => kind === "tail" || kind === "rest");
    close(sum(list.map(({ p }) => p)), step.tail[0], 1e-4);
    close(sum(list.map(({ q }) => q)), step.tail[1], 1e-4);
  }
});

test("the page says whether two distributions are the same", () => {
  const plain = specification.baseline.sampler;
  const warm = { ...plain, temperature: 1.3, top_p: 0.9 };
  const xtc = { ...plain, xtc: { ...plain.xtc, rho: 0.5 } };
  const late = { ...plain, order: [...plain.order].reverse() };
  const say = (a, b, parted, i) => sameness([a, b], parted, i, specification.knobs);
  const same = "so the model gives both the same probabilities";
  assert.equal(
    say(plain, xtc, -1, 0),
    `Both lanes begin at the same prompt, ${same}; only the settings of XTC differ.`,
  );
  const start = `Both lanes have written the same text so far, ${same}`;
  assert.equal(say(plain, plain, -1, 4), `${start}, and their settings are the same too.`);
  assert.match(say(plain, xtc, 4, 4), /only the settings of XTC differ\. Here they part\.$/);
  assert.match(say(warm, xtc, 9, 4), /differs by their settings \(temperature, top-p\)\.$/);
  assert.match(say(plain, late, -1, 4), /\(the order of the stages\)\.$/);
  const differ = "The texts differ since token 5, so these are two different distributions.";
  assert.deepEqual([say(plain, xtc, 4, 5), say(warm, xtc, 4, 90)], [differ, differ]);
});

test("a verdict for each outcome, and none that was drawn in a what-if", () => {
  const step = { outcome: "fired", changed: true, forced: false, rho: 0.5 };
  const light = { pending: false, imagined: false };
  assert.equal(verdict(step, light), "XTC fired and changed the word");
  assert.equal(verdict(step, { ...light, pending: true }), "XTC fires");
  assert.match(verdict(step, { ...light, imagined: true }), /^What if/);
  assert.equal(verdict({ ...step, forced: true }, light), "You chose this token");
  assert.equal(verdict({ ...step, outcome: "skipped", rho: 0 }, light), "XTC is off");
});

test("facts of one lane and of two have the same numbers", () => {
  const [left, right] = [blocks[0].steps[3], blocks[1].steps[3]];
  const [one, two] = [facts(left), factsOfTwo([left, right])];
  assert.deepEqual(
    two.slice(0, -1).map(([name, value]) => [name, value]),
    one.slice(0, -1),
  );
  assert.equal(one.find(([name]) => name.startsWith("Rank"))[1], String(left.rank));
});

test("a look has the step's record, hides what is not drawn yet, and says what a what-if is", async () => {
  const imagined = read("imagined");
  const block = async (_run, lane, _index, _depth, xtc) => (xtc ? imagined : blocks[lane]);
  const playback = new Playback({ block });
  playback.take(whole);
  const at = { lane: 1, i: 2 };
  const look = async () => {
    lookAt(playback, at, specification);
    await new Promise((resolve) => setTimeout(resolve));
    return lookAt(playback, at, specification);
  };
  const seen = await look();
  assert.equal(seen.step.token, playback.run.chip(at).id);
  assert.deepEqual(seen.said, [...seen.step.said, ...seen.step.drew]);
  playback.setReveal(2, true);
  const hidden = await look();
  assert.deepEqual([hidden.pending, hidden.step.token, hidden.step.changed], [true, -1, false]);
  assert.deepEqual(hidden.said, hidden.step.said);
  playback.setReveal(Number.POSITIVE_INFINITY, false);
  const xtc = { rho: 1, tau: 0.05, strategy: "keep_least" };
  playback.imagine([null, { ...read("what_if"), xtc }, null]);
  const other = await look();
  assert.equal(other.imagined, true);
  assert.match(other.tag, /^what if ρ 1 · τ 0\.05/);
  assert.equal(other.sampler.xtc.rho, 1);
});

test("every stage that a step went through has a name for people", () => {
  const names = new Set(specification.order.map(([, label]) => label));
  for (const view of read("stages")) {
    for (const { name, probs, rest } of view.stages) {
      for (const part of stageName(name, specification).split(" + ")) {
        assert.ok(part === "model" || names.has(part), part);
      }
      close(sum(probs) + rest, 1, 1e-3);
      assert.equal(probs.length, view.ids.length);
    }
  }
});

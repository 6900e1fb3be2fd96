import assert from "node:assert/strict";
import { test } from "node:test";
import { Playback } from "../../assets/web/session/playback.js";
import { read } from "./payload.js";

const whole = read("whole");
const blocks = read("blocks");
const EVENTS = "run chips state select reveal mode pieces imagine marks block problem";

/** A playback with the run on show, and what it said meanwhile. */
function begin({ block = async (_run, lane) => blocks[lane] } = {}) {
  const playback = new Playback({ block });
  const heard = [];
  for (const name of EVENTS.split(" ")) {
    playback.on(name, (detail) => heard.push([name, detail]));
  }
  return { playback, heard, names: () => heard.splice(0).map(([name]) => name) };
}

test("the first message of a run opens it, and each says what is new", () => {
  const { playback, names } = begin();
  assert.equal(playback.take({ ...whole, state: "running" }), true);
  assert.deepEqual(names(), ["run", "select", "chips", "state"]);
  assert.equal(playback.busy, true);
  // XTC is on in the second lane, so that is the one to look at.
  assert.equal(playback.lane, 1);
  assert.equal(playback.take({ run: whole.run, state: "done" }), true);
  assert.deepEqual(names(), ["state"]);
  assert.equal(playback.busy, false);
  assert.equal(playback.take({ run: "another", state: "running", add: [], at: [] }), false);
});

test("a selection stays within what is shown", () => {
  const { playback, names } = begin();
  playback.select(0, 3);
  assert.equal(playback.selected, null);
  playback.take(whole);
  names();
  const last = playback.shown(0) - 1;
  playback.select(0, 1e9, "key");
  assert.deepEqual(playback.selected, { lane: 0, i: last });
  playback.select(0, -5);
  assert.deepEqual(playback.focus, { lane: 0, i: 0 });
  playback.select(7, 0);
  assert.deepEqual(playback.selected, { lane: 0, i: 0 });
  playback.look(2, "key");
  assert.deepEqual(playback.selected, { lane: 2, i: 0 });
  playback.hover({ lane: 1, i: 4 });
  assert.deepEqual(playback.focus, { lane: 1, i: 4 });
  names();
  playback.hover({ lane: 1, i: 4 });
  assert.deepEqual(names(), []);
  playback.hover(null);
  assert.deepEqual(playback.focus, { lane: 2, i: 0 });
});

test("seeking finds the next firing and the one before", () => {
  const { playback } = begin();
  playback.take(whole);
  const fired = playback.run.lanes[1].chips.flatMap((chip, i) => (chip.outcome === 3 ? [i] : []));
  assert.ok(fired.length > 1);
  playback.select(1, 0);
  const test = (chip) => chip.outcome === 3;
  const next = fired.filter((i) => i > 0);
  playback.seek(1, test);
  assert.equal(playback.selected.i, next[0]);
  playback.seek(1, test);
  assert.equal(playback.selected.i, next[1]);
  playback.seek(-1, test);
  assert.equal(playback.selected.i, next[0]);
});

test("step by step one looks first and then draws", () => {
  const { playback } = begin();
  playback.expect(true);
  playback.take(whole);
  assert.deepEqual([playback.stepping, playback.pending, playback.shown(1)], [true, true, 0]);
  assert.deepEqual(playback.focus, { lane: 1, i: 0 });
  playback.setReveal(1, false);
  assert.deepEqual(playback.selected, { lane: 1, i: 0 });
  assert.equal(playback.pending, false);
  playback.setReveal(1, true);
  assert.deepEqual(playback.focus, { lane: 1, i: 1 });
  playback.setReveal(Number.POSITIVE_INFINITY, false);
  assert.equal(playback.stepping, false);
  assert.equal(playback.shown(1), whole.add[1].length);
  // The next run is shown at once again.
  playback.take({ ...whole, run: "next" });
  assert.equal(playback.stepping, false);
});

test("a step's record is fetched once, with its neighbours, and anew for a what-if", async () => {
  const asked = [];
  const { playback } = begin({
    block: async (...question) => {
      asked.push(question);
      return blocks[question[1]];
    },
  });
  playback.take(whole);
  const at = { lane: 1, i: 3 };
  assert.equal(playback.step(at), undefined);
  assert.equal(playback.step(at), undefined);
  assert.deepEqual(asked, [[whole.run, 1, 0, 10, null]]);
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(playback.step(at).step.token, playback.run.chip(at).id);
  playback.prefetch(at);
  assert.deepEqual(
    asked.slice(1).map((question) => question[1]),
    [0, 2],
  );
  const xtc = { rho: 1, tau: 0.05, strategy: "keep_least" };
  playback.imagine([null, { ...read("what_if"), xtc }, null]);
  assert.equal(playback.step(at), undefined);
  assert.deepEqual(asked.at(-1), [whole.run, 1, 0, 10, xtc]);
  playback.setCandidates(50);
  assert.equal(playback.step(at), undefined);
  assert.equal(asked.at(-1)[3], 50);
});

test("a block that cannot be had is said and asked for again", async () => {
  let broken = true;
  const { playback, heard } = begin({
    block: async (_run, lane) => {
      if (broken) throw new Error("the server is away");
      return blocks[lane];
    },
  });
  playback.take(whole);
  playback.step({ lane: 0, i: 0 });
  await new Promise((resolve) => setTimeout(resolve));
  const [, problem] = heard.find(([name]) => name === "problem");
  assert.match(problem.message, /could not be loaded: the server is away/);
  broken = false;
  playback.step({ lane: 0, i: 0 });
  await new Promise((resolve) => setTimeout(resolve));
  assert.ok(playback.step({ lane: 0, i: 0 }));
});

test("marks are gone with the run that they are of", () => {
  const { playback, names } = begin();
  playback.setMarks(null);
  assert.deepEqual(names(), []);
  playback.take(whole);
  names();
  const marks = { lane: 1, steps: [2, 5], words: "so" };
  playback.setMarks(marks);
  assert.equal(playback.marks, marks);
  assert.deepEqual(names(), ["marks"]);
  playback.take({ ...whole, run: "another" });
  assert.equal(playback.marks, null);
  assert.deepEqual(names().slice(0, 2), ["marks", "run"]);
});

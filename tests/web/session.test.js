import assert from "node:assert/strict";
import { test } from "node:test";
import { statusWords } from "../../assets/web/lanes/statusline.js";
import { next } from "../../assets/web/session/phases.js";
import { Playback } from "../../assets/web/session/playback.js";
import { Session } from "../../assets/web/session/session.js";
import { AwayError, GoneError } from "../../assets/web/wire/errors.js";
import { dice, read } from "./payload.js";

const PHASES = ["idle", "asked", "starting", "waiting", "writing", "stopping", "lost", "cut"];
const HAPPENINGS = [
  ...["ask", "starting", "waiting", "running", "stop"],
  ...["miss", "heal", "cut", "again", "end"],
];
const DRAFT = { prompt: "Once upon", settings: {}, protect: {} };

const [started, ...rest] = read("stream");
const whole = read("whole");

/** The run in three messages, as a server with a slower model sends it. */
function pieces(run = whole.run, req = 1) {
  const about = { req, run };
  const cut = (from, to) => ({
    ...about,
    state: "running",
    at: whole.add.map(() => from),
    add: whole.add.map((chips) => chips.slice(from, to)),
    stats: whole.stats,
    finish: whole.finish.map(() => null),
  });
  return [
    { ...about, state: "starting" },
    { ...cut(0, 10), head: whole.head },
    cut(10, 30),
    { ...cut(30), finish: whole.finish, state: "done" },
  ];
}

/** A session whose server answers as told; `said` is all that happened. */
function begin(more = {}) {
  const said = [];
  const transport = {
    run: (request) => said.push(["run", request.req]),
    stop: (run) => said.push(["stop", run]),
    block: async () => ({ first: 0, steps: [], texts: {} }),
    ...more,
  };
  const playback = new Playback(transport);
  const session = new Session(transport, playback);
  session.on("phase", () => said.push(["phase", session.phase]));
  for (const name of ["come", "replace", "refused"]) session.on(name, () => said.push([name]));
  return { session, playback, said, take: () => said.splice(0) };
}

test("whatever happens, a phase is one of the eight, and an end is an end", () => {
  const random = dice(3);
  for (let round = 0; round < 200; round++) {
    let phase = "idle";
    for (let i = 0; i < 20; i++) {
      phase = next(phase, HAPPENINGS[Math.floor(random() * HAPPENINGS.length)]);
      assert.ok(PHASES.includes(phase));
    }
    assert.equal(next(phase, "end"), "idle");
    // Only who is idle can ask.
    assert.equal(next(phase, "ask"), phase === "idle" ? "asked" : phase);
  }
});

test("a run is asked for, written and done", async () => {
  const { session, playback, take } = begin();
  assert.equal(session.ask({ kind: "run" }, { draft: DRAFT }), true);
  assert.deepEqual(take(), [
    ["phase", "asked"],
    ["run", 1],
  ]);
  assert.equal(session.ask({ kind: "run" }), false, "one at a time");
  for (const message of [started, ...rest]) await session.receive(message);
  assert.deepEqual(
    playback.run.lengths,
    whole.add.map((chips) => chips.length),
  );
  assert.equal(session.phase, "idle");
  assert.equal(session.ending, "done");
  assert.deepEqual(session.base, DRAFT);
  assert.deepEqual(playback.selected, playback.run.telling());
  const [first, ...others] = take();
  assert.deepEqual(first, ["phase", "starting"]);
  assert.deepEqual(others.at(-1), ["phase", "idle"]);
});

test("messages about an earlier request change nothing", async () => {
  const { session, playback, take } = begin();
  session.ask({ kind: "run" });
  for (const message of pieces()) await session.receive(message);
  session.ask({ kind: "run" });
  take();
  const [, , late] = pieces("late", 1);
  await session.receive(late);
  assert.deepEqual(take(), []);
  assert.equal(session.phase, "asked");
  assert.equal(playback.run.id, whole.run);
});

test("who waits is told how many are ahead", async () => {
  const { session, take } = begin();
  session.ask({ kind: "run" });
  take();
  await session.receive({ req: 1, run: "a", state: "waiting", place: 2, note: "" });
  await session.receive({ req: 1, run: "a", state: "waiting", place: 1, note: "" });
  assert.deepEqual(take(), [
    ["phase", "waiting"],
    ["phase", "waiting"],
  ]);
  assert.equal(session.place, 1);
  assert.match(statusWords(session), /one run is ahead/);
  await session.receive({ req: 1, run: "a", state: "waiting", place: 0, note: "Loading." });
  assert.equal(statusWords(session), "Loading.");
});

test("a stop waits for the run's name, and for its end", async () => {
  const { session, take } = begin();
  session.ask({ kind: "run" });
  session.stop();
  take();
  const [first, second, third] = pieces();
  await session.receive(first);
  assert.deepEqual(take(), [["stop", whole.run]]);
  await session.receive(second);
  await session.receive(third);
  assert.equal(session.phase, "stopping");
  await session.receive({ req: 1, run: whole.run, state: "stopped" });
  assert.deepEqual([session.phase, session.ending], ["idle", "stopped"]);
  assert.equal(statusWords(session), "Stopped.");
});

test("what was missed is asked for, once, and what comes meanwhile waits", async () => {
  const questions = [];
  let answer = () => {};
  const open = (...question) => {
    questions.push(question);
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  const { session, playback, take } = begin({ open });
  session.ask({ kind: "run" });
  const [first, second, , last] = pieces();
  await session.receive(first);
  await session.receive(second);
  take();
  const healed = session.receive(last);
  const more = session.receive({ req: 1, run: whole.run, state: "done" });
  assert.equal(session.phase, "lost");
  assert.deepEqual(questions, [[whole.run, [10, 10, 10]]]);
  const at = [10, 10, 10];
  answer({ ...whole, at, add: whole.add.map((chips) => chips.slice(10)) });
  await Promise.all([healed, more]);
  assert.deepEqual(
    playback.run.lengths,
    whole.add.map((chips) => chips.length),
  );
  assert.equal(questions.length, 1);
  assert.deepEqual(take(), [
    ["phase", "lost"],
    ["phase", "writing"],
    ["phase", "idle"],
  ]);
});

test("what cannot be healed is said, and the run still has its end", async () => {
  const open = () => Promise.reject(new Error("the server is away"));
  const { session, take } = begin({ open });
  session.ask({ kind: "run" });
  const [first, second, third, last] = pieces();
  for (const message of [first, second]) await session.receive(message);
  take();
  const gap = { ...third, at: [20, 20, 20], add: third.add.map((chips) => chips.slice(10)) };
  await session.receive(gap);
  assert.deepEqual(take(), [["phase", "lost"], ["refused"]]);
  await session.receive(last);
  assert.deepEqual(take(), [["refused"], ["phase", "idle"]]);
});

test("a request that is refused leaves the run on show", async () => {
  const { session, playback, take } = begin();
  session.ask({ kind: "run" });
  for (const message of pieces()) await session.receive(message);
  session.ask({ kind: "run" });
  take();
  for (const message of read("refusal")) await session.receive({ ...message, req: 2 });
  assert.equal(session.ending, "failed");
  assert.equal(playback.run.id, whole.run);
  assert.deepEqual(take().at(-1), ["phase", "idle"]);
});

test("a run takes the place of another, and Undo brings that back", async () => {
  const opened = [];
  const open = async (run, at) => {
    opened.push([run, at]);
    return { ...whole, run };
  };
  const { session, playback, take } = begin({ open });
  session.ask({ kind: "run" }, { draft: DRAFT });
  for (const message of pieces()) await session.receive(message);
  assert.equal(session.canUndo, false);
  playback.select(0, 5);
  const second = { ...DRAFT, prompt: "Another" };
  session.ask({ kind: "run" }, { draft: second });
  take();
  for (const message of pieces("second", 2)) await session.receive(message);
  assert.equal(take().filter(([name]) => name === "replace").length, 1);
  assert.deepEqual([playback.run.id, session.base, session.canUndo], ["second", second, true]);
  const drafts = [];
  session.on("come", ({ draft }) => drafts.push(draft));
  await session.undo();
  assert.deepEqual(opened, [[whole.run, []]]);
  assert.deepEqual([playback.run.id, session.canUndo], [whole.run, false]);
  assert.deepEqual(playback.selected, { lane: 0, i: 5 });
  assert.deepEqual(drafts, [DRAFT]);
});

test("a goal is looked at as soon as it is written, and then no more", async () => {
  const { session, playback } = begin();
  session.ask({ kind: "run" }, { goal: { lane: 0, i: 12 } });
  const [first, second, third, last] = pieces();
  await session.receive(first);
  await session.receive(second);
  assert.equal(playback.selected, null, "ten tokens are there");
  await session.receive(third);
  assert.deepEqual(playback.selected, { lane: 0, i: 12 });
  playback.select(1, 3);
  await session.receive(last);
  assert.deepEqual(playback.selected, { lane: 1, i: 3 });
});

test("a run that ends before its goal is looked at where it ends", async () => {
  const { session, playback } = begin();
  session.ask({ kind: "run" }, { goal: { lane: 0, i: 900 } });
  for (const message of pieces()) await session.receive(message);
  assert.deepEqual(playback.selected, { lane: 0, i: whole.add[0].length - 1 });
});

test("nothing is empty between a run and a branch of it", async () => {
  const { session, playback } = begin();
  session.ask({ kind: "run" });
  for (const message of pieces()) await session.receive(message);
  let [empty, seen] = [false, 0];
  session.ask({ kind: "branch" }, { goal: { lane: 2, i: 4 } });
  const [first, ...others] = pieces("branch", 2);
  await session.receive(first);
  assert.equal(playback.run.id, whole.run, "the former run stays until there is another");
  for (const message of others) {
    await session.receive(message);
    seen += 1;
    if (!playback.run.chip(playback.selected)) empty = true;
  }
  assert.deepEqual([seen, empty], [3, false]);
  assert.deepEqual(playback.selected, { lane: 2, i: 4 });
});

test("a recorded run and a file come without a request", async () => {
  const load = async () => ({ ...whole, run: "file", state: "loaded" });
  const { session, playback, take } = begin({ load });
  await session.receive({ ...whole, state: "recorded", select: [1, 2] });
  assert.deepEqual([session.phase, session.origin.kind], ["idle", "recorded"]);
  assert.deepEqual(playback.selected, { lane: 1, i: 2 });
  assert.deepEqual(take(), [["come"]]);
  await session.load("{}", "mine.json");
  assert.deepEqual(session.origin, { kind: "file", name: "mine.json", unknown: [] });
  assert.deepEqual([playback.run.id, session.canUndo], ["file", true]);
});

test("a run of a model that was loaded meanwhile says so", async () => {
  const { session } = begin();
  session.use({ ...whole.head.model, name: "before" });
  assert.deepEqual([session.hasModel, session.ours], [true, false]);
  session.ask({ kind: "run" });
  for (const message of pieces()) await session.receive(message);
  assert.deepEqual(session.origin, { kind: "elsewhere", name: whole.head.model.name });
  session.use(whole.head.model);
  assert.equal(session.ours, true);
});

test("in a replay nothing can be asked for, and the run is there", async () => {
  const playback = new Playback({ block: async () => read("blocks")[0] });
  const session = new Session({ block: playback.step }, playback);
  await session.receive({ ...whole, run: "replay" });
  assert.deepEqual([session.live, session.phase, playback.run.id], [false, "idle", "replay"]);
  assert.ok(playback.selected);
});

test("what goes on from a run and holds it whole names it; an edited run does not hold it", () => {
  const { session } = begin();
  const parent = (request) => {
    session.ask(request);
    session.receive({ req: session.number, run: "x", state: "stopped" });
    return session.parent;
  };
  assert.equal(parent({ kind: "run" }), null);
  assert.equal(parent({ kind: "continue", run: "a", more: 5 }), "a");
  assert.equal(parent({ kind: "branch", run: "b", lane: 0, i: 1, token: 2 }), "b");
  assert.equal(parent({ kind: "edit", run: "a", lane: 0, text: "t", more: 5 }), null);
});

/** A session in the middle of a run, whose stream breaks off. */
async function cut(more = {}) {
  const requests = [];
  const run = (request) => requests.push(request);
  const begun = begin({ run, ...more });
  const { session } = begun;
  session.use(whole.head.model);
  session.ask({ kind: "run", prompt: "Once upon" }, { draft: DRAFT });
  const [first, second] = pieces();
  await session.receive(first);
  await session.receive(second);
  session.cut(1);
  return { ...begun, requests };
}

/** What the server has of the run, up to a length. */
const upTo = (length, state) => async (run, at) => ({
  ...whole,
  run,
  state,
  at,
  add: whole.add.map((chips, k) => chips.slice(at[k], length)),
  finish: whole.finish.map(() => null),
});

test("of a run that was cut off the rest is asked for, when the server is back", async () => {
  const { session, playback, requests } = await cut({ open: upTo(25, "stopped") });
  assert.equal(session.phase, "cut");
  assert.match(statusWords(session), /rest/);
  assert.deepEqual(playback.run.lengths, [10, 10, 10]);
  await session.mend();
  assert.equal(session.phase, "asked");
  const { length } = whole.head;
  const rest = { kind: "continue", run: whole.run, more: length - 25, req: 2 };
  assert.deepEqual(requests.at(-1), rest);
  assert.equal(session.parent, whole.run);
  await session.receive({ ...whole, req: 2, run: "longer", state: "done" });
  assert.equal(playback.run.id, "longer");
  assert.deepEqual([session.phase, session.ending], ["idle", "done"]);
  assert.deepEqual(session.base, DRAFT);
});

test("what has come to its end meanwhile is only fetched", async () => {
  const { session, playback, requests } = await cut({ open: upTo(60, "done") });
  await session.mend();
  assert.deepEqual([session.phase, session.ending, requests.length], ["idle", "done", 1]);
  assert.equal(playback.run.longest, Math.max(...whole.add.map((chips) => chips.length)));
});

test("what the server has no more is asked for again, and its text is no run of before", async () => {
  const open = async () => Promise.reject(new GoneError("no longer"));
  const { session, playback, requests } = await cut({ open });
  await session.mend();
  assert.deepEqual(requests.at(-1), { kind: "run", prompt: "Once upon", req: 2 });
  for (const message of pieces("second", 2)) await session.receive(message);
  assert.deepEqual([playback.run.id, session.phase], ["second", "idle"]);
  assert.equal(session.canUndo, false);
});

test("while it is away, or its model not known, what was cut off waits", async () => {
  const away = await cut({ open: async () => Promise.reject(new AwayError()) });
  await away.session.mend();
  assert.deepEqual([away.session.phase, away.requests.length], ["cut", 1]);
  const loading = await cut({ open: upTo(25, "stopped") });
  loading.session.use(null);
  await loading.session.mend();
  assert.equal(loading.session.phase, "cut");
  loading.session.use(whole.head.model);
  await loading.session.mend();
  assert.equal(loading.session.phase, "asked");
});

test("another model does not write it on: the text stays, and says why", async () => {
  const open = async () => Promise.reject(new GoneError("no longer"));
  const { session, playback, requests } = await cut({ open });
  session.use({ ...whole.head.model, name: "another" });
  await session.mend();
  assert.deepEqual([session.phase, session.ending, requests.length], ["idle", "stopped", 1]);
  assert.deepEqual(session.origin, { kind: "cut", name: "another" });
  assert.deepEqual([playback.run.state, session.ours], ["stopped", false]);
});

test("Stop gives up what was cut off; what was being stopped is not taken up again", async () => {
  const { session, playback } = await cut();
  session.stop();
  assert.deepEqual([session.phase, playback.run.state], ["idle", "stopped"]);
  const { session: other } = begin();
  other.ask({ kind: "run" });
  other.stop();
  other.cut(1);
  assert.equal(other.phase, "idle");
});

test("a connection that breaks off again and again is given up", async () => {
  const open = async () => Promise.reject(new GoneError("no longer"));
  const { session, requests, take } = await cut({ open });
  for (let k = 0; k < 20 && session.phase === "cut"; k++) {
    await session.mend();
    session.cut(session.number);
  }
  assert.equal(session.phase, "idle");
  assert.ok(requests.length <= 7);
  assert.ok(take().some(([name]) => name === "refused"));
});

test("a page that was loaded anew is where it was", async () => {
  const open = async (run) => ({ ...whole, run });
  const { session, playback } = begin({ open });
  session.ask({ kind: "run" }, { draft: DRAFT });
  for (const message of pieces()) await session.receive(message);
  session.ask({ kind: "run" }, { draft: { ...DRAFT, prompt: "Another" } });
  for (const message of pieces("second", 2)) await session.receive(message);
  playback.select(1, 7);
  const kept = structuredClone(session.memory);
  const { session: other, playback: again } = begin({ open });
  other.restore(kept, { ...whole, run: "second" }, false);
  assert.deepEqual([again.run.id, other.phase, other.canUndo], ["second", "idle", true]);
  assert.deepEqual(again.selected, { lane: 1, i: 7 });
  await other.undo();
  assert.equal(again.run.id, whole.run);
  await other.redo();
  assert.equal(again.run.id, "second");
});

test("what was being written when the page was loaded anew goes on, or stays stopped", async () => {
  const { session, playback } = await cut();
  const kept = structuredClone(session.memory);
  const message = playback.run.whole();
  for (const onward of [true, false]) {
    const requests = [];
    const run = (request) => requests.push(request);
    const { session: other, playback: again } = begin({ run, open: upTo(25, "stopped") });
    other.use(whole.head.model);
    other.restore(kept, message, onward);
    await other.mend();
    assert.equal(other.phase, onward ? "asked" : "idle");
    assert.deepEqual(
      requests.map(({ kind }) => kind),
      onward ? ["continue"] : [],
    );
    if (!onward) assert.equal(again.run.state, "stopped");
  }
});

test("Redo goes forth again, and a new run ends that", async () => {
  const gone = new Set();
  const open = async (run) => {
    if (gone.has(run)) throw new GoneError("no longer");
    return { ...whole, run };
  };
  const { session, playback } = begin({ open });
  for (const [k, name] of ["a", "b", "c"].entries()) {
    session.ask({ kind: "run" });
    for (const message of pieces(name, k + 1)) await session.receive(message);
  }
  await session.undo();
  await session.undo();
  assert.deepEqual([playback.run.id, session.canUndo, session.canRedo], ["a", false, true]);
  await session.redo();
  assert.deepEqual([playback.run.id, session.canUndo, session.canRedo], ["b", true, true]);
  gone.add("c");
  await assert.rejects(session.redo(), /no longer/);
  assert.deepEqual([playback.run.id, session.canRedo], ["b", false]);
  await session.undo();
  assert.equal(session.canRedo, true);
  session.ask({ kind: "run" });
  for (const message of pieces("d", 4)) await session.receive(message);
  assert.deepEqual([session.canUndo, session.canRedo], [true, false]);
});

test("the way back is kept while the server is away", async () => {
  let open = async () => Promise.reject(new AwayError());
  const { session, playback } = begin({ open: (...question) => open(...question) });
  for (const [k, name] of ["a", "b"].entries()) {
    session.ask({ kind: "run" });
    for (const message of pieces(name, k + 1)) await session.receive(message);
  }
  await assert.rejects(session.undo(), AwayError);
  assert.deepEqual([playback.run.id, session.canUndo], ["b", true]);
  open = async (run) => ({ ...whole, run });
  await session.undo();
  assert.equal(playback.run.id, "a");
});

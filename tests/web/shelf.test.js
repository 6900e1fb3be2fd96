import assert from "node:assert/strict";
import { test } from "node:test";
import { Run } from "../../assets/web/session/run.js";
import {
  excess,
  heading,
  matching,
  ordered,
  passage,
  titleOf,
} from "../../assets/web/shelf/entry.js";
import { Shelf } from "../../assets/web/shelf/shelf.js";
import { memoryStore } from "../../assets/web/shelf/store.js";
import { dice, read } from "./payload.js";

const whole = read("whole");
const spec = read("specification");

function entry(id, more = {}) {
  const lanes = [
    { name: "Baseline", tag: "plain sampling", tokens: 2, text: " was a girl" },
    { name: "XTC", tag: "ρ 0.50 · τ 0.10", tokens: 3, text: " was a bear in a café" },
  ];
  const facts = { prompt: "Once upon a time", model: "story-model", seed: 7, lanes };
  const own = { version: "1", name: "", pinned: false, time: 0, bytes: 10 };
  return { id, ...own, ...facts, ...more };
}

const ids = (entries) => entries.map(({ id }) => id);

test("pinned runs come first, then the newest", () => {
  const entries = [
    entry("old", { time: 1 }),
    entry("new", { time: 9 }),
    entry("pinned", { time: 0, pinned: true }),
  ];
  assert.deepEqual(ids(ordered(entries)), ["pinned", "new", "old"]);
});

test("a run is found by words of its name, prompt, texts, lanes and model, in any case", () => {
  const entries = [entry("a"), entry("b", { name: "The second chapter", prompt: "Twice" })];
  for (const query of ["", " ", "BEAR", "cafe", "story-model bear", "τ 0.10 girl"]) {
    assert.deepEqual(ids(matching(entries, query)), ["a", "b"], query);
  }
  assert.deepEqual(ids(matching(entries, "chapter twice")), ["b"]);
  assert.deepEqual(ids(matching(entries, "chapter once")), []);
});

test("what is found is in the passage that is shown", () => {
  assert.equal(passage(entry("a"), ""), "was a bear in a café");
  assert.equal(passage(entry("a"), "girl"), "was a girl");
  const lanes = [{ name: "x", tag: "", tokens: 1, text: `${"so ".repeat(200)}a dragon came` }];
  const long = passage({ lanes }, "Dragon");
  assert.match(long, /^…(so )+a dragon came$/);
  assert.ok(long.length <= 162);
});

test("a run is called by its name, else by how its prompt begins", () => {
  assert.equal(titleOf(entry("a")), "Once upon a time");
  assert.equal(titleOf(entry("a", { name: "One" })), "One");
  const long = titleOf(entry("a", { prompt: "and so\non ".repeat(30) }));
  assert.ok(long.length <= 80 && long.endsWith("…") && !long.includes("\n"));
});

test("the oldest make room; pinned ones and the newest stay", () => {
  const random = dice(2);
  for (let round = 0; round < 200; round++) {
    const entries = Array.from({ length: 12 }, (_, n) =>
      entry(String(n), {
        time: random(),
        pinned: random() < 0.3,
        bytes: Math.floor(random() * 20),
      }),
    );
    const bounds = { runs: 6, bytes: 60 };
    const gone = excess(entries, "5", bounds);
    const left = entries.filter((one) => !gone.includes(one));
    const within = (list) =>
      list.length <= bounds.runs && list.reduce((sum, { bytes }) => sum + bytes, 0) <= bounds.bytes;
    const free = (list) => list.filter(({ id, pinned }) => !pinned && id !== "5");
    assert.ok(gone.every(({ id, pinned }) => !pinned && id !== "5"));
    assert.ok(within(left) || !free(left).length, "there was more to take");
    // Not one too many: with the last of them back, there would be too much.
    if (gone.length) assert.ok(!within([...left, gone.at(-1)]));
    const youngest = Math.max(...gone.map(({ time }) => time));
    assert.ok(free(left).every(({ time }) => time > youngest || !gone.length));
  }
});

test("a run stands under its day", () => {
  const now = new Date(2026, 2, 1, 0, 30).getTime();
  const under = (...date) => heading({ pinned: false, time: new Date(...date).getTime() }, now);
  assert.equal(under(2026, 2, 1, 0, 1), "Today");
  assert.equal(under(2026, 1, 28, 23, 59), "Yesterday");
  assert.equal(under(2026, 1, 27), "February 27, 2026");
  assert.equal(heading({ pinned: true, time: 0 }, now), "Pinned");
});

/** A shelf on a store of its own, and runs that have ended. */
function begin(more = {}) {
  const store = memoryStore();
  const said = [];
  const files = new Map();
  const ask = async (run) => files.get(run) ?? `file of ${run}`;
  const shelf = new Shelf(ask, spec, { open: async () => store, ...more });
  shelf.on("note", ({ words }) => said.push(words));
  const run = (id, state = "done") => {
    const run = new Run(id, whole.head);
    run.grow(whole);
    run.enter(state);
    return run;
  };
  return { shelf, store, said, run, entries: async () => (await shelf.read()).entries };
}

test("a run that has ended is kept once, with its file", async () => {
  const { shelf, run, entries } = begin();
  await shelf.keep(run("a"), null);
  await shelf.keep(run("a"), null);
  for (const state of ["recorded", "loaded", "running"]) await shelf.keep(run(state, state), null);
  const [only, ...others] = await entries();
  assert.equal(others.length, 0);
  assert.equal(only.prompt, whole.head.prompt);
  assert.deepEqual(
    only.lanes.map(({ tokens }) => tokens),
    whole.add.map((chips) => chips.length),
  );
  assert.equal(await shelf.text(only.id), "file of a");
});

test("what goes on stands in the place of what it goes on from, with its name and pin", async () => {
  const { shelf, run, entries } = begin();
  await shelf.keep(run("a"), null);
  const [{ id }] = await entries();
  await shelf.change(id, { name: "One", pinned: true });
  await shelf.keep(run("b"), "a");
  const [only] = await entries();
  assert.deepEqual([only.id, only.name, only.pinned], [id, "One", true]);
  assert.equal(await shelf.text(id), "file of b");
  // After Undo, another way on from the same run takes nothing away.
  await shelf.keep(run("c"), "a");
  assert.equal((await entries()).length, 2);
  assert.equal(await shelf.text(id), "file of b");
  // One that was opened goes on in its place too.
  shelf.shown(
    (await entries()).find((one) => one.id === id),
    "opened",
  );
  await shelf.keep(run("d"), "opened");
  assert.equal(await shelf.text(id), "file of d");
});

test("what is taken off comes back as it was", async () => {
  const { shelf, run, entries } = begin();
  await shelf.keep(run("a"), null);
  const before = await entries();
  const restore = await shelf.remove(before[0]);
  assert.deepEqual(await entries(), []);
  await assert.rejects(shelf.text(before[0].id), /no longer on the shelf/);
  await restore();
  assert.deepEqual(await entries(), before);
  assert.equal(await shelf.text(before[0].id), "file of a");
});

test("what has to make room is said", async () => {
  const { shelf, run, entries, said } = begin({ bounds: { runs: 2, bytes: 1e9 } });
  for (const id of ["a", "b", "c"]) await shelf.keep(run(id), null);
  assert.equal((await entries()).length, 2);
  assert.match(said[0], /1 old run made room/);
});

test("without storage the runs are there for as long as the page is open", async () => {
  const blocked = async () => {
    throw new DOMException("denied", "SecurityError");
  };
  const { shelf, run, said } = begin({ open: blocked });
  await shelf.keep(run("a"), null);
  const { entries, lasting } = await shelf.read();
  assert.deepEqual([entries.length, lasting, said], [1, false, []]);
});

test("a run that cannot be kept is named, and may be kept later", async () => {
  const store = memoryStore();
  const full = { ...store, change: async () => Promise.reject(new Error("the storage is full")) };
  let open = full;
  const proxy = { ...store, change: (...values) => open.change(...values) };
  const { shelf, run, said, entries } = begin({ open: async () => proxy });
  await shelf.keep(run("a"), null);
  assert.match(said[0], /not on the shelf: the storage is full/);
  open = store;
  await shelf.keep(run("a"), null);
  assert.equal((await entries()).length, 1);
});

test("the texts of a run that is being written are kept, and give way to the whole of it", async () => {
  const { shelf, run, entries } = begin();
  const writing = run("a");
  await shelf.jot(writing, "place");
  const [jotted] = await entries();
  assert.deepEqual([jotted.cut, jotted.run], [true, "a"]);
  assert.deepEqual((await shelf.texts("place")).add, writing.whole().add);
  assert.equal(await shelf.trace("a"), null, "its steps are not there");
  assert.equal((await shelf.find("a")).id, "place");
  await shelf.keep(writing, null);
  assert.equal(await shelf.trace("a"), "file of a");
  await shelf.drop("place");
  assert.equal((await entries()).length, 1);
  await shelf.jot(writing, "place");
  assert.equal((await entries()).length, 1, "what is there whole stays so");
});

test("all of it goes at once, and comes back as it was", async () => {
  const { shelf, run, entries } = begin();
  for (const id of ["a", "b"]) await shelf.keep(run(id), null);
  const before = await entries();
  const restore = await shelf.clear();
  assert.deepEqual(await entries(), []);
  await restore();
  assert.deepEqual(await entries(), before);
  assert.equal(await shelf.trace("b"), "file of b");
});

test("where the browser has no room, old runs make some, and pinned ones do not", async () => {
  const store = memoryStore();
  let room = 9;
  const small = {
    ...store,
    async change(id, make, file) {
      const more = (await store.list()).every((one) => one.id !== id);
      if (file && more && (await store.list()).length >= room) {
        throw new DOMException("full", "QuotaExceededError");
      }
      return store.change(id, make, file);
    },
  };
  const { shelf, run, entries, said } = begin({ open: async () => small });
  for (let k = 0; k < 9; k++) await shelf.keep(run(`r${k}`), null);
  const oldest = (await entries()).at(-1);
  await shelf.change(oldest.id, { pinned: true });
  await shelf.keep(run("new"), null);
  const left = (await entries()).map((entry) => entry.run);
  assert.deepEqual([left.includes("new"), left.includes(oldest.run), left.length], [true, true, 5]);
  assert.match(said[0], /5 old runs made room/);
  room = 0;
  await shelf.keep(run("last"), null);
  assert.match(said.at(-1), /the browser's storage is full/);
});

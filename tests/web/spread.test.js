import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf } from "../../assets/web/session/draft.js";
import { KeptSpread } from "../../assets/web/spread/kept.js";
import { alike, covers, Spread } from "../../assets/web/spread/spread.js";
import {
  dodged,
  estimated,
  scaleOf,
  signed,
  tick,
  written,
} from "../../assets/web/spread/strip.js";
import { dice, read } from "./payload.js";

const whole = read("whole");
const MESSAGES = read("spread");
const DRAFT = draftOf(whole.head, { settings: {}, thinking: true });

/** A spread whose server is told about; `said` is all that happened. */
function begin() {
  const said = [];
  let ends;
  const spread = new Spread({
    spread: (request, to) => {
      said.push(["spread", request.seeds]);
      ends = to;
    },
    stop: (run) => said.push(["stop", run]),
  });
  spread.on("refused", ({ problem }) => said.push(["refused", problem.message]));
  const hear = (...messages) => {
    for (const message of messages) ends.onmessage(message);
  };
  return { spread, said, hear, cut: (req) => ends.oncut(req) };
}

/** One that has come to its end. */
function done(seed = 7) {
  const { spread, hear, said, cut } = begin();
  const draft = structuredClone(DRAFT);
  draft.settings.seed = seed;
  spread.ask(draft, 9);
  hear(...MESSAGES);
  return { spread, hear, said, cut, draft };
}

test("a spread is asked for, grows seed by seed and is done", () => {
  const { spread, said, hear } = begin();
  assert.equal(spread.ask(DRAFT, 9), true);
  assert.equal(spread.phase, "asked");
  assert.equal(spread.ask(DRAFT, 9), false, "one at a time");
  let seeds = 0;
  for (const message of MESSAGES) {
    hear(message);
    const { length } = spread.result?.rows ?? [];
    assert.ok((length ?? 0) >= seeds);
    seeds = length ?? 0;
  }
  assert.equal(spread.phase, "idle");
  assert.equal(spread.result.ended, "done");
  assert.deepEqual(
    spread.result.rows.map(({ seed }) => seed),
    spread.result.head.seeds,
  );
  assert.equal(spread.result.summary.means.length, whole.head.lanes.length);
  assert.deepEqual(said, [["spread", 9]]);
});

test("what is there stays until another has its turn, and then comes back", () => {
  const { spread, hear, draft } = done();
  const { result } = spread;
  spread.ask(draft, 9);
  assert.equal(spread.result, result);
  hear({ req: 2, run: "b", state: "starting" }, { req: 2, run: "b", state: "waiting", place: 2 });
  assert.equal(spread.phase, "waiting");
  assert.deepEqual(spread.waiting, { place: 2, note: "" });
  hear({ req: 2, run: "b", error: { message: "busy" } });
  assert.equal(spread.result, result, "it was refused before its turn");
  spread.ask(draft, 9);
  hear(...MESSAGES.map((message) => ({ ...message, req: 3 })));
  assert.equal(spread.former, result);
  spread.swap();
  assert.equal(spread.result, result);
});

test("Stop goes to the server as soon as it has a name, and late messages change nothing", () => {
  const { spread, said, hear } = begin();
  spread.ask(DRAFT, 9);
  spread.stop();
  hear(MESSAGES[0]);
  assert.deepEqual(said[1], ["stop", MESSAGES[0].run]);
  hear({ req: 1, run: MESSAGES[0].run, state: "running", ...MESSAGES[1] });
  assert.equal(spread.phase, "stopping");
  hear({ req: 1, run: MESSAGES[0].run, state: "stopped" });
  assert.equal(spread.phase, "idle");
  const { result } = spread;
  hear({ ...MESSAGES[2], req: 1 }, { ...MESSAGES[2], req: 0 });
  assert.equal(spread.result, result);
});

test("where the server leaves in the middle, the seeds that are there stay", () => {
  const { spread, said, hear, cut } = begin();
  spread.ask(DRAFT, 9);
  const first = MESSAGES.findIndex(({ rows }) => rows?.length);
  hear(...MESSAGES.slice(0, first + 1));
  cut(1);
  assert.equal(spread.phase, "idle");
  assert.equal(spread.result.ended, "failed");
  assert.ok(spread.result.rows.length);
  assert.match(said.at(-1)[1], /left in the middle/);
});

test("a result covers what would be written alike, with any of its seeds", () => {
  const { spread, draft } = done();
  const { result } = spread;
  const of = (change) => {
    const other = structuredClone(draft);
    change(other);
    return other;
  };
  assert.ok(covers(result, draft, 9));
  assert.ok(
    covers(
      result,
      of(({ settings }) => (settings.seed = 12)),
      9,
    ),
  );
  assert.ok(!covers(result, draft, 16));
  assert.ok(
    !covers(
      result,
      of(({ settings }) => (settings.seed = 99)),
      9,
    ),
  );
  assert.ok(
    !covers(
      result,
      of((other) => (other.prompt = "Else")),
      9,
    ),
  );
  const longer = of(({ settings }) => (settings.max_new_tokens = 99));
  assert.ok(!covers(result, longer, 9));
  assert.ok(alike(longer, draft, true));
  assert.ok(!covers(null, draft, 9));
});

test("it is here again after the page was loaded anew, and not in another version of it", () => {
  const held = new Map();
  const place = { getItem: (k) => held.get(k) ?? null, setItem: (k, v) => held.set(k, v) };
  const first = done();
  new KeptSpread(first.spread, "a,b", place).keep(first.spread.memory);
  const again = begin().spread;
  new KeptSpread(again, "a,b", place);
  assert.deepEqual(again.result, first.spread.result);
  const other = begin().spread;
  new KeptSpread(other, "a,b,c", place);
  assert.equal(other.result, null);
});

test("where there is no room for two, the one on show is kept; without storage none", () => {
  const { spread, hear, draft } = done();
  spread.ask(draft, 9);
  hear(...MESSAGES.map((message) => ({ ...message, req: 2 })));
  const held = [];
  const most = JSON.stringify(spread.memory).length - 100;
  const place = {
    getItem: () => null,
    setItem: (_, text) => {
      if (text.length > most) throw new Error("full");
      held.push(JSON.parse(text));
    },
  };
  new KeptSpread(spread, "a", place).keep(spread.memory);
  assert.deepEqual(held.at(-1).here, spread.result);
  assert.equal(held.at(-1).former, null);
  new KeptSpread(spread, "a", null).keep(spread.memory);
});

test("a scale holds all values between round numbers", () => {
  assert.deepEqual(scaleOf([0.1, 0.37], "share").ticks, [0, 0.1, 0.2, 0.30000000000000004, 0.4]);
  assert.deepEqual(scaleOf([60, 60], "tokens"), { low: 50, high: 70, ticks: [50, 55, 60, 65, 70] });
  assert.equal(scaleOf([1, 1], "ratio").high, 1);
  const random = dice(4);
  for (let round = 0; round < 500; round++) {
    const unit = ["share", "ratio", "tokens"][round % 3];
    const size = unit === "tokens" ? 4096 : 1;
    const values = Array.from({ length: 1 + Math.floor(9 * random()) }, () => {
      const value = size * random() ** (1 + 3 * random());
      return unit === "tokens" ? Math.round(value) : value;
    });
    const { low, high, ticks } = scaleOf(values, unit);
    assert.ok(low <= Math.min(...values) + 1e-9 && Math.max(...values) <= high + 1e-9);
    assert.ok(low < high && ticks.length >= 2 && ticks.length <= 8, `${ticks}`);
    assert.equal(new Set(ticks.map((value) => tick(value, unit))).size, ticks.length);
  }
  assert.ok(scaleOf([], "share").ticks.length > 1);
});

test("no dot hides another where there is room, and none leaves its strip", () => {
  const random = dice(9);
  for (let round = 0; round < 200; round++) {
    const xs = Array.from({ length: 2 + Math.floor(20 * random()) }, () => 100 * random());
    const wide = dodged(xs, 4, 1000);
    for (const [i, x] of xs.entries()) {
      for (let j = 0; j < i; j++) {
        assert.ok(Math.hypot(x - xs[j], wide[i] - wide[j]) >= 8 - 1e-3);
      }
    }
    assert.ok(dodged(xs, 4, 11).every((y) => Math.abs(y) <= 11 + 1e-9));
  }
  assert.deepEqual(dodged([5], 4, 10), [0]);
});

test("numbers with their intervals in words", () => {
  assert.equal(written(0.214, "share"), "21\u00a0%");
  assert.equal(written(1, "tokens"), "1 token");
  assert.equal(written(null, "ratio"), "–");
  assert.equal(signed(-0.041, "share"), "−4.1 points");
  assert.equal(signed(0.00002, "ratio"), "+0.00002");
  assert.equal(estimated([0.21, 0.19, 0.24], "share"), "21\u00a0% (19 to 24)");
  assert.equal(estimated([0.05, -0.01, 0.08], "ratio", signed), "+0.050 (−0.010 to +0.080)");
  assert.equal(estimated([60, 60, 60], "tokens"), "60 tokens (all the same)");
  assert.equal(estimated([60, null, null], "tokens"), "60 tokens (no interval)");
  assert.equal(estimated([null, null, null], "share"), "–");
  assert.equal(estimated(null, "share"), "–");
});

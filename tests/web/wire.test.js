import assert from "node:assert/strict";
import { test } from "node:test";
import { AwayError } from "../../assets/web/wire/errors.js";
import { edited, queueMessages } from "../../assets/web/wire/events.js";
import { Line } from "../../assets/web/wire/line.js";
import { Presence } from "../../assets/web/wire/presence.js";
import { Wire } from "../../assets/web/wire/wire.js";
import { dice } from "./payload.js";

const WHERE = { root: "https://xtc.example/a/", prefix: "/gradio_api", component: 4, event: 2 };

/** A body that comes in pieces; `broken` ends it with an error. */
function body(pieces, broken = false) {
  const bytes = pieces.map((piece) =>
    typeof piece === "string" ? new TextEncoder().encode(piece) : piece,
  );
  return new ReadableStream({
    pull(controller) {
      const piece = bytes.shift();
      if (piece) controller.enqueue(piece);
      else if (broken) controller.error(new TypeError("network error"));
      else controller.close();
    },
  });
}

const line = (message) => `data: ${JSON.stringify(message)}\n\n`;
const generating = (update) =>
  line({ msg: "process_generating", success: true, output: { data: [update] } });
const completed = line({ msg: "process_completed", success: true, output: { data: ["x"] } });

/** A server: `answers` are by path, each a function of the request, or a value. */
function server(answers) {
  const requests = [];
  const fetch = async (url, init = {}) => {
    const { pathname } = new URL(url);
    requests.push({ pathname, ...init, body: init.body && JSON.parse(init.body) });
    const answer = answers[pathname.replace("/a", "")];
    const given = typeof answer === "function" ? answer(requests.at(-1)) : answer;
    if (given === undefined) throw new TypeError("Failed to fetch");
    if (given instanceof Response) return given;
    return given instanceof ReadableStream ? new Response(given) : Response.json(given);
  };
  return { requests, fetch };
}

/** A line to such a server, and all that it says. */
function lineTo(answers, more = {}) {
  const { requests, fetch } = server(answers);
  const [messages, cuts] = [[], []];
  const wire = new Wire({ ...WHERE, token: "old" }, { fetch });
  const talk = new Line(wire, {
    kept: async () => null,
    onmessage: (message) => messages.push(message),
    oncut: (req) => cuts.push(req),
    ...more,
  });
  talk.presence.look = async () => {}; // looks when it is told to
  return { talk, wire, requests, messages, cuts };
}

const ASK = "/gradio_api/component_server/";
const JOIN = "/gradio_api/queue/join";
const DATA = "/gradio_api/queue/data";
const START = "/xtc_viz/start";
const LOAD = "/xtc_viz/trace";

async function all(messages) {
  const read = [];
  for await (const message of messages) read.push(message);
  return read;
}

test("messages come whole, however the stream is cut into pieces", async () => {
  const random = dice(5);
  const messages = [{ msg: "a", text: "ρ 🐻\n" }, { msg: "b" }, { msg: "c", text: "é" }];
  const bytes = new TextEncoder().encode(messages.map(line).join(""));
  for (let round = 0; round < 100; round++) {
    const pieces = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + Math.floor(random() * 12);
      pieces.push(bytes.slice(at, end));
      at = end;
    }
    assert.deepEqual(await all(queueMessages(body(pieces))), messages);
  }
});

test("a stream that breaks is known from one that ends, and half a line is nothing", async () => {
  assert.deepEqual(await all(queueMessages(body([line({ msg: "a" }), 'data: {"ms']))), [
    { msg: "a" },
  ]);
  await assert.rejects(all(queueMessages(body([line({ msg: "a" })], true))), AwayError);
});

test("a text is whole at first, and then edited", () => {
  assert.equal(edited(null, "one"), "one");
  assert.equal(edited("one", [["append", [], " two"]]), "one two");
  assert.equal(edited("one", [["replace", [], "three"]]), "three");
  assert.equal(edited("one", []), "one");
  assert.throws(() => edited("one", [["delete", [0], null]]), /delete/);
});

test("a question carries the token, and goes once more by the one of a new start", async () => {
  const answer = ({ headers }) =>
    headers["x-xtc-viz-token"] === "new"
      ? '{"tokens":3}'
      : new Response("This page is from before the last start.", { status: 403 });
  const { talk, requests } = lineTo({ [ASK]: answer, [START]: { token: "new" } });
  assert.deepEqual(await talk.ask("tokens", 1), { tokens: 3 });
  assert.deepEqual(
    requests.map(({ pathname }) => pathname),
    [`/a${ASK}`, `/a${START}`, `/a${ASK}`],
  );
  assert.deepEqual([requests[0].body.fn_name, requests[0].body.data], ["tokens", [1]]);
  // What is refused by the right token is refused.
  const closed = lineTo({
    [ASK]: () => new Response("", { status: 403 }),
    [START]: { token: "old" },
  });
  await assert.rejects(closed.talk.ask("tokens"), /refused this \(403\)/);
});

test("what does not reach the server says so, and it is looked for", async () => {
  const gateway = () => new Response("", { status: 502 });
  for (const answers of [{}, { [ASK]: gateway }]) {
    const { talk } = lineTo(answers);
    let looks = 0;
    talk.presence.look = async () => {
      looks += 1;
    };
    await assert.rejects(talk.ask("hello", null), AwayError);
    assert.equal(looks, 1);
  }
});

test("a run is written, and cut where its stream ends before it does", async () => {
  const text = JSON.stringify({ req: 3, state: "starting" });
  const more = JSON.stringify({ req: 3, state: "running" });
  const pieces = [line({ msg: "estimation" }), generating(text)];
  const edits = generating([["replace", [], more]]);
  const joined = { [JOIN]: { event_id: "e" } };
  const whole = lineTo({ ...joined, [DATA]: body([...pieces, edits, completed]) });
  await whole.talk.run({ kind: "run", req: 3 });
  assert.deepEqual(whole.messages, [JSON.parse(text), JSON.parse(more)]);
  assert.deepEqual(whole.cuts, []);
  const { body: asked } = whole.requests[0];
  assert.deepEqual([asked.fn_index, asked.trigger_id, asked.event_data.req], [2, 4, 3]);
  assert.match(asked.session_hash, /^[0-9a-f]{32}$/);
  for (const broken of [body(pieces), body(pieces, true), undefined]) {
    const { talk, messages, cuts } = lineTo({ ...joined, [DATA]: broken });
    await talk.run({ kind: "run", req: 3 });
    assert.deepEqual([messages.length, cuts], [broken ? 1 : 0, [3]]);
  }
});

test("a run that is refused is an answer, not a cut", async () => {
  const full = () => Response.json({ detail: "Queue is full." }, { status: 503 });
  const { talk, messages, cuts } = lineTo({ [JOIN]: full });
  await talk.run({ kind: "run", req: 1 });
  assert.match(messages[0].error.message, /busy/);
  assert.deepEqual(cuts, []);
});

test("a run that the server has no more is brought back, once for all who ask", async () => {
  const known = new Set();
  let loads = 0;
  const load = ({ body: text }) => {
    loads += 1;
    known.add(`new ${loads}`);
    return { run: `new ${loads}`, text };
  };
  const answer = ({ body: { data } }) => {
    const [run, at] = data;
    if (!known.has(run)) return JSON.stringify({ error: { message: "no longer", gone: true } });
    return JSON.stringify({ run, at });
  };
  const kept = async (run) => (run === "a" ? '"the trace of a"' : null);
  const { talk } = lineTo({ [ASK]: answer, [LOAD]: load }, { kept });
  const { transport } = talk;
  const blocks = await Promise.all([0, 1, 2].map((k) => transport.block("a", k, 0, 10, null)));
  assert.equal(loads, 1);
  assert.deepEqual(blocks[2], { run: "new 1", at: 2 });
  // The page goes on to call it by its first name.
  assert.deepEqual(await transport.open("a", [4]), { run: "a", at: [4] });
  await assert.rejects(transport.open("b", []), /no longer/);
  known.clear(); // the server was started once more
  assert.deepEqual(await transport.open("a", [5]), { run: "a", at: [5] });
  assert.equal(loads, 2);
});

test("a run goes on from one that the server has to be given first", async () => {
  const runs = [];
  const join = ({ body }) => {
    runs.push(body.event_data.run);
    return { event_id: "e" };
  };
  const data = () => {
    const gone = { req: 1, error: { message: "no longer", gone: true } };
    const message = runs.at(-1) === "new" ? { req: 1, state: "starting" } : gone;
    return body([generating(JSON.stringify(message)), completed]);
  };
  const answers = { [JOIN]: join, [DATA]: data, [LOAD]: { run: "new" } };
  const { talk, messages } = lineTo(answers, { kept: async () => '"its trace"' });
  await talk.run({ kind: "continue", run: "a", more: 5, req: 1 });
  assert.deepEqual(runs, ["a", "new"]);
  assert.deepEqual(messages, [{ req: 1, state: "starting" }]);
  const none = lineTo({ ...answers, [LOAD]: undefined });
  await none.talk.run({ kind: "continue", run: "b", more: 5, req: 1 });
  assert.equal(none.messages[0].error.gone, true);
});

test("a trace that the browser keeps needs no server", async () => {
  const kept = async (run) => (run === "a" ? "the trace of a" : null);
  const { transport } = lineTo({}, { kept }).talk;
  assert.equal(await transport.export("a", "trace"), "the trace of a");
  await assert.rejects(transport.export("a", "table"), AwayError);
  await assert.rejects(transport.export("b", "trace"), AwayError);
});

/** A presence whose server answers as `server.answer` says, and whose clock is turned by hand. */
function presenceOf() {
  const server = { answer: "first" };
  const [said, timers] = [[], []];
  const look = async () => {
    if (server.answer instanceof Error) throw server.answer;
    return server.answer;
  };
  const wait = (after, ms) => timers.push({ after, ms });
  const presence = new Presence("first", look, wait);
  presence.on("change", ({ standing }) => said.push(standing));
  presence.on("back", ({ restarted }) => said.push(["back", restarted]));
  return { presence, server, said, timers, take: () => said.splice(0) };
}

test("a server that leaves is looked for more and more seldom, until it is back", async () => {
  const { presence, server, timers, take } = presenceOf();
  await presence.look();
  assert.deepEqual(take(), []);
  server.answer = new AwayError();
  presence.lost();
  await presence.look();
  await new Promise(setImmediate);
  assert.deepEqual(take(), ["away"]);
  for (let k = 0; k < 10; k++) {
    timers.at(-1).after();
    await new Promise(setImmediate);
  }
  const waits = timers.map(({ ms }) => ms);
  assert.ok(waits[0] < 1000 && waits.at(-1) >= 4000 && Math.max(...waits) <= 6000, waits);
  server.answer = "first";
  await presence.look();
  assert.deepEqual(take(), ["here", ["back", false]]);
  server.answer = "second";
  await presence.look();
  assert.deepEqual(take(), [["back", true]]);
});

test("what broke off is healed though the server never left", async () => {
  const { presence, take } = presenceOf();
  await presence.look();
  presence.lost();
  await new Promise(setImmediate);
  assert.deepEqual(take(), [["back", false]]);
});

test("a server that is reached and does not answer is silent, not away", async () => {
  const { presence, server, take } = presenceOf();
  server.answer = new DOMException("too long", "TimeoutError");
  presence.doubt();
  await new Promise(setImmediate);
  assert.deepEqual([take(), presence.here], [["silent"], false]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { nothingToAudit, wordsOf } from "../../assets/web/models/audit.js";
import { read } from "./payload.js";

const found = read("finding");

test("an audit says what it found so far, and what that took", () => {
  const said = wordsOf({ state: "running", found });
  assert.ok(said.startsWith(found.sentence));
  assert.ok(said.endsWith(found.effort));
  assert.equal(wordsOf({ state: "done", found }), said);
  assert.equal(wordsOf({ state: "stopped", found }), `Stopped. ${said}`);
});

test("of the dice there is a sentence", () => {
  assert.equal(wordsOf({ state: "done", said: "2 of 2 tokens." }), "2 of 2 tokens.");
});

test("before there is anything it says how it stands", () => {
  assert.equal(wordsOf({ state: "starting" }), "Asking …");
  assert.equal(wordsOf({ state: "waiting", place: 0, note: "" }), "Waiting …");
  assert.equal(wordsOf({ state: "waiting", place: 2, note: "" }), "Waiting: 2 runs before it.");
  assert.equal(wordsOf({ state: "waiting", place: 1, note: "It loads." }), "It loads.");
  assert.equal(wordsOf({ state: "stopped" }), "Stopped.");
});

test("what the server has against it is said in its words", () => {
  const refused = read("audit").at(-1);
  assert.match(wordsOf(refused), /no server/);
});

test("a server without an XTC of its own is not audited, and that is said", () => {
  const served = { kind: "vLLM", version: "0.32", candidates: 20 };
  const words = "vLLM has no XTC of its own: there is nothing to audit.";
  assert.equal(nothingToAudit({ served, draws: false }), words);
  assert.equal(nothingToAudit({ served, draws: true }), "");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { size } from "../../assets/web/models/catalog.js";
import { describe, shortLine } from "../../assets/web/models/describe.js";
import { sameWeights } from "../../assets/web/session/weights.js";
import { read } from "./payload.js";

const state = read("hello");
const KNOWN = {
  name: "tiny",
  revision: "0123456789",
  parameters: 5.9e6,
  dtype: "float32",
  device: "cpu",
  decoding: "",
  served: null,
  context: 768,
  chat: false,
  thinks: false,
};

test("a number of parameters as people say it", () => {
  const numbers = [35_000, 99_499, 5.9e6, 134.5e6, 999.4e6, 1.7e9, 70.6e9];
  assert.deepEqual(numbers.map(size), [
    "35 k",
    "99 k",
    "5.9 M",
    "135 M",
    "999 M",
    "1.7 B",
    "70.6 B",
  ]);
});

test("of a model there is said what is known, and no more", () => {
  const unknown = { parameters: null, dtype: null, device: null, decoding: null, revision: null };
  assert.equal(shortLine(KNOWN), "tiny · 5.9 M · float32 · cpu");
  assert.equal(shortLine({ ...KNOWN, ...unknown }), "tiny");
  const slow = { ...KNOWN, decoding: "without a cache" };
  assert.equal(shortLine(slow), "tiny · 5.9 M · float32 · cpu · without a cache");
  const say = (model) => describe({ ...state, model, resting: false, can_rest: false }).trim();
  const all = "5.9 M parameters · float32 on cpu · context of 768 tokens · revision 0123456.";
  assert.equal(say(KNOWN), all);
  assert.equal(say(slow), all.replace("cpu", "cpu · decoded without a cache"));
  assert.equal(say({ ...KNOWN, ...unknown }), "context of 768 tokens.");
  const served = { kind: "llama.cpp", version: "b11434", candidates: null };
  const remote = { ...KNOWN, ...unknown, served };
  assert.equal(shortLine(remote), "tiny · in llama.cpp");
  assert.equal(say(remote), "in a server of llama.cpp b11434 · context of 768 tokens.");
  const capped = { ...remote, served: { kind: "a", version: "", candidates: 20 } };
  const shows = "in a server of a · which shows 20 candidates a step · context of 768 tokens.";
  assert.equal(say(capped), shows);
  assert.ok(shortLine(state.model).startsWith(state.model.name));
});

test("the same weights may be elsewhere and in another precision", () => {
  assert.equal(sameWeights(KNOWN, { ...KNOWN, device: "cuda:0", dtype: "bfloat16" }), true);
  assert.equal(sameWeights(KNOWN, { ...KNOWN, revision: "other" }), false);
  assert.equal(sameWeights(KNOWN, null), false);
});

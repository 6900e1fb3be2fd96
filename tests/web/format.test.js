import assert from "node:assert/strict";
import { test } from "node:test";
import {
  besideThreshold,
  count,
  decimal,
  percent,
  setting,
  shown,
  turns,
  visible,
} from "../../assets/web/core/format.js";

test("small probabilities keep two digits where there is room", () => {
  const probs = [0.412, 0.0321, 0.00042, 1e-5, 1.23e-6, 9.6e-7, 1e-9, 0];
  assert.deepEqual(
    probs.map((p) => percent(p, 1e-4)),
    [
      "41\u00a0%",
      "3.2\u00a0%",
      "0.042\u00a0%",
      "0.001\u00a0%",
      "0.00012\u00a0%",
      "0.000096\u00a0%",
      "<\u00a00.0001\u00a0%",
      "0\u00a0%",
    ],
  );
  assert.deepEqual(
    probs.slice(2, 5).map((p) => percent(p)),
    ["0.042\u00a0%", "<\u00a00.01\u00a0%", "<\u00a00.01\u00a0%"],
  );
});

test("white space at the ends of a token has signs, between words it has none", () => {
  assert.deepEqual(visible(" a b\n"), [
    ["·", true],
    ["a", false],
    [" ", false],
    ["b", false],
    ["↵", true],
  ]);
  assert.equal(shown(" \t"), "·⇥");
  assert.equal(shown(""), "∅");
  assert.equal(shown("a\u202eb\u2066"), "aU+202EbU+2066");
  assert.equal(shown(" \u200fשלום"), "·U+200Fשלום");
  assert.deepEqual(["\u202e", "x\u2069", "\u200f", "שלום", "مرحبا", "👩‍🚀", ""].map(turns), [
    ...[true, true, true, false, false, false, false],
  ]);
});

test("settings, draws and counts", () => {
  assert.deepEqual([0.5, 160, 0.0003, 0.125, -0.5, "x"].map(setting), [
    "0.50",
    "160",
    "0.0003",
    "0.125",
    "-0.50",
    "?",
  ]);
  assert.equal(besideThreshold(0.4996, 0.5), "0.4996");
  assert.equal(besideThreshold(0.4, 0.5), "0.40");
  assert.deepEqual([count(1, "token"), count(1200, "token")], ["1 token", "1,200 tokens"]);
  assert.equal(decimal(Number.POSITIVE_INFINITY), "–");
});

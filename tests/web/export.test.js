import assert from "node:assert/strict";
import { test } from "node:test";
import { density, wrapped } from "../../assets/web/export/figure.js";
import { column, ticks } from "../../assets/web/export/mapfigure.js";
import { beginning, fileName, laneLine, slug, stepLines } from "../../assets/web/export/names.js";
import { placed, signOf, wordsOf } from "../../assets/web/export/textfigure.js";
import { dice, read } from "./payload.js";

const specification = read("specification");
const plain = { ...specification.baseline.sampler, min_p: 0 };
const baseline = { name: "Baseline", sampler: plain };
const xtc = { name: "XTC", sampler: { ...plain, xtc: { ...plain.xtc, rho: 0.5, tau: 0.1 } } };
const length = (text) => text.length;

test("a file's name says what is in it", () => {
  const one = { lanes: [xtc], seed: 7, step: 5, words: [" village"] };
  assert.equal(fileName("bars", one), "xtc-bars-step5-village-rho0.5-tau0.1-seed7");
  assert.equal(
    fileName("stages", { ...one, lanes: [baseline], words: ["↵"] }),
    "xtc-stages-step5-off-seed7",
  );
  assert.equal(
    fileName("pair", { ...one, lanes: [baseline, xtc], words: [" town", " village"] }),
    "xtc-pair-step5-town-village-baseline-xtc-seed7",
  );
  const three = { lanes: [baseline, xtc, xtc], seed: 7 };
  assert.equal(fileName("timeline", three), "xtc-timeline-3-lanes-seed7");
  const same = fileName("pair", { ...one, lanes: [baseline, xtc], words: [" town", " town"] });
  assert.equal(same, "xtc-pair-step5-town-baseline-xtc-seed7");
  assert.equal(
    fileName("text", { lanes: [{ ...xtc, name: "XTC: hot!", imagined: true }], seed: 0 }),
    "xtc-text-xtc-hot-rho0.5-tau0.1-what-if-seed0",
  );
});

test("no text can make a file's name a path, nor a long one", () => {
  assert.equal(slug("../../etc/passwd"), "etc-passwd");
  assert.equal(slug(" Ärger \u0000\n<b>"), "ärger-b");
  assert.equal(slug("…"), "");
  assert.ok(slug(`${"a ".repeat(90)}`).length <= 24);
});

test("the lines over a figure say which word after what, under which settings", () => {
  const look = { ...xtc, at: { lane: 1, i: 4 }, word: " cat", pending: false };
  assert.deepEqual(stepLines([look], "Once\n upon", specification), [
    "“Once upon” … token 5: cat",
    "XTC: ρ 0.50 · τ 0.10",
  ]);
  const first = { ...look, ...baseline, at: { lane: 0, i: 0 }, word: "\n" };
  const lines = stepLines([first, look], "x".repeat(99), specification);
  assert.equal(lines[0], `“${"x".repeat(59)}…” token 1: ↵ (Baseline), cat (XTC)`);
  assert.match(lines[1], /^Baseline: .*XTC off$/);
  const [pending] = stepLines([{ ...look, pending: true }], "a", specification);
  assert.match(pending, /not drawn yet$/);
  assert.match(laneLine({ ...xtc, imagined: true }, specification), /^XTC: what if ρ 0\.50/);
  assert.equal(beginning("  a \n b "), "“a b”");
});

test("the numbers of a scale are round and within it", () => {
  assert.deepEqual(ticks(80), [0, 20, 40, 60, 80]);
  assert.deepEqual(ticks(0.1), [0, 0.025, 0.05, 0.075, 0.1]);
  const next = dice(3);
  for (let n = 0; n < 200; n++) {
    const top = 10 ** (6 * next() - 3);
    const marks = ticks(top);
    assert.ok(marks.length >= 2 && marks.length <= 6, `${top}: ${marks}`);
    assert.ok(marks.every((mark) => mark >= 0 && mark <= top * (1 + 1e-9)));
  }
});

test("where a τ lies among the columns of the map", () => {
  const taus = [0.01, 0.02, 0.05];
  assert.equal(column(taus, 0.01), 0);
  assert.equal(column(taus, 0.02), 1);
  assert.ok(Math.abs(column(taus, 0.035) - 1.5) < 1e-9);
  assert.deepEqual([column(taus, 0.005), column(taus, 0.06)], [null, null]);
});

test("the words of a lane in lines, by hand", () => {
  const pieces = ["Once", " upon", " a", " ti", "me", ",", "\n\n", "The end"];
  const boxes = placed(
    pieces.map((text) => ({ text })),
    11,
    length,
  );
  assert.deepEqual(
    boxes.map(({ words, x, y }) => [words, y, x]),
    [
      ["Once", 0, 0],
      ["upon", 0, 5],
      ["a", 0, 10],
      ["ti", 1, 0],
      ["me", 1, 2],
      [",", 1, 4],
      ["", 1, 5],
      ["The end", 3, 0],
    ],
  );
});

test("no word leaves its line or lies on another", () => {
  const next = dice(11);
  const signs = ["a", "b", "c", " ", "\n", "é"];
  for (let n = 0; n < 300; n++) {
    const pieces = Array.from({ length: Math.floor(next() * 20) }, () => {
      const size = Math.floor(next() * 9);
      return { text: Array.from({ length: size }, () => signs[Math.floor(next() * 6)]).join("") };
    });
    const room = 8 + Math.floor(next() * 30);
    const boxes = placed(pieces, room, length);
    assert.deepEqual(
      boxes.map(({ words }) => words),
      pieces.map(({ text }) => text.trim()),
    );
    let [x, y] = [0, 0];
    for (const box of boxes.filter(({ words }) => words)) {
      assert.ok(box.y > y || (box.y === y && box.x >= x));
      assert.ok(!box.x || box.x + box.wide <= room);
      [x, y] = [box.x + box.wide, box.y];
    }
  }
});

test("which sign stands over a word", () => {
  const sign = (outcome, more = {}) => signOf({ outcome, tail: false, ...more });
  assert.deepEqual(
    [0, 1, 2, 3].map((n) => sign(n)),
    ["", "skipped", "protected", "fired"],
  );
  assert.equal(sign(3, { tail: true }), "from-tail");
  assert.equal(sign(3, { imagined: true }), "imagined");
});

test("a prompt is all of its words", () => {
  for (const text of ["", " ", "a", "Once  upon\n\na time ", "界 界"]) {
    assert.equal(wordsOf(text).join(""), text);
  }
  assert.deepEqual(wordsOf("Once upon"), ["Once", " upon"]);
});

test("lines are broken where there is no room", () => {
  assert.deepEqual(wrapped("one two three", 7, length), ["one two", "three"]);
  assert.deepEqual(wrapped("incomprehensible x", 5, length), ["incomprehensible", "x"]);
});

test("a picture has 300 pixels to the inch, and no more than browsers can hold", () => {
  assert.equal(density({ width: 720, height: 400 }), 300 / 96);
  for (const height of [5_000, 50_000, 500_000]) {
    const scale = density({ width: 1600, height });
    assert.ok(scale * height <= 16_000 && scale ** 2 * 1600 * height <= 1e8 * (1 + 1e-9));
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { about, links } from "../../assets/web/dice/dice.js";

const row = (coin, source, outcome = "skipped") => ({
  word: " a",
  draw: 0.25,
  coin,
  source,
  outcome,
});

test("a coin that is an earlier draw is a link, which matters where XTC could act", () => {
  const rows = [row(0.5, null), row(0.25, 0), row(0.7, null), row(0.25, 1, "unambiguous")];
  assert.deepEqual(links(rows), [
    { from: 0, to: 1, acts: true },
    { from: 1, to: 3, acts: false },
  ]);
  assert.match(about(rows, 0.5), /below ρ = 0\.50/);
  assert.match(about(rows, 0.5), /2 of these 4 coins .* 1 of them where XTC could act/);
});

test("a step with no choice has no coin", () => {
  const rows = [row(0.5, null), row(null, null, "unambiguous"), row(0.25, 0)];
  assert.match(about(rows, 0.5), /1 of these 2 coins/);
  assert.match(about([row(null, null)], 0), /no coin/);
});

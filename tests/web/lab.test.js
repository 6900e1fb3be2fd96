// The laboratory's words, on what Python says; and the links to stored texts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { duration, sizeWords, space, standWords, takesWords } from "../../assets/web/lab/words.js";
import { cellsIn } from "../../assets/web/session/link.js";
import { read } from "./payload.js";

test("times and sizes in two units at most", () => {
  assert.deepEqual([0.2, 59, 59.5, 100, 3600, 7325].map(duration), [
    ...["1 s", "59 s", "1 min 0 s", "1 min 40 s", "1 h 0 min", "2 h 2 min"],
  ]);
  assert.deepEqual([1, 6.2e6, 1.5e9, 72e9].map(space), ["1 MB", "6 MB", "1.5 GB", "72 GB"]);
});

test("a forecast says what a choice comes to and what it takes", () => {
  const forecast = read("lab_forecast");
  assert.equal(
    sizeWords(forecast),
    "96 texts of at most 32 tokens: 24 prompts × 4 settings × 1 sample, prompts “creative”, on fake.",
  );
  assert.match(
    takesWords(forecast),
    /^About \d+ s at [\d,]+ tokens\/s, as .* [\d,]+ [MG]B .* free\.$/,
  );
  assert.match(takesWords({ ...forecast, seconds: null }), /^How long that takes is not known/);
  assert.match(takesWords({ ...forecast, missing: 0, present: 96 }), /nothing is left to write/);
  assert.match(
    takesWords({ ...forecast, missing: 6, present: 90 }),
    /^90 are there already\. 6 are missing\. About/,
  );
});

test("a run says how it stands", () => {
  const [idle, waiting, done] = read("lab_status");
  assert.equal(standWords(idle), "");
  assert.equal(standWords(waiting), "Waiting for the model …");
  assert.equal(standWords(done), "Done · 96 of 96 texts");
  const progress = { ...done.progress, done: 10, rate: 1234.4, seconds_left: 61, failed: 2 };
  assert.equal(
    standWords({ ...done, phase: "writing", progress }),
    "Writing · 10 of 96 texts · 2 failed · 1,234 tokens/s · 1 min 1 s left",
  );
  const until = new Date(2026, 10, 22, 14, 5).getTime() / 1000;
  const absence = { who: "box", reason: "The server at box is gone.", since: until - 600, until };
  assert.equal(
    standWords({ ...done, phase: "writing", progress: { ...progress, absent: [absence] } }),
    "The server at box is gone. It is waited for until 14:05 · 10 of 96 texts · 2 failed",
  );
  assert.match(standWords({ ...done, phase: "paused", progress }), /^Paused.*1 min 1 s left$/);
  assert.equal(standWords({ ...done, phase: "failed", words: "No.", progress: null }), "No");
});

test("a link names one stored text, or two", () => {
  assert.deepEqual(cellsIn("#cell=0a9f"), ["0a9f"]);
  assert.deepEqual(cellsIn("#cell=0a9f,12"), ["0a9f", "12"]);
  for (const other of ["", "#cell=", "#cell=xyz", "#cell=a,b,c", "#run=abc", "cell=0a"])
    assert.deepEqual(cellsIn(other), []);
});

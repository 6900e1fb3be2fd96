import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { traceText } from "../../assets/web/export/tracetext.js";

const TEXT = '{"format": "xtc_viz.trace", "prompt": "猫"}';
const file = (data, name = "run.json.gz") => new File([data], name);

test("a trace is read, packed or not, whatever its name", async () => {
  for (const data of [TEXT, gzipSync(TEXT), `\ufeff\n${TEXT}`]) {
    for (const name of ["run.json", "run.json.gz", "run"]) {
      assert.equal((await traceText(file(data, name))).trim(), TEXT);
    }
  }
});

test("what is none is called what it is", async () => {
  const packed = gzipSync(TEXT.repeat(500));
  const cases = [
    [packed.subarray(0, packed.length - 12), /^run\.json\.gz is broken or cut short/],
    [new Uint8Array([...packed.subarray(0, 10), 7, 7, 7, 7]), /is broken or cut short/],
    [new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), /is no trace: it is no text/],
    ["a,b\n1,2\n", /is no trace, but another kind of file/],
    ["<!doctype html>", /another kind of file/],
    ["", /another kind of file/],
    [gzipSync(new Uint8Array(200_000_000)), /is too large: a trace has at most 50 MB/],
  ];
  for (const [data, words] of cases) {
    await assert.rejects(traceText(file(data)), (error) => words.test(error.message));
  }
  const name = `\u202e${"x".repeat(500)}`;
  await assert.rejects(traceText(file("", name)), ({ message }) => message.length < 150);
});

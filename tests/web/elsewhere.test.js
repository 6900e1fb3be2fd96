import assert from "node:assert/strict";
import { test } from "node:test";
import { heading } from "../../assets/web/engines/bringhere.js";
import { read } from "./payload.js";

const { forms } = read("specification");
const answer = read("bring_here");

test("what was pasted is named with the program whose rule it brings", () => {
  assert.equal(answer.form, "llama.cpp flags");
  assert.equal(
    heading(answer, forms),
    "llama.cpp: flags. The lane gets the rule and the order of llama.cpp.",
  );
  assert.equal(
    heading({ ...answer, form: "SillyTavern preset", engine: "" }, forms),
    "SillyTavern: preset (JSON).",
  );
  assert.equal(heading({ ...answer, form: null }, forms), "Settings of this page.");
});

test("where several programs have the names, each is named once", () => {
  const others = ["llama.cpp request", "koboldcpp request"];
  const words = heading({ ...answer, engine: "", others }, forms);
  assert.match(words, /^This may be of llama\.cpp, koboldcpp: /);
});

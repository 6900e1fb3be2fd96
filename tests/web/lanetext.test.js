import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "../../assets/web/lanes/laneedit.js";
import { escaped, fileName, markdown, plainText } from "../../assets/web/lanes/lanetext.js";
import { Run } from "../../assets/web/session/run.js";
import { dice, read } from "./payload.js";

const spec = read("specification");
const whole = read("whole");

function run(head = {}, texts = null) {
  const run = new Run("r", { ...whole.head, ...head });
  run.grow(whole);
  if (!texts) return run;
  const lanes = run.lanes.map((lane) => ({ ...lane, chips: texts.map((text) => ({ text })) }));
  return { head: run.head, lanes };
}

test("a lane as Markdown: its name, its text, how it was written", () => {
  const prompt = "Once";
  const lane = spec.settings.lanes[1];
  const shown = run({ prompt, lanes: [lane] }, [" upon a *time*.", "\n", "# 1"]);
  assert.equal(
    markdown({ ...shown, lanes: shown.lanes.slice(0, 1) }, 0, spec),
    "## XTC\n\nOnce upon a \\*time\\*.  \n\\# 1\n\n" +
      `*ρ 0.50 · τ 0.10 · Min-p 0.05 · fake · seed ${whole.head.seed} · 3 tokens*\n`,
  );
});

test("an answer of a chat stands apart from its question, as it is", () => {
  const chat = run({ prompt: "Why?\nSay it.", chat: true }, ["**Because**"]);
  assert.equal(plainText(chat, 0), "Why?\nSay it.\n\n**Because**");
  assert.match(markdown(chat, 0, spec), /\n> Why\?\n> Say it\.\n\n\*\*Because\*\*\n/);
});

test("the text is the prompt and all chips", () => {
  const text = whole.add[0].map(([, words]) => words).join("");
  assert.equal(plainText(run(), 0), whole.head.prompt + text);
});

test("escaping loses nothing: without the backslashes and the breaks it is the text", () => {
  const random = dice(5);
  const signs = "ab *_#-+1.)>[]`~|<\n";
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: 12 }, () => signs[Math.floor(random() * signs.length)]).join(
      "",
    );
    const back = escaped(text).replaceAll("  \n", "\n").replace(/\\(.)/g, "$1");
    assert.equal(back, text.replace(/ +$/gm, ""));
    assert.doesNotMatch(escaped(text), /(^|[^\\])[*_`[\]<>|~]/);
    assert.doesNotMatch(escaped(text), /^\s*(#|[+-]|\d+[.)])/m);
  }
});

test("a file is called by its beginning and its lane", () => {
  const named = (prompt, name) => ({ ...whole.head, prompt, lanes: [{ name }] });
  assert.equal(
    fileName(named("Once upon a time, there", "XTC"), 0, "txt"),
    "once-upon-a-time-there-xtc.txt",
  );
  assert.equal(fileName(named("../..", "ρ 0.5"), 0, "md"), "ρ-0-5.md");
  assert.equal(fileName(named("«»", "!"), 0, "md"), "text.md");
});

test("an edited text: what is said of it, and whether the lane can go on after it", () => {
  const can = (text, open = true) => judge("a bear was", text, open)[1];
  assert.equal(can("a bear was"), true);
  assert.equal(can("a bear was", false), false, "it has come to its end");
  assert.equal(can("a bear"), false, "the same dice would write the same words");
  assert.equal(can("a bee"), true);
  assert.equal(can("a bear was not", false), true);
});

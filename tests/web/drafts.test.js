import assert from "node:assert/strict";
import { test } from "node:test";
import { NextRun } from "../../assets/web/composer/nextrun.js";
import { KeptDraft } from "../../assets/web/shelf/drafts.js";
import { read } from "./payload.js";

const spec = read("specification");

/** A storage as browsers have it. */
function storage() {
  const items = new Map();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, text) => items.set(name, text),
    removeItem: (name) => items.delete(name),
  };
}

function draft(prompt) {
  const next = new NextRun(spec);
  next.set("prompt", prompt);
  return next.draft;
}

test("a draft comes back in the same tab, and in one of tomorrow", () => {
  const [tab, other, browser] = [storage(), storage(), storage()];
  new KeptDraft(spec, [tab, browser]).keep(draft("mine"));
  new KeptDraft(spec, [other, browser]).keep(draft("the other's"));
  const now = draft("now");
  assert.equal(new KeptDraft(spec, [tab, browser]).read(now).prompt, "mine");
  assert.equal(new KeptDraft(spec, [storage(), browser]).read(now).prompt, "the other's");
  assert.deepEqual(new KeptDraft(spec, [tab]).read(now), draft("mine"));
});

test("what has been run is forgotten, but not what another tab has typed", () => {
  const [tab, other, browser] = [storage(), storage(), storage()];
  const mine = new KeptDraft(spec, [tab, browser]);
  mine.keep(draft("mine"));
  const theirs = new KeptDraft(spec, [other, browser]);
  theirs.keep(draft("the other's"));
  mine.keep(null);
  assert.equal(new KeptDraft(spec, [tab]).read(draft("now")), null);
  assert.equal(new KeptDraft(spec, [storage(), browser]).read(draft("now")).prompt, "the other's");
  theirs.keep(null);
  assert.equal(new KeptDraft(spec, [other, browser]).read(draft("now")), null);
});

test("a tab that shows its run again takes its own draft alone", () => {
  const [tab, other, browser] = [storage(), storage(), storage()];
  new KeptDraft(spec, [other, browser]).keep(draft("the other's"));
  const here = new KeptDraft(spec, [tab, browser]);
  assert.equal(here.read(draft("now"), { own: true }), null);
  here.keep(draft("mine"));
  assert.equal(
    new KeptDraft(spec, [tab, browser]).read(draft("now"), { own: true }).prompt,
    "mine",
  );
});

test("of a version with other settings only the prompt is taken", () => {
  const place = storage();
  const { rho, ...knobs } = spec.knobs;
  new KeptDraft({ knobs }, [place]).keep({ ...draft("mine"), settings: { old: true } });
  assert.deepEqual(new KeptDraft(spec, [place]).read(draft("now")), draft("mine"));
});

test("without storage, or with what is not ours in it, there is no draft", () => {
  const place = storage();
  place.setItem("xtc_viz-draft", "{");
  const full = { ...storage(), setItem: () => assert.fail("QuotaExceededError") };
  const kept = new KeptDraft(spec, [null, place, full]);
  assert.equal(kept.read(draft("now")), null);
  kept.keep(draft("mine"));
  assert.equal(kept.read(draft("now")).prompt, "mine");
});

test("what is forgotten comes back only when it is changed", () => {
  const [tab, browser] = [storage(), storage()];
  const kept = new KeptDraft(spec, [tab, browser]);
  kept.keep(draft("mine"));
  kept.forget(draft("mine"));
  assert.equal(new KeptDraft(spec, [tab, browser]).read(draft("now")), null);
  kept.keep(draft("mine"));
  assert.equal(new KeptDraft(spec, [tab, browser]).read(draft("now")), null);
  kept.keep(draft("mine, longer"));
  assert.equal(new KeptDraft(spec, [tab]).read(draft("now")).prompt, "mine, longer");
});

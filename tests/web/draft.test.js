import assert from "node:assert/strict";
import { test } from "node:test";
import { NextRun } from "../../assets/web/composer/nextrun.js";
import { awaits, draftOf, placeOf, touched } from "../../assets/web/session/draft.js";
import { fromLink, toLink } from "../../assets/web/session/link.js";
import { read } from "./payload.js";

const specification = read("specification");
const { head } = read("whole");
const draft = () => draftOf(head, new NextRun(specification).draft);

test("a draft of a run asks for that run again", () => {
  const { prompt, settings, protect } = draft();
  assert.equal(prompt, head.prompt);
  assert.equal(settings.seed, head.seed);
  assert.equal(settings.max_new_tokens, head.length);
  assert.deepEqual(protect, head.protect);
  assert.deepEqual(
    settings.lanes.map(({ name, sampler }) => [name, sampler.order, sampler.xtc.protected]),
    head.lanes.map(({ name, sampler }) => [name, sampler.order, []]),
  );
});

test("a branch has no way into a draft, and a place in it is one in its parent", () => {
  const branch = { ...head.lanes[1], name: "branch", branch: [1, 4] };
  const branched = { ...head, lanes: [head.lanes[0], branch, head.lanes[1]] };
  const twice = { ...head, lanes: [...head.lanes, branch, { ...branch, branch: [3, 9] }] };
  assert.equal(draftOf(branched, draft()).settings.lanes.length, 2);
  assert.deepEqual(placeOf(branched, { lane: 2, i: 5 }), { lane: 1, i: 5 });
  assert.deepEqual(placeOf(twice, { lane: 4, i: 12 }), { lane: 1, i: 12 });
  assert.equal(placeOf(head, null), null);
});

test("what awaits Generate is said unless a what-if shows it", () => {
  const base = draft();
  const changed = (change) => {
    const other = draft();
    change(other);
    return awaits(other, base);
  };
  assert.equal(awaits(draft(), base), "");
  assert.equal(awaits(draft(), null), "");
  const xtc = (other) => Object.assign(other.settings.lanes[1].sampler.xtc, { rho: 0.9, tau: 0.2 });
  assert.equal(changed(xtc), "");
  assert.match(
    changed((other) => (other.prompt = "x")),
    /^Prompt changed/,
  );
  assert.match(
    changed((other) => (other.settings.seed = 8)),
    /^Shown: seed 7\. Settings changed/,
  );
  assert.match(
    changed((other) => other.settings.lanes.pop()),
    /^Settings changed/,
  );
  const { order } = base.settings.lanes[1].sampler;
  const turned = (other) => (other.settings.lanes[1].sampler.order = [...order].reverse());
  assert.match(changed(turned), /^Settings changed/);
  assert.equal(touched(draft(), base), false);
  const protect = draft();
  protect.protect.texts.push(" Lily");
  assert.equal(touched(protect, base), true);
});

test("a link holds a whole request, whatever the language, and a broken one asks for nothing", () => {
  const request = { ...draft(), prompt: "Ünïcödé 猫 <b>" };
  const link = toLink("http://page/", request, { lane: 1, i: 7 });
  assert.match(link, /^http:\/\/page\/#run=[\w-]+$/);
  const back = fromLink(new URL(link).hash, specification);
  assert.deepEqual(back, {
    request: { draft: request, selected: { lane: 1, i: 7 }, presenting: false },
    words: "",
  });
  assert.equal(fromLink("", specification), null);
  const { hash } = new URL(link);
  for (const wrong of [
    "#run=",
    "#run=%%%",
    `#run=${btoa("{}")}`,
    hash.slice(0, -9),
    "#run=bnVsbA",
  ]) {
    const { request, words } = fromLink(wrong, specification);
    assert.equal(request, null);
    assert.match(words, /^This link /);
  }
});

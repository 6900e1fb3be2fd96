import assert from "node:assert/strict";
import { test } from "node:test";
import { beforeAndAfter } from "../../assets/web/inspector/barviews.js";
import { rows } from "../../assets/web/inspector/distribution.js";
import { facts } from "../../assets/web/inspector/words.js";
import { pieces, roundOf, trail } from "../../assets/web/lesson/blind.js";
import { CAREFUL, FOUND, here, LINKS } from "../../assets/web/lesson/findings.js";
import { glossary } from "../../assets/web/lesson/glossary.js";
import { besidePart } from "../../assets/web/lesson/place.js";
import { firedStep, STOPS, stopWords, TARGETS, unveiled } from "../../assets/web/lesson/stops.js";
import { OUTCOMES } from "../../assets/web/session/chips.js";
import { MODES } from "../../assets/web/session/playback.js";
import { Run } from "../../assets/web/session/run.js";
import { dice, read } from "./payload.js";

const spec = read("specification");
const whole = read("whole");
const blocks = read("blocks");

function theRun() {
  const run = new Run(whole.run, whole.head);
  run.grow(whole);
  return run;
}

/** The steps of the run at which XTC fired, with their texts. */
const fired = blocks.flatMap(({ steps, texts }) =>
  steps.flatMap((step) => (step.outcome === "fired" ? [{ step, texts }] : [])),
);

test("every word of the interface stands in the glossary, once and with a meaning", () => {
  const entries = glossary(spec).flatMap(([, list]) => list);
  const keys = entries.map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
  for (const { key, term, words } of entries) assert.ok(term && words, key);
  const needed = [
    ...Object.keys(spec.knobs),
    ...spec.order.map(([stage]) => stage),
    ...spec.strategies.map(([strategy]) => strategy),
    ...OUTCOMES,
    ...MODES,
    ...["underdog", "eligible", "removed", "tail", "coin", "changed", "lane", "what_if", "branch"],
  ];
  // An underdog stands beside its key "underdog, kept".
  const known = (name) => keys.includes(name) || entries.some(({ term }) => term.includes(name));
  assert.deepEqual(
    needed.filter((name) => !known(name)),
    [],
  );
});

test("the numbers beside the bars are explained under the names that they have there", () => {
  const terms = glossary(spec)
    .flatMap(([, list]) => list.map(({ term }) => term.toLowerCase()))
    .join("; ");
  const names = facts(fired[0].step).map(([name]) => name.toLowerCase());
  const plain = names.map(
    (name) => name.match(/entropy|rank|surprise|eligible|removed|below τ/)?.[0],
  );
  assert.equal(plain.length, names.length);
  for (const [i, name] of plain.entries()) assert.ok(name && terms.includes(name), names[i]);
});

test("what was measured here is shown with its intervals", () => {
  const { words, heads, rows } = here(spec.case);
  assert.match(words, /24 beginnings with 6 seeds and 120 tokens/);
  assert.ok(rows.every((row) => row.length === heads.length));
  const one = { value: 0.8853, low: 0.8721, high: 0.8991 };
  const share = { value: 0.178, low: 0.1, high: 0.2 };
  const sampler = { name: "a", distinct2: one, repeated3: share, improbable: share };
  assert.deepEqual(here({ ...spec.case, samplers: [sampler] }).rows, [
    ["a", "0.89 (0.87–0.90)", "18\u00a0% (10–20)", "18\u00a0% (10–20)"],
  ]);
  // min-p gives up variety for probable words, and XTC with it brings most of it back.
  const by = new Map(spec.case.samplers.map((entry) => [entry.name, entry]));
  const [plain, minP, both] = ["Plain sampling", "Min-p 0.05", "Min-p 0.05 with XTC"];
  assert.ok(by.get(both).distinct2.low > by.get(minP).distinct2.high);
  assert.ok(by.get(both).improbable.high < by.get(plain).improbable.low);
});

test("each figure of the paper says where it stands there, and links are addresses", () => {
  for (const { figure, words, source } of [...FOUND, ...CAREFUL]) {
    assert.ok(figure && words);
    assert.match(source, /^(Table|Section|Appendix|Figure) [\dA-I]/);
  }
  for (const [, address] of LINKS) assert.equal(new URL(address).protocol, "https:");
});

test("a round shows a lane without XTC and one with it, in an order by chance", () => {
  const run = theRun();
  const random = dice(3);
  const rounds = Array.from({ length: 40 }, () => roundOf(run, random));
  for (const { lanes, xtc } of rounds) {
    assert.equal(whole.head.lanes[lanes[xtc]].sampler.xtc.rho > 0, true);
    assert.equal(whole.head.lanes[lanes[1 - xtc]].sampler.xtc.rho, 0);
  }
  const left = rounds.filter(({ xtc }) => xtc === 0).length;
  assert.ok(left > 5 && left < 35);
  const head = {
    ...whole.head,
    lanes: whole.head.lanes.map((lane) => ({ ...lane, sampler: spec.baseline.sampler })),
  };
  assert.equal(roundOf({ head, lanes: run.lanes }, random), null);
});

test("the reveal counts what XTC did and names the first word that it changed", () => {
  const run = theRun();
  const { lanes, xtc } = roundOf(run, () => 0);
  const { chips } = run.lanes[lanes[xtc]];
  const { fired: times, changed, word, at } = trail(run, lanes[xtc]);
  assert.equal(times, whole.stats[lanes[xtc]].outcomes[3]);
  assert.equal(changed, whole.stats[lanes[xtc]].changed);
  assert.equal(word, chips[at].text);
  assert.equal(
    chips.slice(0, at).some((chip) => chip.changed),
    false,
  );
  assert.equal(pieces(chips).filter((piece) => piece.fired).length, times);
});

test("the tour takes the step that is looked at if XTC fired there, else one that it changed", () => {
  const run = theRun();
  const at = firedStep(run, null);
  assert.equal(run.chip(at).outcome, 3);
  assert.equal(run.chip(at).changed, true);
  const other = {
    lane: at.lane,
    i: run.lanes[at.lane].chips.findLastIndex((chip) => chip.outcome === 3),
  };
  assert.deepEqual(firedStep(run, other), other);
  assert.deepEqual(firedStep(run, { lane: 0, i: 0 }), at);
  const quiet = {
    lanes: run.lanes.map((lane) => ({
      ...lane,
      chips: lane.chips.filter((chip) => chip.outcome !== 3),
    })),
  };
  assert.equal(firedStep(quiet, null), null);
});

/** A step worked by hand: three of .5, .25, .15 clear τ = .1; .75 goes, .25 is left. */
const HAND = {
  ...{ ids: [1, 2, 3, 4], probs: [0.5, 0.25, 0.15, 0.05], rest: 0.05, final: null },
  ...{ eligible: 3, removed: [1, 2], kept: [3], underdog: 3, removed_mass: 0.75, outcome: "fired" },
  ...{ coin: 0.23, rho: 0.5, tau: 0.1, token: 3, instead: 1, changed: true, tail: [0.1, 0.4] },
};

test("each stop says what the step shows, with its own numbers", () => {
  const said = (stop) => stopWords(stop, HAND).join("");
  assert.match(said("distribution"), /1 leads with 50\u00a0%/);
  assert.match(said("floor"), /reaches 10\u00a0%/);
  assert.match(said("eligible"), /3 words clear it: 1, 2 and 3\./);
  assert.match(said("coin"), /at 0\.23, below ρ = 0\.50/);
  assert.match(said("strike"), /strikes out 1 and 2 and keeps .* 3\./);
  // .15 / .25 is 60 %; the others had 10 % together and have .1 / .25 now.
  assert.match(said("renormalize"), /3 goes from 15\u00a0% to 60\u00a0%/);
  assert.match(said("renormalize"), /from 10\u00a0% together to 40\u00a0%/);
  assert.doesNotMatch(stopWords("renormalize", { ...HAND, tail: [0, 0] }).join(""), /below/);
  assert.match(said("draw"), /drew 3\. Without XTC .* 1\./);
  for (const stop of STOPS) assert.ok(TARGETS[stop].length && said(stop));
});

test("the bars show no more than a stop has come to, and all of it at the draw", () => {
  const view = beforeAndAfter(HAND, rows(HAND, { 1: "a", 2: "b", 3: "c", 4: "d" }, 10), false);
  const kinds = (stop) => unveiled(view, stop).list.map((row) => row.cells[0].kind);
  const after = (stop) => unveiled(view, stop).list.map((row) => row.cells[1].value);
  assert.deepEqual(kinds("distribution"), ["tail", "tail", "tail", "tail", "rest"]);
  assert.equal(unveiled(view, "distribution").heads[0].tau, undefined);
  assert.equal(unveiled(view, "floor").heads[0].tau, 0.1);
  assert.deepEqual(kinds("coin"), ["eligible", "eligible", "eligible", "tail", "rest"]);
  assert.deepEqual(after("coin"), ["", "", "", "", ""]);
  assert.deepEqual(kinds("strike"), ["removed", "removed", "kept", "tail", "rest"]);
  assert.deepEqual(after("strike"), ["removed", "removed", "", "", ""]);
  assert.deepEqual(after("renormalize"), [
    "removed",
    "removed",
    "60\u00a0%",
    "20\u00a0%",
    "20\u00a0%",
  ]);
  const signs = (stop) => unveiled(view, stop).list.map((row) => row.sign);
  assert.deepEqual(signs("renormalize"), ["", "", "", "", ""]);
  assert.deepEqual(unveiled(view, "draw"), view);
});

test("on real steps no stop before the draw shows which word was drawn", () => {
  for (const { step, texts } of fired) {
    const view = beforeAndAfter(step, rows(step, texts, 10), false);
    for (const stop of STOPS.slice(0, STOPS.indexOf("draw"))) {
      const { list } = unveiled(view, stop);
      assert.equal(
        list.some((row) => row.drawn || row.sign),
        false,
      );
    }
    assert.ok(stopWords("draw", step).includes(step.token));
  }
});

test("the card of the tour stands within the window, and beside its part where there is room", () => {
  const random = dice(9);
  const card = { width: 340, height: 150 };
  for (const [wide, high] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
  ]) {
    for (let n = 0; n < 200; n++) {
      const [left, top] = [random() * wide * 0.8, random() * high * 0.8];
      const [right, bottom] = [left + random() * (wide - left), top + random() * (high - top)];
      const { x, y } = besidePart({ left, top, right, bottom }, card, wide, high);
      assert.ok(x >= 0 && x + card.width <= wide, `${x}`);
      assert.ok(y >= 0 && y + card.height <= high, `${y}`);
      if (wide > 640 && left > card.width + 28) assert.ok(x + card.width <= left);
    }
  }
  assert.deepEqual(besidePart(undefined, card, 1000, 800), { x: 14, y: 636 });
});

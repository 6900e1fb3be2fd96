// The views of a run that can be saved as figures now, and how each of them is drawn.

import { ruleOf } from "../core/dialect.js";
import { s, set } from "../core/dom.js";
import { setting } from "../core/format.js";
import { imaginedXtc } from "../engines/strips.js";
import { WORDS } from "../engines/view.js";
import { Bars } from "../inspector/bars.js";
import { beforeAndAfter, sideBySide } from "../inspector/barviews.js";
import { rows, together } from "../inspector/distribution.js";
import { lookAt } from "../inspector/look.js";
import { stageBars } from "../inspector/stagebars.js";
import { stageName } from "../inspector/stages.js";
import { drawnSign, tailShare } from "../inspector/words.js";
import { BLOCK } from "../session/blocks.js";
import { enginesFigure } from "./enginesfigure.js";
import { styled } from "./figure.js";
import { mapFigure } from "./mapfigure.js";
import { beginning, fileName, laneLine, origin, stepLines } from "./names.js";
import { signOf, textFigure, wordsOf } from "./textfigure.js";
import { timelineFigure } from "./timelinefigure.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { Run } from "../session/run.js" */
/** @import { Drawing } from "./figure.js" */
/** @import { NamedLane } from "./names.js" */
/** @import { Paper } from "./paper.js" */
/**
 * One view that is there: of which place or lane, beside which lane (-1 for none), its words for
 * people, the name of its file without an ending.
 * @typedef {{ id: string, view: string, at: Place, mate: number, label: string, file: string }} View
 */

const DEEP = 50; // as in the inspector: one lane's favourites are looked up in the other's
const SHARED_KEY = /** @type {[string, string][]} */ ([
  ["eligible", "eligible"],
  ["removed", "removed"],
  ["kept", "kept"],
  ["tail", "below τ"],
]);
const WORD_KEY = /** @type {[string, string][]} */ ([
  ["fired", "XTC fired"],
  ["imagined", "XTC would fire"],
  ["from-tail", "… from below τ"],
  ["skipped", "the coin said no"],
  ["protected", "protected"],
]);
const NARROWEST = 100; // pixels of a stage's column; below, the drawing is made smaller as a whole

/** @param {[string, string]} texts */
const pairOf = (...texts) => texts;

export class Views {
  /**
   * `look()` says how the inspector shows a step.
   * @param {Playback} playback
   * @param {Pick<Transport, "block" | "stages" | "strength" | "engines">} transport
   * @param {Spec} spec
   * @param {() => Drawn} look
   */
  constructor(playback, transport, spec, look) {
    this.playback = playback;
    this.transport = transport;
    this.spec = spec;
    this.look = look;
  }

  /** Those that exist now, the step that is looked at first. @returns {View[]} */
  list() {
    const { run, focus, busy } = this.playback;
    if (!run?.longest) return [];
    const at = focus && run.chip(focus) ? focus : null;
    const others = run.head.lanes.map((_, k) => k).filter((k) => k !== at?.lane);
    const mate = this.look().mate;
    const beside =
      at && [mate, ...others].find((k) => k >= 0 && k !== at.lane && this.there(k, at.i));
    /** @type {View[]} */
    const list = [];
    const add = (
      /** @type {string} */ view,
      /** @type {Place} */ place,
      /** @type {string} */ label,
      other = -1,
    ) =>
      list.push({
        id: `${view}/${["text", "map"].includes(view) ? place.lane : ""}`,
        view,
        at: place,
        mate: other,
        label,
        file: this.file(run, view, place, other),
      });
    const name = (/** @type {number} */ k) => run.head.lanes[k].name;
    if (at) {
      const token = `token ${at.i + 1}`;
      add("bars", at, `Bars: ${token}, ${name(at.lane)}`);
      if (beside !== null && beside !== undefined) {
        const [a, b] = [at.lane, beside].sort((x, y) => x - y);
        add("pair", at, `Two lanes: ${token}, ${name(a)} and ${name(b)}`, beside);
      }
      if (this.transport.stages) add("stages", at, `Stages: ${token}, ${name(at.lane)}`);
      if (this.transport.engines) add("engines", at, `Engines: ${token}, ${name(at.lane)}`);
    }
    for (const k of run.lanes.keys()) {
      if (this.playback.shown(k)) add("text", { lane: k, i: 0 }, `Marked text: ${name(k)}`);
    }
    add("timeline", { lane: 0, i: 0 }, "Timeline");
    const { lane } = at ?? { lane: this.playback.lane };
    if (this.transport.strength && !busy && this.playback.shown(lane)) {
      add("map", { lane, i: 0 }, `Map of ρ and τ: ${name(lane)}`);
    }
    return list;
  }

  /** @param {number} lane @param {number} i */
  there(lane, i) {
    return i < this.playback.shown(lane);
  }

  /** A lane with the settings that it is shown under. @param {Run} run @param {number} k @returns {NamedLane} */
  lane(run, k) {
    const { name, sampler } = run.head.lanes[k];
    const { imagined } = run.lanes[k];
    const xtc = { ...sampler.xtc, ...imagined?.xtc };
    return { name, sampler: { ...sampler, xtc }, imagined: Boolean(imagined) };
  }

  /** @param {Run} run @param {string} view @param {Place} at @param {number} mate */
  file(run, view, at, mate) {
    const { seed } = run.head;
    const places = mate < 0 ? [at.lane] : [at.lane, mate].sort((a, b) => a - b);
    if (view === "timeline") {
      return fileName(view, { lanes: run.lanes.map((_, k) => this.lane(run, k)), seed });
    }
    // The stages are those of the run, whatever is imagined of it.
    const lanes = places.map((k) => (view === "stages" ? run.head.lanes[k] : this.lane(run, k)));
    if (view === "text" || view === "map") return fileName(view, { lanes, seed });
    const words = places
      .filter((k) => this.there(k, at.i))
      .map((lane) => run.chip({ lane, i: at.i })?.text ?? "");
    return fileName(view, { lanes, seed, step: at.i + 1, words });
  }

  /** @param {View} one @param {Paper} paper @returns {Promise<Drawing>} */
  async draw({ view, at, mate }, paper) {
    const { run } = this.playback;
    if (!run) throw new Error("There is no run to draw.");
    const foot = origin(run.head);
    if (view === "bars") return { ...(await this.bars(run, [at], paper)), foot };
    if (view === "pair") {
      const places = [at, { lane: mate, i: at.i }].sort((a, b) => a.lane - b.lane);
      return { ...(await this.bars(run, places, paper)), foot };
    }
    if (view === "stages") return { ...(await this.stages(run, at, paper)), foot };
    if (view === "engines") return { ...(await this.engines(run, at, paper)), foot };
    if (view === "map") return { ...(await this.map(run, at.lane, paper)), foot };
    if (view === "timeline") return { ...this.timeline(run, paper), foot };
    return { ...this.text(run, at.lane, paper), foot };
  }

  /** A step's record, asked for anew: what the inspector has may be of another depth. @param {Run} run @param {Place} at @param {number} depth */
  async record(run, at, depth) {
    const { imagined } = run.lanes[at.lane];
    const index = Math.floor(at.i / BLOCK);
    const block = await this.transport.block(run.id, at.lane, index, depth, imagined?.xtc ?? null);
    const record = { step: block.steps[at.i - block.first], texts: block.texts };
    const shown = (/** @type {number} */ k) => this.playback.shown(k);
    const look = lookAt({ run, shown, step: () => record }, at, this.spec);
    if (!look) throw new Error("This step is not there any more.");
    return look;
  }

  /** @param {Run} run @param {Place[]} places @param {Paper} paper */
  async bars(run, places, paper) {
    const { candidates, focus } = this.playback;
    const two = places.length > 1;
    const depth = two ? Math.max(DEEP, candidates) : candidates;
    const looks = await Promise.all(places.map((at) => this.record(run, at, depth)));
    const steps = looks.map(({ step }) => step);
    const own = Math.max(
      0,
      places.findIndex(({ lane }) => lane === focus?.lane),
    );
    const list = two
      ? together(
          steps,
          looks.map(({ texts }) => texts),
          candidates,
          own,
        )
      : rows(steps[0], looks[0].texts, candidates).map((row) => ({ ...row, cells: [row] }));
    const bars = new Bars();
    bars.log = this.look().log;
    paper.element.append(bars.svg);
    if (two) {
      const heads = looks.map(({ name, step }) => ({
        ...{ title: name, tag: "", tau: step.tau, own: true, open: false },
      }));
      bars.draw(sideBySide(heads, list));
    } else {
      bars.draw(beforeAndAfter(steps[0], rows(steps[0], looks[0].texts, candidates), false));
    }
    const height = Number(bars.svg.getAttribute("height"));
    const cells = list.flatMap((row) => row.cells);
    const tail = `below τ, implausible: ${tailShare(steps[0])}`;
    const key = SHARED_KEY.filter(([kind]) => cells.some((cell) => cell.kind === kind)).map(
      ([kind, words]) => pairOf(kind, kind === "tail" && !two ? tail : words),
    );
    if (cells.some((cell) => cell.drawn)) {
      key.push(["", `▲ ${drawnSign(looks.some((look) => look.imagined))}`]);
    }
    if (cells.some((cell) => cell.instead)) key.push(["", "△ would have been drawn"]);
    if (two) key.push(["of-two", "wide: before XTC, thin: after"]);
    const node = styled(bars.svg);
    set(node, { width: paper.width, height });
    return { node, height, key, head: stepLines(looks, run.head.prompt, this.spec) };
  }

  /** @param {Run} run @param {Place} at @param {Paper} paper */
  async stages(run, at, paper) {
    const { candidates } = this.playback;
    const [look, view] = await Promise.all([
      this.record(run, at, candidates),
      this.transport.stages?.(run.id, at.lane, at.i, candidates),
    ]);
    if (!view) throw new Error("The stages are not known here.");
    const room = Math.max(paper.width, 120 + NARROWEST * view.stages.length);
    const drawing = stageBars(view, (name) => stageName(name, this.spec), room);
    const svg = s("svg", { class: "stages" }, drawing.parts);
    paper.element.append(svg);
    const node = styled(svg);
    const height = (drawing.height * paper.width) / room;
    set(node, { width: paper.width, height, viewBox: `0 0 ${room} ${drawing.height}` });
    const kinds = new Set([...svg.querySelectorAll(".bar")].map((bar) => bar.classList[1]));
    const key = SHARED_KEY.filter(([kind]) => kinds.has(kind));
    const cut = view.stages.some(({ line, reach }) => line || reach);
    if (cut) key.push(["", "dashed: cutoff of the next stage"]);
    const { name, sampler } = run.head.lanes[at.lane];
    const [first] = stepLines([look], run.head.prompt, this.spec);
    return { node, height, key, head: [first, laneLine({ name, sampler }, this.spec)] };
  }

  /** What each engine leaves, compared as the inspector compares them. @param {Run} run @param {Place} at @param {Paper} paper */
  async engines(run, at, paper) {
    const { part, which } = this.look();
    const [look, view] = await Promise.all([
      this.record(run, at, this.playback.candidates),
      this.transport.engines?.(run.id, at.lane, at.i, imaginedXtc(run.lanes[at.lane])),
    ]);
    if (!view) throw new Error("The engines are not known here.");
    const token = look.pending ? -1 : (run.chip(at)?.id ?? -1);
    const how = { part, which, token, whose: WORDS.whose };
    const { kinds, guarded, ...drawing } = enginesFigure(view, how, this.spec, paper);
    const key = SHARED_KEY.filter(([kind]) => kinds.has(kind));
    if (guarded) key.push(["protected", "protected"]);
    if (token >= 0) key.push(["", "bold: the word of the text"]);
    const compared = part === "rule" ? "the rule alone" : "all stages in its own order";
    const coin = which === "fired" ? "as if it fired" : "as the coin fell";
    const lines = stepLines([look], run.head.prompt, this.spec);
    return { ...drawing, key, head: [...lines, `Each engine: ${compared}, ${coin}`] };
  }

  /** @param {Run} run @param {number} k @param {Paper} paper */
  async map(run, k, paper) {
    const lane = this.lane(run, k);
    const { rho, tau } = lane.sampler.xtc;
    const now = { rho: Number(rho), tau: Number(tau) };
    const protect = run.lanes[k].imagined?.xtc.protect;
    const xtc = { ...ruleOf(lane.sampler.xtc), ...(protect ? { protect } : {}) };
    const grid = await this.transport.strength?.(run.id, k, xtc);
    if (!grid) throw new Error("The map is not known here.");
    const ring = `○ these settings: ρ ${setting(now.rho)}, τ ${setting(now.tau)}`;
    return {
      ...mapFigure(grid, now, paper),
      key: /** @type {[string, string][]} */ ([["", ring]]),
      head: [
        `How often XTC would act along the text of ${lane.name}, at other ρ and τ`,
        `${beginning(run.head.prompt)} … ${run.lanes[k].chips.length} tokens`,
        laneLine(lane, this.spec),
      ],
    };
  }

  /** @param {Run} run @param {Paper} paper */
  timeline(run, paper) {
    const shown = run.lanes.map((_, k) => this.playback.shown(k));
    const { fired, changed, skipped, guarded, ...drawing } = timelineFigure(run, shown, paper);
    /** @type {[string, string][]} */
    const key = [["eligible", "how many tokens were eligible"]];
    if (fired) key.push(["removed", "probability removed"]);
    if (changed) key.push(["diamond", "changed the word"]);
    if (skipped) key.push(["skipped", "the coin said no"]);
    if (guarded) key.push(["protected", "protected"]);
    if (run.lanes[0].splits >= 0) key.push(["", "‖ the lanes part"]);
    const lanes = run.lanes.map((_, k) => laneLine(this.lane(run, k), this.spec));
    return { ...drawing, key, head: [`${beginning(run.head.prompt)} … token by token`, ...lanes] };
  }

  /** @param {Run} run @param {number} k @param {Paper} paper */
  text(run, k, paper) {
    const lane = this.lane(run, k);
    const off = Number(lane.sampler.xtc.rho) === 0;
    const chips = run.lanes[k].chips.slice(0, this.playback.shown(k));
    const marks = chips.map((_, i) => run.outcome(k, i));
    const pieces = [
      ...wordsOf(run.head.prompt).map((text) => ({ text, mark: null })),
      ...chips.map(({ text, sign, forced }, i) => ({
        ...{ text, forced, mark: marks[i] },
        sign: text ? (text.includes("\n") ? "↵" : "") : sign,
      })),
    ];
    /** @type {Set<string>} */
    const signs = new Set(off ? [] : marks.map(signOf));
    const key = WORD_KEY.filter(([sign]) => signs.has(sign));
    if (marks.some(({ changed }) => changed))
      key.splice(1, 0, ["changed", "… and changed the word"]);
    const first = `${beginning(run.head.prompt)} … ${chips.length} tokens by ${lane.name}`;
    return { ...textFigure(pieces, off, paper), key, head: [first, laneLine(lane, this.spec)] };
  }
}

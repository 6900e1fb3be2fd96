// The map of ρ × τ: how strongly XTC would act along this text, with the present point on it.

import { ruleOf } from "../core/dialect.js";
import { h, s, set, setText } from "../core/dom.js";
import { decimal, percent, setting } from "../core/format.js";
import { certainty, perToken } from "./expectation.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { Run } from "../session/run.js" */
/** @typedef {{ rho: number, tau: number, answer: WhatIfAnswer }} Point */

const WIDTH = 420;
const HEIGHT = 250;
const LEFT = 40;
const BOTTOM = 34;
const RING = 7;

export class StrengthMap {
  /**
   * `onpick(lane, rho, tau)` when a point of the map is chosen.
   * @param {Playback} playback
   * @param {Pick<Transport, "strength" | "whatIf">} transport
   * @param {(lane: number, rho: number, tau: number) => void} onpick
   */
  constructor(playback, transport, onpick) {
    this.playback = playback;
    this.transport = transport;
    this.onpick = onpick;
    this.key = "";
    /** @type {StrengthGrid | null} */
    this.grid = null;
    /** @type {Point | null} The settings of the lane. */
    this.now = null;
    /** @type {{ key: string, answer: WhatIfAnswer } | null} */
    this.known = null;
    this.ring = s("circle", { r: RING, class: "here" });
    this.svg = s("svg", {
      class: "strength",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": "Map of ρ and τ",
    });
    this.svg.addEventListener("pointerleave", () => this.point());
    this.words = h("p", { class: "map-words", "data-testid": "map-words" });
    this.questions = 0;
    this.element = h(
      "details",
      { class: "map" },
      h("summary", {}, "Map: how strongly other ρ and τ would act along this text"),
      this.svg,
      this.words,
    );
    this.element.addEventListener("toggle", () => this.update());
    playback.on("run state imagine select", () => this.update());
  }

  get lane() {
    const { selected, run } = this.playback;
    return selected ? selected.lane : Math.min(1, (run?.lanes.length ?? 1) - 1);
  }

  async update() {
    const { run, busy } = this.playback;
    const { lane } = this;
    if (!this.element.open || !run || busy || !this.transport.strength) return;
    const { imagined, chips } = run.lanes[lane];
    /** @type {OtherXtc} */
    const now = imagined?.xtc ?? run.head.lanes[lane].sampler.xtc;
    const { rho, tau, protect } = now;
    const { strategy, dialect } = ruleOf(now);
    const key = `${run.id} ${lane} ${JSON.stringify([strategy, dialect, protect])} ${chips.length}`;
    if (key !== this.key) {
      this.key = key;
      const xtc = { ...ruleOf(now), ...(protect ? { protect } : {}) };
      const grid = await this.transport.strength(run.id, lane, xtc);
      if (key !== this.key) return;
      this.grid = grid;
      this.drawCells(grid);
    }
    this.questions += 1;
    const { questions } = this;
    const answer = imagined ?? (await this.ofLane(run, lane));
    if (questions !== this.questions || !this.grid || !answer) return;
    this.now = { rho: Number(rho), tau: Number(tau), answer };
    this.point();
  }

  /**
   * What is expected of a lane under the settings that it was written with.
   * @param {Run} run
   * @param {number} lane
   */
  async ofLane(run, lane) {
    const key = `${run.id} ${lane} ${run.lanes[lane].chips.length}`;
    if (this.known?.key === key) return this.known.answer;
    const xtc = ruleOf(run.head.lanes[lane].sampler.xtc);
    const answer = await this.transport.whatIf?.(run.id, lane, xtc);
    if (answer) this.known = { key, answer };
    return answer;
  }

  /** @param {StrengthGrid} grid @param {number} j */
  x(grid, j) {
    return LEFT + ((WIDTH - LEFT) * j) / grid.taus.length;
  }

  /** @param {StrengthGrid} grid @param {number} i */
  y(grid, i) {
    return (HEIGHT - BOTTOM) * (1 - (i + 1) / grid.rhos.length);
  }

  /** @param {StrengthGrid} grid */
  drawCells(grid) {
    const { rhos, taus, interventions, removed } = grid;
    const top = Math.max(0.001, ...interventions.flat());
    const wide = (WIDTH - LEFT) / taus.length;
    const tall = (HEIGHT - BOTTOM) / rhos.length;
    const cells = rhos.flatMap((rho, i) =>
      taus.map((tau, j) => {
        const value = interventions[i][j];
        const cell = s("rect", {
          x: this.x(grid, j),
          y: this.y(grid, i),
          width: wide - 1,
          height: tall - 1,
          class: "cell",
          "fill-opacity": decimal(0.04 + (0.9 * value) / top, 3),
          onpointerenter: () =>
            this.say("There", rho, tau, { interventions: value, removed: removed[i][j] }),
          onclick: () => this.onpick(this.lane, rho, tau),
        });
        return cell;
      }),
    );
    const ticks = [
      ...taus.map((tau, j) =>
        j % 2 ? null : this.text(this.x(grid, j) + wide / 2, HEIGHT - 18, setting(tau), "middle"),
      ),
      ...rhos.map((rho, i) =>
        i % 2 ? null : this.text(LEFT - 6, this.y(grid, i) + tall / 2 + 4, decimal(rho, 1), "end"),
      ),
      this.text(LEFT + (WIDTH - LEFT) / 2, HEIGHT - 3, "τ", "middle"),
      this.text(8, (HEIGHT - BOTTOM) / 2, "ρ", "middle"),
    ].filter((tick) => tick !== null);
    this.svg.replaceChildren(...cells, ...ticks, this.ring);
  }

  /** @param {number} x @param {number} y @param {string} words @param {string} anchor */
  text(x, y, words, anchor) {
    return s("text", { x, y, class: "tick", "text-anchor": anchor }, words);
  }

  /** Where the present settings lie between the points of the grid; these numbers are their own. */
  point() {
    const { now, grid } = this;
    if (!now || !grid) return;
    const { rho, tau, answer } = now;
    const { taus, rhos } = grid;
    const step = (WIDTH - LEFT) / taus.length;
    const tall = (HEIGHT - BOTTOM) / rhos.length;
    const cy = HEIGHT - BOTTOM - rho * (rhos.length - 1) * tall - tall / 2;
    const [least, most] = [taus[0], taus[taus.length - 1]];
    const after = Math.max(
      1,
      taus.findIndex((value) => value >= tau),
    );
    const part = (tau - taus[after - 1]) / (taus[after] - taus[after - 1]);
    let cx = this.x(grid, after - 1) + step / 2 + part * step;
    let outside = "";
    if (tau < least) {
      cx = LEFT + RING;
      outside = ` The map begins at τ ${setting(least)}, to the right of this.`;
    } else if (tau > most) {
      cx = WIDTH - RING;
      outside = ` The map ends at τ ${setting(most)}, to the left of this.`;
    }
    set(this.ring, { cx, cy, "data-outside": outside ? "" : null });
    this.say("Now", rho, tau, perToken(answer), certainty(answer, tau) + outside);
  }

  /**
   * @param {string} where
   * @param {number} rho
   * @param {number} tau
   * @param {{ interventions: number, removed: number }} numbers
   */
  say(where, rho, tau, { interventions, removed }, more = "") {
    const words =
      `${where}, at ρ ${setting(rho)} and τ ${setting(tau)}: ` +
      `${decimal(100 * interventions, 1)} interventions per 100 tokens, ` +
      `${percent(removed)} of the probability removed per token.${more}`;
    setText(this.words, words);
    set(this.svg, { "aria-label": `Map of ρ and τ. ${words}` });
  }
}

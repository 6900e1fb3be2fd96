// The map of ρ × τ: how strongly XTC would act along this text, with the present point on it.

import { decimal, h, percent, s, set, setText, setting } from "../core/dom.js";
import { certainty, perToken } from "./whatif.js";

const WIDTH = 420;
const HEIGHT = 250;
const LEFT = 40;
const BOTTOM = 34;
const RING = 7;

export class Strength {
  /** `onpick(lane, rho, tau)` when a point of the map is chosen. */
  constructor(model, onpick) {
    this.model = model;
    this.onpick = onpick;
    this.svg = s("svg", {
      class: "strength",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": "Map of ρ and τ",
    });
    this.svg.addEventListener("pointerleave", () => this.point());
    this.words = h("p", { class: "map-words", "data-testid": "map-words" });
    this.asked = 0;
    this.element = h(
      "details",
      { class: "map" },
      h("summary", {}, "Map: how strongly other ρ and τ would act along this text"),
      this.svg,
      this.words,
    );
    this.element.addEventListener("toggle", () => this.update());
    model.on("run state imagine select", () => this.update());
  }

  get lane() {
    const at = this.model.selected;
    return at ? at.lane : Math.min(1, (this.model.run?.lanes.length ?? 1) - 1);
  }

  async update() {
    const { run } = this.model;
    if (!this.element.open || !run || this.model.busy || !this.model.transport.strength) return;
    const { xtc } = run.head.lanes[this.lane].sampler;
    const now = run.lanes[this.lane].imagined?.xtc ?? xtc;
    const { rho, tau, strategy, protect } = now;
    const of = JSON.stringify([strategy, protect]);
    const key = `${run.id} ${this.lane} ${of} ${run.lanes[this.lane].chips.length}`;
    if (key !== this.key) {
      this.key = key;
      const xtc = { rho, tau, strategy, ...(protect ? { protect } : {}) };
      this.grid = await this.model.transport.strength(run.id, this.lane, xtc);
      if (key !== this.key) return;
      this.cells();
    }
    this.asked += 1;
    const { asked } = this;
    const found = run.lanes[this.lane].imagined ?? (await this.own(run, this.lane, xtc));
    if (asked !== this.asked || !this.grid) return;
    this.now = { rho, tau, found };
    this.point();
  }

  /** What is expected of a lane under the settings that it was written with. */
  async own(run, lane, { rho, tau, strategy }) {
    const key = `${run.id} ${lane} ${run.lanes[lane].chips.length}`;
    if (this.known?.key !== key) {
      const found = await this.model.transport.whatIf(run.id, lane, { rho, tau, strategy });
      this.known = { key, found };
    }
    return this.known.found;
  }

  x(j) {
    return LEFT + ((WIDTH - LEFT) * j) / this.grid.taus.length;
  }

  y(i) {
    return (HEIGHT - BOTTOM) * (1 - (i + 1) / this.grid.rhos.length);
  }

  cells() {
    const { rhos, taus, interventions, removed } = this.grid;
    const top = Math.max(0.001, ...interventions.flat());
    const wide = (WIDTH - LEFT) / taus.length;
    const tall = (HEIGHT - BOTTOM) / rhos.length;
    const cells = rhos.flatMap((rho, i) =>
      taus.map((tau, j) => {
        const value = interventions[i][j];
        const cell = s("rect", {
          x: this.x(j),
          y: this.y(i),
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
        j % 2 ? null : this.text(this.x(j) + wide / 2, HEIGHT - 18, setting(tau), "middle"),
      ),
      ...rhos.map((rho, i) =>
        i % 2 ? null : this.text(LEFT - 6, this.y(i) + tall / 2 + 4, decimal(rho, 1), "end"),
      ),
      this.text(LEFT + (WIDTH - LEFT) / 2, HEIGHT - 3, "τ", "middle"),
      this.text(8, (HEIGHT - BOTTOM) / 2, "ρ", "middle"),
    ].filter(Boolean);
    this.ring = s("circle", { r: RING, class: "here" });
    this.svg.replaceChildren(...cells, ...ticks, this.ring);
  }

  text(x, y, words, anchor) {
    return s("text", { x, y, class: "tick", "text-anchor": anchor }, words);
  }

  /** Where the present settings lie between the points of the grid; these numbers are their own. */
  point() {
    if (!this.now) return;
    const { rho, tau, found } = this.now;
    const { taus, rhos } = this.grid;
    const step = (WIDTH - LEFT) / taus.length;
    const tall = (HEIGHT - BOTTOM) / rhos.length;
    const cy = HEIGHT - BOTTOM - rho * (rhos.length - 1) * tall - tall / 2;
    const [least, most] = [taus[0], taus.at(-1)];
    const after = Math.max(
      1,
      taus.findIndex((value) => value >= tau),
    );
    const part = (tau - taus[after - 1]) / (taus[after] - taus[after - 1]);
    let cx = this.x(after - 1) + step / 2 + part * step;
    let outside = "";
    if (tau < least) {
      cx = LEFT + RING;
      outside = ` The map begins at τ ${setting(least)}, to the right of this.`;
    } else if (tau > most) {
      cx = WIDTH - RING;
      outside = ` The map ends at τ ${setting(most)}, to the left of this.`;
    }
    set(this.ring, { cx, cy, "data-outside": outside ? "" : null });
    this.say("Now", rho, tau, perToken(found), certainty(found, tau) + outside);
  }

  say(where, rho, tau, { interventions, removed }, more = "") {
    const words =
      `${where}, at ρ ${setting(rho)} and τ ${setting(tau)}: ` +
      `${decimal(100 * interventions, 1)} interventions per 100 tokens, ` +
      `${percent(removed)} of the probability removed per token.${more}`;
    setText(this.words, words);
    set(this.svg, { "aria-label": `Map of ρ and τ. ${words}` });
  }
}

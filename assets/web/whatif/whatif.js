// What if: other XTC settings along the text that was written. The server decides every recorded
// step again; no model runs, and the text stays as it is.

import { sameProtection } from "../composer/protect.js";
import { decimal, h, percent, setting, token } from "../core/dom.js";

function same(a, b) {
  return a.rho === b.rho && a.tau === b.tau && a.strategy === b.strategy;
}

/** The lane of a draft that stands for lane k of a run: the one of that name, or that was renamed. */
function counterpart(lanes, heads, k) {
  const { name } = heads[k];
  const draft = lanes[k];
  if (!draft || draft.name === name) return draft;
  const another = lanes.some((lane) => lane.name === name);
  return another || heads.some((head) => head.name === draft.name) ? undefined : draft;
}

/** Over all coins, token by token: how often XTC acts, and the probability that it removes. */
export function perToken({ expected, removed, counts }) {
  const tokens = Math.max(
    1,
    counts.reduce((sum, n) => sum + n, 0),
  );
  return { interventions: expected / tokens, removed, firing: (removed * tokens) / expected };
}

/** Below 1/K, what is known beyond the K recorded tokens of a step; empty where that is no question. */
export function certainty({ exact, recorded }, tau) {
  if (!exact) {
    return ` May be off: a step records its ${recorded} likeliest tokens, and at this τ more may be eligible.`;
  }
  if (tau >= 1 / recorded) return "";
  return ` Exact, though τ is below 1/${recorded}: no token beyond the ${recorded} recorded at each step reaches it.`;
}

export class WhatIf {
  /** `reset` puts the settings of the run back, `anew` generates with the new ones. */
  constructor(model, { reset, anew }) {
    this.model = model;
    this.asked = 0;
    this.list = h("div", { class: "said" });
    this.element = h(
      "section",
      { class: "what-if", "aria-label": "What if", "data-testid": "what-if", hidden: true },
      h(
        "div",
        {},
        h("p", { class: "label" }, "What if · along this text, not a new generation"),
        this.list,
      ),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: anew }, "Generate anew"),
        h("button", { type: "button", class: "quiet", onclick: reset }, "Put back"),
      ),
    );
    model.on("run", () => this.clear());
  }

  clear() {
    this.asked += 1;
    this.element.hidden = true;
    for (const lane of this.model.run?.lanes ?? []) lane.imagined = null;
  }

  /** The draft in the composer changed. */
  async update(draft) {
    const { run } = this.model;
    this.asked += 1;
    if (!run || this.model.busy || !this.model.transport.whatIf) return;
    if (this.going) {
      this.later = draft;
      return;
    }
    this.going = true;
    try {
      await this.ask(run, draft);
    } catch {
      // A value out of bounds: it is named when someone presses Generate.
      for (const lane of run.lanes) lane.imagined = null;
    } finally {
      this.going = false;
    }
    if (this.model.run === run) this.show();
    const { later } = this;
    this.later = null;
    if (later) this.update(later);
  }

  async ask(run, { settings, protect }) {
    // A choice is sent only where it reads otherwise; what it means, the server finds out.
    const guard = sameProtection(protect, run.head.protect) ? {} : { protect };
    for (const [k, lane] of run.lanes.entries()) {
      const draft = counterpart(settings.lanes, run.head.lanes, k);
      const own = run.head.lanes[k].sampler.xtc;
      const known = draft && same(draft.sampler.xtc, own);
      if (!draft || (known && (own.rho === 0 || !guard.protect))) {
        lane.imagined = null;
        continue;
      }
      const { rho, tau, strategy } = draft.sampler.xtc;
      const xtc = structuredClone({ rho, tau, strategy, ...guard });
      const found = await this.model.transport.whatIf(run.id, k, xtc);
      lane.imagined = known && !found.guarded && !found.unsure.length ? null : { ...found, xtc };
    }
  }

  show() {
    const { run } = this.model;
    const lines = run.lanes.flatMap((lane, k) => (lane.imagined ? [this.line(lane, k)] : []));
    this.list.replaceChildren(...lines);
    this.element.hidden = !lines.length;
    this.model.emit("imagine");
  }

  line(lane, k) {
    const { imagined } = lane;
    const { name } = this.model.run.head.lanes[k];
    const { rho, tau } = imagined.xtc;
    const now = lane.stats?.outcomes[3] ?? 0;
    const where = lane.stats?.thought ? " in its answer" : "";
    const guard = imagined.guarded ? " and other protected tokens" : "";
    const words = [
      `${name} with ρ ${setting(rho)} and τ ${setting(tau)}${guard} would fire `,
      h("b", {}, String(imagined.counts[3])),
      ` times${where} (it fired ${now})`,
    ];
    const { removed, firing } = perToken(imagined);
    if (rho > 0 && rho < 1)
      words.push(`, ${decimal(imagined.expected, 1)} times on average over all coins`);
    if (removed > 0) {
      words.push(`. It would remove ${percent(removed)} of the probability per token, `);
      words.push(`${percent(firing)} per firing`);
    }
    words.push(".");
    if (tau > 0.5) words.push(" Above τ = 0.5 XTC can never fire.");
    words.push(certainty(imagined, tau));
    for (const text of imagined.unsure) {
      words.push(
        " Left out: ",
        token(text),
        ", whose first token only the model of this run knows.",
      );
    }
    return h("p", {}, words);
  }
}

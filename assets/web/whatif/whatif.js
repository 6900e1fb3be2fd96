// What if: other XTC settings along the text that was written. The server decides every recorded
// step again; no model runs, and the text stays as it is.

import { dialectOf } from "../core/dialect.js";
import { button, h, token } from "../core/dom.js";
import { decimal, percent, setting } from "../core/format.js";
import { certainty, perToken, questions } from "./expectation.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { Run } from "../session/run.js" */

// Where they are long they scroll, by the keyboard too.
const WORDS = { role: "group", "aria-label": "What would have been", tabindex: "0" };

export class WhatIf {
  /**
   * `reset` puts the settings of the run back, `anew` generates with the new ones.
   * @param {Playback} playback
   * @param {Pick<Transport, "whatIf">} transport
   * @param {{ reset: () => void, anew: () => void }} events
   */
  constructor(playback, transport, { reset, anew }) {
    this.playback = playback;
    this.transport = transport;
    this.going = false;
    /** @type {Draft | null} The last draft, while an earlier one is being asked about. */
    this.later = null;
    this.list = h("div", { class: "said" });
    this.element = h(
      "section",
      { class: "what-if", "aria-label": "What if", "data-testid": "what-if", hidden: true },
      h("div", WORDS, h("p", { class: "label" }, "What if, along this text:"), this.list),
      h(
        "div",
        { class: "actions" },
        button("Generate anew", anew),
        button("Put back", reset, { class: "quiet" }),
      ),
    );
    playback.on("run", () => {
      this.element.hidden = true;
    });
  }

  /** The draft in the composer changed. @param {Draft} draft */
  async update(draft) {
    const { run, busy } = this.playback;
    // A server decided by a rule and dice of its own.
    if (!run || busy || run.head.server || !this.transport.whatIf) return;
    if (this.going) {
      this.later = draft;
      return;
    }
    this.going = true;
    const lanes = await this.ask(run, draft).catch(
      // A value out of bounds: it is named when someone presses Generate.
      () => run.lanes.map(() => null),
    );
    this.going = false;
    if (this.playback.run === run) {
      this.playback.imagine(lanes);
      this.show(run);
    }
    const { later } = this;
    this.later = null;
    if (later) this.update(later);
  }

  /** @param {Run} run @param {Draft} draft @returns {Promise<(Imagined | null)[]>} */
  async ask(run, draft) {
    /** @type {(Imagined | null)[]} */
    const lanes = run.lanes.map(() => null);
    for (const [k, question] of questions(draft, run.head).entries()) {
      const answer = question && (await this.transport.whatIf?.(run.id, k, question.xtc));
      if (!question || !answer) continue;
      const nothing = question.same && !answer.guarded && !answer.unsure.length;
      lanes[k] = nothing ? null : { ...answer, xtc: question.xtc };
    }
    return lanes;
  }

  /** @param {Run} run */
  show(run) {
    const lines = run.lanes.flatMap((lane, k) =>
      lane.imagined ? [this.line(lane, lane.imagined, run.head.lanes[k])] : [],
    );
    this.list.replaceChildren(...lines);
    this.element.hidden = !lines.length;
  }

  /** @param {RunLane} lane @param {Imagined} imagined @param {HeadLane} head */
  line({ stats }, imagined, head) {
    const [rho, tau] = [Number(imagined.xtc.rho), Number(imagined.xtc.tau)];
    const now = stats?.outcomes[3] ?? 0;
    const where = stats?.thought ? " in its answer" : "";
    const guard = imagined.guarded ? " and other protected tokens" : "";
    const own = dialectOf(head.sampler.xtc);
    const dialect = dialectOf(imagined.xtc);
    const engine = dialect === own ? "" : `, by the rule of ${dialect},`;
    const words = [
      `${head.name} at ρ ${setting(rho)}, τ ${setting(tau)}${guard}${engine} would fire `,
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

// Two lanes side by side in the inspector: what there is to say about both.

import { button, h, sentence, set, setText, token } from "../core/dom.js";
import { Coin } from "./coin.js";
import { notesOf } from "./single.js";
import { factsOfTwo, sameness, verdict } from "./words.js";

/** @import { Playback } from "../session/playback.js" */

/** One of the two: its name, what it drew, what happened there. */
class Side {
  /** @param {Playback} playback @param {number} number */
  constructor(playback, number) {
    /** @type {Place} */
    this.at = { lane: number, i: 0 };
    const go = () => playback.select(this.at.lane, this.at.i, "step");
    this.name = button("", go, { class: "quiet" });
    this.word = h("span", { class: "word" });
    this.tag = h("span", { class: "tag" });
    this.verdict = h("p", { class: "verdict" });
    this.said = h("p", { class: "said" });
    this.notes = h("div", { class: "notes" });
    this.element = h(
      "section",
      { class: "side", "data-testid": `side-${number}` },
      h("h3", {}, this.name, this.word, this.tag),
      this.verdict,
      this.said,
      this.notes,
    );
  }

  /** @param {Look} look @param {boolean} own */
  draw(look, own) {
    const { step, texts } = look;
    this.at = look.at;
    set(this.element, { "aria-label": look.name, "data-own": own ? "" : null });
    set(this.name, { "aria-current": own ? "true" : null });
    set(this.said, { "aria-live": own ? "polite" : null });
    setText(this.name, look.name);
    setText(this.tag, look.tag);
    this.word.replaceChildren(...(look.pending ? [] : [token(look.word)]));
    setText(this.verdict, verdict(step, look));
    set(this.verdict, { "data-outcome": step.forced ? null : step.outcome });
    this.said.replaceChildren(...sentence(look.said, texts));
    this.notes.replaceChildren(...notesOf(look));
  }
}

export class Pair {
  /** @param {Playback} playback @param {Spec["knobs"]} knobs */
  constructor(playback, knobs) {
    this.playback = playback;
    this.knobs = knobs;
    /** @type {HTMLElement[][]} */
    this.cells = [];
    this.same = h("p", { class: "same", "data-testid": "same" });
    this.sides = [new Side(playback, 0), new Side(playback, 1)];
    this.coins = [new Coin(), new Coin()];
    this.coinNames = [h("p", { class: "tag" }), h("p", { class: "tag" })];
    this.coinWords = h("figcaption");
    this.names = [h("th", { scope: "col" }), h("th", { scope: "col" })];
    this.values = h("tbody");
    this.facts = h(
      "table",
      { class: "facts-of-two" },
      h("thead", {}, h("tr", {}, h("td"), this.names)),
      this.values,
    );
    // What stands before the bars, and what behind them.
    this.lead = h(
      "div",
      { class: "why pair", "data-testid": "pair" },
      this.same,
      ...this.sides.map((side) => side.element),
    );
    this.more = h(
      "div",
      { class: "why-more" },
      h(
        "figure",
        { class: "coin-box" },
        this.coinWords,
        this.coins.flatMap((coin, k) => [this.coinNames[k], coin.element]),
      ),
      this.facts,
    );
  }

  /**
   * `looks` are the two lanes in their order, `own` is which of them (0 or 1) is selected.
   * @param {Look[]} looks
   * @param {number} own
   */
  draw(looks, own) {
    const [a, b] = looks;
    const parted = this.playback.run?.parting(a.at.lane, b.at.lane) ?? -1;
    const samplers = looks.map((look) => look.sampler);
    setText(this.same, sameness(samplers, parted, a.at.i, this.knobs));
    const shared = a.step.coin === b.step.coin;
    setText(this.coinWords, shared ? "The coin: one draw for both" : "The coins");
    looks.forEach((look, k) => {
      this.sides[k].draw(look, k === own);
      setText(this.coinNames[k], look.name);
      this.coins[k].draw(look.step);
      setText(this.names[k], look.name);
    });
    this.facts.hidden = looks.some((look) => look.pending);
    this.fillFacts(factsOfTwo(looks.map((look) => look.step)));
  }

  /** @param {[string, string, string][]} lines */
  fillFacts(lines) {
    if (!this.cells.length) {
      this.cells = lines.map(() => [h("th", { scope: "row" }), h("td"), h("td")]);
      this.values.replaceChildren(...this.cells.map((cells) => h("tr", {}, cells)));
    }
    lines.forEach((line, i) => {
      line.forEach((text, k) => {
        setText(this.cells[i][k], text);
      });
    });
  }
}

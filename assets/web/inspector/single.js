// What there is to say of one lane at a place: sentences, what the other lanes wrote, the coin,
// numbers.

import { button, h, sentence, setText, token } from "../core/dom.js";
import { Coin } from "./coin.js";
import { facts } from "./words.js";

/** @import { Playback } from "../session/playback.js" */

/** The notes of a step, each a paragraph. @param {Look} look */
export function notesOf({ step, texts }) {
  return step.notes.map((note) => h("p", { class: "note" }, sentence(note, texts)));
}

export class Single {
  /** @param {Playback} playback */
  constructor(playback) {
    this.playback = playback;
    this.coin = new Coin();
    this.said = h("p", { class: "said", "aria-live": "polite", "data-testid": "sentence" });
    this.others = h("p", { class: "others", "data-testid": "others" });
    this.notes = h("div", { class: "notes" });
    this.facts = h("dl", { class: "facts" });
    /** @type {[HTMLElement, HTMLElement][]} */
    this.values = [];
    // What stands before the bars, and what behind them.
    this.lead = h(
      "div",
      { class: "why" },
      this.said,
      h(
        "figure",
        { class: "coin-box lead-coin" },
        h("figcaption", {}, "The coin"),
        this.coin.element,
      ),
    );
    this.more = h("div", { class: "why-more" }, this.others, this.notes, this.facts);
  }

  /** `missing` says why there is no other lane beside it. @param {Look} look @param {string} missing */
  draw(look, missing) {
    const { step, texts } = look;
    this.said.replaceChildren(...sentence(look.said, texts));
    this.fillOthers(look, missing);
    this.notes.replaceChildren(...notesOf(look));
    this.coin.draw(step);
    this.facts.hidden = look.pending;
    this.fillFacts(step);
  }

  /** What the other lanes wrote at the same place; a click goes there. */
  fillOthers(/** @type {Look} */ { at, pending }, /** @type {string} */ missing) {
    const { run } = this.playback;
    const places = (run?.lanes ?? []).flatMap((lane, k) => {
      const chip = lane.chips[at.i];
      if (!run || k === at.lane || !chip || pending || at.i >= this.playback.shown(k)) return [];
      const go = () => this.playback.select(k, at.i, "step");
      const words = [`${run.head.lanes[k].name} `, token(chip.text || chip.sign || "")];
      return [button(words, go, { class: "quiet" })];
    });
    const list = places.length ? ["At the same place: ", ...places] : [];
    this.others.replaceChildren(...list, missing);
  }

  /** @param {StepView} step */
  fillFacts(step) {
    const pairs = facts(step);
    if (!this.values.length) {
      this.values = pairs.map(() => [h("dt"), h("dd")]);
      this.facts.replaceChildren(...this.values.map(([a, b]) => h("div", {}, a, b)));
    }
    pairs.forEach(([name, value], i) => {
      setText(this.values[i][0], name);
      setText(this.values[i][1], value);
    });
  }
}

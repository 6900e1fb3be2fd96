// What the words are coloured by, and the legend of it.

import { h, set } from "../core/dom.js";
import { MODES } from "../session/playback.js";

/** @import { Playback } from "../session/playback.js" */

/** @type {Record<string, [string, string][]>} */
export const LEGENDS = {
  outcome: [
    ["l-fired", "XTC fired"],
    ["l-changed", "… and changed the word"],
    ["l-tail", "… from below τ"],
    ["l-skipped", "the coin said no"],
    ["l-protected", "protected"],
  ],
  probability: [["l-amount", "the taller and darker, the less probable the word was"]],
  rank: [["l-amount", "the taller and darker, the further down the list the word stood"]],
  surprisal: [["l-amount", "the taller and darker, the more surprising the word (bits)"]],
  entropy: [["l-amount", "the taller and darker, the more open the choice was"]],
  difference: [["l-other", "differs from the other lane at this place"]],
};

/** @type {[string, string]} What the first sign is in a what-if. */
const WHAT_IF = ["l-imagined", "would fire"];

export class Colours {
  /**
   * `lanes` is the element whose words are coloured.
   * @param {Playback} playback
   * @param {HTMLElement} lanes
   */
  constructor(playback, lanes) {
    this.playback = playback;
    this.lanes = lanes;
    this.legend = h("div", { class: "legend", "aria-label": "Colours", role: "group" });
    this.mode = h(
      "select",
      { "aria-label": "Colour the words by", onchange: () => playback.setMode(this.mode.value) },
      MODES.map((name) => h("option", { value: name }, name === "outcome" ? "XTC outcome" : name)),
    );
    this.pieces = h("input", { type: "checkbox" });
    this.pieces.addEventListener("change", () => playback.setPieces(this.pieces.checked));
    this.piecesLabel = h("label", { class: "toggle pieces" }, this.pieces, "Prompt as tokens");
    this.element = h(
      "div",
      { class: "below" },
      h("label", { class: "mode" }, "Colours ", this.mode),
      this.legend,
    );
    playback.on("mode run imagine", () => this.draw());
    this.draw();
  }

  next() {
    const next = MODES[(MODES.indexOf(this.playback.mode) + 1) % MODES.length];
    this.mode.value = next;
    this.playback.setMode(next);
  }

  draw() {
    const { mode } = this.playback;
    set(this.lanes, { "data-mode": mode });
    const whatIf = mode === "outcome" && this.playback.run?.lanes.some((lane) => lane.imagined);
    this.legend.replaceChildren(
      ...(whatIf ? [WHAT_IF, ...LEGENDS[mode].slice(1)] : LEGENDS[mode]).map(([name, words]) =>
        h("span", { class: `l ${name}` }, words),
      ),
    );
  }
}

// The lesson as the page has it: four parts, what opens them, and the help that lists them.

import { button } from "../core/dom.js";
import { Guess } from "./guess.js";
import { helpDialog } from "./help.js";
import { tourOffer } from "./offer.js";
import { Tour } from "./tour.js";
import { Which } from "./which.js";
import { Why } from "./why.js";

/** @import { Inspector } from "../inspector/inspector.js" */
/** @import { Playback } from "../session/playback.js" */

export class Lesson {
  /**
   * `anew` writes the run on show with another seed, null where there is no server.
   * @param {{ root: HTMLElement, playback: Playback, transport: Transport, spec: Spec,
   *   inspector: Inspector, anew: (() => void) | null }} page
   */
  constructor({ root, playback, transport, spec, inspector, anew }) {
    this.why = new Why(spec);
    this.guess = new Guess(playback, transport, (key) => this.why.explain(key));
    this.which = new Which(playback, transport, anew);
    this.tour = new Tour(root, playback, inspector);
    this.offer = tourOffer(() => this.tour.start());
    this.help = helpDialog([
      ["See it in a minute", "a tour through one step", () => this.tour.start()],
      ["Guess what survives", "a game on real steps", () => this.guess.open()],
      ["Which lane is XTC?", "a game with two texts", () => this.which.open()],
      ["What is XTC?", "why, at what cost, and all the words", () => this.why.open()],
    ]);
    const quiet = { class: "quiet" };
    /** What stands in the head of the page. */
    this.ways = [
      button("What is XTC?", () => this.why.open(), quiet),
      button("Guess", () => this.guess.open(), quiet),
    ];
    /** What stands at the end of the page. */
    this.elements = [
      ...[this.help, this.why.element, this.guess.element, this.which.element],
      this.tour.element,
    ];
  }

  openHelp() {
    if (!this.help.open) this.help.showModal();
  }
}

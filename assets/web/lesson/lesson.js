// The lesson as the page has it: four parts, what opens them, and the help that lists them all.

import { button, h } from "../core/dom.js";
import { Guess } from "./guess.js";
import { helpDialog } from "./help.js";
import { tourOffer } from "./offer.js";
import { Tour } from "./tour.js";
import { Which } from "./which.js";
import { Why } from "./why.js";

/** @import { Inspector } from "../inspector/inspector.js" */
/** @import { Sheet } from "../page/sheet.js" */
/** @import { Playback } from "../session/playback.js" */

/**
 * What is made when it is first asked for.
 * @template T
 * @param {() => T} make
 */
function once(make) {
  /** @type {T | undefined} */
  let made;
  return () => {
    made ??= make();
    return made;
  };
}

export class Lesson {
  /**
   * `anew` writes the run on show with another seed, and `numbers` opens the engines on numbers
   * that one types in; both are null where there is no server.
   * @param {{ root: HTMLElement, playback: Playback, transport: Transport, spec: Spec,
   *   inspector: Inspector, sheet: Sheet, anew: (() => void) | null,
   *   numbers: (() => void) | null }} page
   */
  constructor({ root, playback, transport, spec, inspector, sheet, anew, numbers }) {
    /** What stands at the end of the page: the help, and each part once it was opened. */
    this.element = h("div", { class: "lessons" });
    /** @template {{ element: Node }} P @param {P} part */
    const placed = (part) => {
      this.element.append(part.element);
      return part;
    };
    const why = once(() => placed(new Why(spec)));
    const guess = once(() => placed(new Guess(playback, transport, (key) => why().explain(key))));
    const which = once(() => placed(new Which(playback, transport, anew)));
    const tour = once(() => placed(new Tour(root, playback, inspector, sheet)));
    this.offer = tourOffer(() => tour().start());
    /** @type {[string, string, () => unknown][]} */
    const engines = numbers
      ? [["Engines: would mine do the same?", "llama.cpp and others on numbers of yours", numbers]]
      : [];
    this.help = helpDialog([
      ["See it in a minute", "a tour through one step", () => tour().start()],
      ["Guess what survives", "a game on real steps", () => guess().open()],
      ["Which lane is XTC?", "a game with two texts", () => which().open()],
      ["What is XTC?", "why, at what cost, and all the words", () => why().open()],
      ...engines,
    ]);
    this.element.append(this.help);
    const quiet = { class: "quiet" };
    /** What stands in the head of the page. */
    this.ways = [
      button("What is XTC?", () => why().open(), quiet),
      button("Guess", () => guess().open(), quiet),
    ];
  }

  openHelp() {
    if (!this.help.open) this.help.showModal();
  }
}

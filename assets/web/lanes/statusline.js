// The line over the lanes: how the run stands, where it comes from, what awaits Generate. It has
// its own room, so that nothing moves when its words change.

import { h, setText } from "../core/dom.js";

export class Told {
  constructor() {
    this.status = h("p", { class: "status", role: "status", "data-testid": "status" });
    this.origin = h("p", { class: "origin", "data-testid": "origin" });
    this.note = h("p", { class: "awaits", role: "status", "data-testid": "note" });
    this.element = h("div", { class: "told" }, this.status, this.origin, this.note);
  }

  /** How the run stands; while one is on its way, that is all there is to say. */
  busy(phase, words) {
    const busy = phase !== "idle";
    this.origin.hidden = busy;
    this.note.hidden = busy;
    setText(this.status, words);
  }

  from(words) {
    setText(this.origin, words);
  }

  also(words) {
    setText(this.note, words);
  }
}

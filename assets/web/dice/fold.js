// The dice of a lane that a server drew, in the place of what other settings would do along its text.

import { h, setText } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { diceTable } from "./dice.js";

/** @import { Playback } from "../session/playback.js" */

export class DiceFold {
  /** @param {Playback} playback @param {Pick<Transport, "dice">} transport */
  constructor(playback, transport) {
    this.playback = playback;
    this.transport = transport;
    this.key = "";
    this.body = h("div", { "data-testid": "dice-of-lane" });
    this.wrong = h("p", { class: "wrong", role: "alert" });
    this.element = h(
      "details",
      { class: "dice-fold", hidden: true },
      h("summary", {}, "The server's dice: which numbers served twice"),
      this.body,
      this.wrong,
    );
    this.element.addEventListener("toggle", () => this.update());
    playback.on("run state select", () => this.update());
  }

  async update() {
    const { run, busy, selected } = this.playback;
    this.element.hidden = !run?.head.server;
    if (!run?.head.server || busy || !this.element.open || !this.transport.dice) return;
    const lane = selected?.lane ?? 0;
    const key = `${run.id} ${lane} ${run.lengths[lane]}`;
    if (key === this.key) return;
    this.key = key;
    setText(this.wrong, "");
    try {
      const { rho, rows } = await this.transport.dice(run.id, lane);
      if (key === this.key) this.body.replaceChildren(diceTable(rows, rho));
    } catch (error) {
      this.key = "";
      this.body.replaceChildren();
      setText(this.wrong, wordsOf(error));
    }
  }
}

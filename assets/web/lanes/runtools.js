// What can be done with the run on show as a whole: go on, once more, back to the one before.

import { h } from "../core/dom.js";

export class RunTools {
  /** `most` tokens are the most that a lane may have, null where there is no such bound. */
  constructor(model, { onward, again, undo, most }) {
    this.model = model;
    this.most = most ?? Number.POSITIVE_INFINITY;
    const button = (words, onclick) =>
      h("button", { type: "button", class: "quiet", onclick }, words);
    this.onward = button("Continue", onward);
    this.again = button("Again with a new seed", again);
    this.undo = button("Undo", undo);
    this.buttons = [this.onward, this.again, this.undo];
  }

  /** `ours` says that the model in use wrote the run, `former` whether there is a run before it. */
  draw({ idle, stepping, ours, former }) {
    const { run } = this.model;
    const open = (run?.lanes ?? []).some(
      ({ finish, chips }) => finish !== "eos" && finish !== "stop" && chips.length < this.most,
    );
    const off = !run || stepping;
    this.onward.hidden = off || !open || !ours;
    this.again.hidden = off;
    this.undo.hidden = off || !former;
    // They keep their place while a run is written.
    for (const button of this.buttons) button.disabled = !idle;
  }
}

// The thought that a reasoning model writes before its answer: in sight while it is all there is,
// folded away once the answer begins, and where a person opens or closes it, as they wish.

import { button, h, set, setText } from "../core/dom.js";
import { count } from "../core/format.js";

/** @import { Lane } from "./lane.js" */

export class Thought {
  /** @param {Lane} lane */
  constructor(lane) {
    this.lane = lane;
    this.begun = false;
    /** @type {boolean | null} What a person wanted: open or not. */
    this.chosen = null;
    this.words = h("span");
    this.button = button(this.words, () => this.toggle(), { class: "quiet think" });
  }

  get state() {
    return this.lane.state;
  }

  /** How many tokens, from the first on, are thought. */
  get steps() {
    return this.state.stats?.thought?.[0] ?? 0;
  }

  get open() {
    return this.chosen ?? this.lane.spans.length <= this.steps;
  }

  /** @param {number} i */
  hides(i) {
    return this.begun && i < this.steps && !this.open;
  }

  /** Whether the answer begins with token i, in a paragraph of its own. @param {number} i */
  ends(i) {
    return i > 0 && i === this.steps;
  }

  /** A step within it was chosen. @param {number} i */
  show(i) {
    if (!this.hides(i)) return;
    this.chosen = true;
    this.update();
  }

  toggle() {
    this.chosen = !this.open;
    this.update();
  }

  /** The button stands between the prompt and the words, outside of their list. */
  begin() {
    const { lane } = this;
    this.begun = true;
    set(this.button, { "aria-controls": lane.tokens.id });
    set(lane.prompt, { role: null, "aria-disabled": null });
    lane.tokens.before(h("span", { class: "para" }, lane.prompt), this.button);
    for (const para of lane.tokens.children) para.classList.add("thought");
  }

  /** Follow what is shown of the lane; costs the same however long the thought is. */
  update() {
    if (!this.steps) return;
    if (!this.begun) this.begin();
    const { open } = this;
    set(this.lane.tokens, { "data-folded": open ? null : "" });
    set(this.button, { "aria-expanded": String(open) });
    setText(this.words, this.label());
  }

  label() {
    const { steps, state, lane } = this;
    const [, fired, changed] = state.stats?.thought ?? [0, 0, 0];
    const shown = Math.min(steps, lane.spans.length);
    if (shown < steps) return `Thought: ${shown} of ${count(steps, "token")}`;
    const parts = [`Thought for ${count(steps, "token")}`];
    if (!state.stats?.answering) {
      if (lane.playback.busy && !state.finish) return `Thinking … ${count(steps, "token")}`;
      parts[0] += ", and came to no answer";
    }
    if (fired) parts.push(`fired ${fired}`, `changed ${changed}`);
    if (state.splits >= 0 && state.splits < steps) parts.push("the lanes part here");
    return parts.join(" · ");
  }
}

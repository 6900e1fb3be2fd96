// What a run needs now and then: chat, protected tokens, stop texts, the shared dice.

import { h } from "../core/dom.js";
import { lines, toggle } from "../core/fields.js";
import { Protect } from "./protect.js";

/** @import { NextRun } from "./nextrun.js" */

export class Extras {
  /**
   * `onchange()` follows what changes the run, `onedit()` what is only typed; `ask` answers what a
   * choice of protected tokens means on the model in use.
   * `knobs` are controls that stand here too.
   * @param {Spec} spec
   * @param {NextRun} run
   * @param {HTMLElement[]} knobs
   * @param {{ onchange: () => void, onedit: () => void, ask: Transport["tokens"] }} events
   */
  constructor(spec, run, knobs, { onchange, onedit, ask }) {
    this.run = run;
    this.thinks = false;
    this.protect = new Protect(spec, run, { onchange, ask });
    this.chat = toggle(
      "Chat template",
      "The prompt becomes a user's turn.",
      () => run.draft.chat,
      (value) => {
        run.set("chat", value);
        this.system.hidden = !value;
        this.offerThought();
        onchange();
      },
    );
    this.thinking = toggle(
      "Let it think first",
      "The model writes its thoughts before the answer. Off: the answer begins at once.",
      () => run.draft.thinking,
      (value) => {
        run.set("thinking", value);
        onchange();
      },
    );
    this.systemText = h("textarea", {
      rows: "2",
      dir: "auto",
      placeholder: "System message (optional)",
    });
    this.systemText.addEventListener("input", () => {
      run.set("system", this.systemText.value);
      onedit();
    });
    this.system = h("label", { class: "lines" }, h("span", {}, "System"), this.systemText);
    this.toggles = [
      toggle(
        "Shared dice",
        "All lanes draw the same random numbers, so they differ only by their settings. Off: each lane has dice of its own.",
        () => run.settings.shared_randomness,
        (value) => {
          run.setRun("shared_randomness", value);
          onchange();
        },
      ),
      this.chat,
      this.thinking,
    ];
    this.texts = [
      lines(
        "Stop at",
        "A lane ends when it has written one of these.",
        () => run.settings.stop,
        (value) => {
          run.setRun("stop", value);
          onchange();
        },
      ),
    ];
    this.element = h(
      "details",
      { class: "extras" },
      h("summary", {}, "More"),
      h(
        "div",
        { class: "extras-body" },
        h("div", { class: "extras-grid" }, knobs),
        h(
          "div",
          { class: "toggles" },
          this.toggles.map((part) => part.element),
          this.protect.eos.element,
          this.protect.newline.element,
        ),
        h(
          "div",
          { class: "extras-grid" },
          this.system,
          this.protect.texts.element,
          this.texts.map((part) => part.element),
        ),
      ),
    );
    this.element.addEventListener("toggle", () => this.protect.later());
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      event.stopPropagation();
      this.open(false);
      this.element.querySelector("summary")?.focus();
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (target instanceof Node && !this.element.contains(target)) this.open(false);
    });
  }

  /** @param {boolean} open */
  open(open) {
    this.element.open = open;
  }

  /** Offer a chat only where the model has a template for it. @param {ModelLine} info */
  model(info) {
    this.chat.element.hidden = !info.chat;
    this.thinks = info.thinks;
    this.offerThought();
    this.protect.later();
  }

  /** A thought can be left out where the model's chat template has a switch for it. */
  offerThought() {
    this.thinking.element.hidden = !this.thinks || !this.run.draft.chat;
  }

  fill() {
    for (const part of [...this.toggles, this.protect, ...this.texts]) part.fill();
    this.systemText.value = this.run.draft.system;
    this.system.hidden = !this.run.draft.chat;
    this.offerThought();
  }
}

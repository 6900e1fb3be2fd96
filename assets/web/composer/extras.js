// What a run needs now and then: chat, protected tokens, stop texts, the shared dice.

import { h, set } from "../core/dom.js";
import { lines, toggle } from "./fields.js";
import { Protect } from "./protect.js";

export class Extras {
  /** `ask` answers what a choice of protected tokens means on the model in use. */
  constructor(composer, ask) {
    this.composer = composer;
    const draft = () => composer.draft;
    const changed = () => composer.onchange();
    this.protect = new Protect(composer.spec, { draft, onchange: changed, ask });
    this.chat = toggle(
      "Chat template",
      "The prompt becomes a user's turn..",
      () => draft().chat,
      (value) => {
        draft().chat = value;
        this.system.hidden = !value;
        this.offerThought();
        changed();
      },
    );
    this.thinking = toggle(
      "Let it think first",
      "The model writes its thoughts before the answer. Off: the answer begins at once.",
      () => draft().thinking,
      (value) => {
        draft().thinking = value;
        changed();
      },
    );
    this.systemText = h("textarea", { rows: "2", placeholder: "System message (optional)" });
    this.systemText.addEventListener("input", () => {
      draft().system = this.systemText.value;
      composer.onedit();
    });
    this.system = h("label", { class: "lines" }, h("span", {}, "System"), this.systemText);
    this.toggles = [
      toggle(
        "Shared dice",
        "All lanes draw the same random numbers, so they differ only by their settings. Off: each lane has dice of its own.",
        () => draft().settings.shared_randomness,
        (value) => {
          draft().settings.shared_randomness = value;
          changed();
        },
      ),
      this.chat,
      this.thinking,
    ];
    this.texts = [
      lines(
        "Stop at",
        "A lane ends when it has written one of these.",
        () => draft().settings.stop,
        (value) => {
          draft().settings.stop = value;
          changed();
        },
      ),
    ];
    this.element = h(
      "details",
      { class: "extras" },
      h("summary", {}, "More"),
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
    );
    this.element.addEventListener("toggle", () => this.protect.later());
  }

  /** Offer a chat only where the model has a template for it. */
  model(info) {
    this.chat.element.hidden = !info.chat;
    this.thinks = info.thinks;
    this.offerThought();
    this.protect.later();
  }

  /** A thought can be left out where the model's chat template has a switch for it. */
  offerThought() {
    this.thinking.element.hidden = !this.thinks || !this.composer.draft.chat;
  }

  fill(draft) {
    for (const part of [...this.toggles, this.protect, ...this.texts]) part.fill();
    this.systemText.value = draft.system;
    this.system.hidden = !draft.chat;
    this.offerThought();
    set(this.element, { open: null });
  }
}

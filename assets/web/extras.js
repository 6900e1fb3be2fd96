// What a run needs now and then: chat, protected tokens, stop texts, the shared dice.

import { h, set } from "./dom.js";

function toggle(label, help, read, write) {
  const box = h("input", { type: "checkbox", onchange: () => write(box.checked) });
  return {
    element: h("label", { class: "toggle", title: help }, box, h("span", {}, label)),
    fill: () => {
      box.checked = read();
    },
  };
}

/** A list of texts, one a line; an empty line is none. */
function lines(label, help, read, write) {
  const area = h("textarea", { rows: "2", spellcheck: "false", placeholder: "one a line" });
  area.addEventListener("input", () => write(area.value.split("\n").filter((line) => line !== "")));
  return {
    element: h("label", { class: "lines" }, h("span", {}, label), area, h("small", {}, help)),
    fill: () => {
      area.value = read().join("\n");
    },
  };
}

export class Extras {
  constructor(composer) {
    const draft = () => composer.draft;
    const changed = () => composer.onchange();
    const protect = (name) => [
      () => draft().protect[name],
      (value) => {
        draft().protect[name] = value;
        changed();
      },
    ];
    this.chat = toggle(
      "Chat template",
      "The prompt becomes a user's turn. Only for models that know a chat template.",
      () => draft().chat,
      (value) => {
        draft().chat = value;
        this.system.hidden = !value;
        changed();
      },
    );
    this.systemText = h("textarea", { rows: "2", placeholder: "System message (optional)" });
    this.systemText.addEventListener("input", () => {
      draft().system = this.systemText.value;
    });
    this.system = h("label", { class: "lines" }, h("span", {}, "System"), this.systemText);
    this.toggles = [
      toggle(
        "Shared dice",
        "All lanes draw from the same random numbers, so they differ only where their settings make them. Off: each lane has dice of its own.",
        () => draft().settings.shared_randomness,
        (value) => {
          draft().settings.shared_randomness = value;
          changed();
        },
      ),
      toggle("Protect the end of the text", "XTC never removes it.", ...protect("eos")),
      toggle("Protect line breaks", "XTC never removes them.", ...protect("newline")),
      this.chat,
    ];
    this.texts = [
      lines(
        "Protect these too",
        "The first token of each; mind the space before a word.",
        ...protect("texts"),
      ),
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
      ),
      h(
        "div",
        { class: "extras-grid" },
        this.system,
        this.texts.map((part) => part.element),
      ),
    );
  }

  /** Offer a chat only where the model has a template for it. */
  model(info) {
    this.chat.element.hidden = !info.chat;
  }

  fill(draft) {
    for (const part of [...this.toggles, ...this.texts]) part.fill();
    this.systemText.value = draft.system;
    this.system.hidden = !draft.chat;
    set(this.element, { open: null });
  }
}

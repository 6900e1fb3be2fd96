// A dialog of the lesson: a title, a way out, and a body that scrolls.

import { button, h } from "../core/dom.js";

export class LessonDialog {
  /** @param {string} title @param {string} name how tests and styles call it */
  constructor(title, name) {
    const id = `lesson-${name}`;
    this.body = h("div", { class: "lesson-body" });
    this.close = button("✕", () => this.element.close(), {
      class: "quiet close",
      "aria-label": "Close",
    });
    this.element = h(
      "dialog",
      { class: `lesson ${name}`, "aria-labelledby": id, "data-testid": id },
      h("header", {}, h("h2", { id }, title), this.close),
      this.body,
    );
  }

  open() {
    if (!this.element.open) this.element.showModal();
  }
}

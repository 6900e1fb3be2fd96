// A button that opens a short list of actions.

import { button, h } from "./dom.js";

/** @typedef {[label: string, action: () => unknown, can?: () => boolean]} Item */

export class Menu {
  /**
   * The menu closes when one of `items` is chosen; one that cannot be done now is greyed. `name`
   * says what the button is for where its label is only a sign.
   * @param {string} label
   * @param {Item[]} items
   * @param {string} [name]
   */
  constructor(label, items, name) {
    const list = h("div", { class: "menu-list" });
    this.summary = h("summary", { "aria-label": name }, label);
    this.element = h("details", { class: "menu" }, this.summary, list);
    /** @type {[HTMLButtonElement, () => boolean][]} */
    const guarded = [];
    for (const [words, action, can] of items) {
      const onclick = () => {
        this.element.open = false;
        action();
      };
      const item = button(words, onclick, { class: "quiet" });
      if (can) guarded.push([item, can]);
      list.append(item);
    }
    const outside = (/** @type {Event} */ { target }) => {
      if (target instanceof Node && !this.element.contains(target)) this.element.open = false;
    };
    this.element.addEventListener("toggle", () => {
      for (const [item, can] of guarded) item.disabled = !can();
      // Only while it is open: a menu that is gone then leaves nothing behind.
      if (this.element.open) document.addEventListener("click", outside);
      else document.removeEventListener("click", outside);
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      this.element.open = false;
      this.summary.focus();
      event.stopPropagation();
    });
  }
}

// A button that opens a short list of actions.

import { button, h } from "./dom.js";

export class Menu {
  /**
   * `items` are [label, action]; the menu closes when one is chosen.
   * @param {string} label
   * @param {[string, () => unknown][]} items
   */
  constructor(label, items) {
    const list = h("div", { class: "menu-list" });
    const summary = h("summary", {}, label);
    this.element = h("details", { class: "menu" }, summary, list);
    for (const [name, action] of items) {
      const onclick = () => {
        this.element.open = false;
        action();
      };
      list.append(button(name, onclick, { class: "quiet" }));
    }
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      this.element.open = false;
      summary.focus();
      event.stopPropagation();
    });
    document.addEventListener("click", ({ target }) => {
      if (target instanceof Node && !this.element.contains(target)) this.element.open = false;
    });
  }
}

// A button that opens a short list of actions.

import { h } from "./dom.js";

export class Menu {
  /** `items` are [label, action]; the menu closes when one is chosen. */
  constructor(label, items) {
    const list = h("div", { class: "menu-list" });
    this.element = h("details", { class: "menu" }, h("summary", {}, label), list);
    for (const [name, action] of items) {
      const onclick = () => {
        this.element.open = false;
        action();
      };
      list.append(h("button", { type: "button", class: "quiet", onclick }, name));
    }
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      this.element.open = false;
      this.element.querySelector("summary").focus();
      event.stopPropagation();
    });
    document.addEventListener("click", (event) => {
      if (!this.element.contains(event.target)) this.element.open = false;
    });
  }
}

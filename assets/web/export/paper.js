// The paper that figures are drawn on: always in light colours, of a width of its own, out of sight.

import { h } from "../core/dom.js";

export class Paper {
  /** To be closed in the end. @param {number} width of the drawing in pixels */
  constructor(width) {
    this.width = width;
    this.element = h("div", {
      class: "xtc paper",
      "aria-hidden": "true",
      style: `width: ${width}px`,
    });
    // Beside the body, whose class says that the page is dark.
    document.documentElement.append(this.element);
    this.style = getComputedStyle(this.element);
    this.font = this.style.fontFamily;
    this.pen = h("canvas").getContext("2d");
  }

  /** A colour by its name in core/base.css. @param {string} name */
  ink(name) {
    return this.style.getPropertyValue(`--${name}`).trim();
  }

  /** How wide a text is in pixels. @param {string} text */
  wide(text, size = 13, weight = 400) {
    if (!this.pen) return text.length * size * 0.6;
    this.pen.font = `${weight} ${size}px ${this.font}`;
    return this.pen.measureText(text).width;
  }

  close() {
    this.element.remove();
  }
}

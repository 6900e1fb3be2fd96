// The decision behind a word: beside the text, below it, or, on a phone, a sheet from below that a
// tap on a word opens; a swipe, its button or Esc closes it.

import { button, h, set } from "../core/dom.js";

/** @import { Playback } from "../session/playback.js" */

const PHONE = matchMedia("(max-width: 640px)"); // as in the style sheets
const SWIPE = 70; // pixels downwards that close it
const CLEAR = 12; // pixels between the word and the sheet

export class Sheet {
  /**
   * `lanes` are the words that open it, `parts` what stands in it.
   * @param {Playback} playback
   * @param {HTMLElement} lanes
   * @param {Node[]} parts
   */
  constructor(playback, lanes, parts) {
    this.lanes = lanes;
    const close = button("✕", () => this.close(), { class: "quiet", "aria-label": "Close" });
    this.grip = h("div", { class: "grip" }, close);
    this.element = h(
      "aside",
      { class: "decision", "aria-label": "The decision" },
      this.grip,
      parts,
    );
    lanes.addEventListener("click", ({ target }) => {
      if (target instanceof Element && target.closest(".t")) this.open();
    });
    /** @type {Place | null} A step that it opens for when it is chosen. */
    this.expected = null;
    playback.on("select", () => this.follow(playback.selected));
    this.grip.addEventListener("pointerdown", (event) => this.swipe(event));
  }

  get isOpen() {
    return PHONE.matches && this.element.hasAttribute("data-open");
  }

  open() {
    if (!PHONE.matches) return;
    this.turn(true);
    this.element.scrollTop = 0;
    requestAnimationFrame(() => this.reach());
  }

  /** A link asks for this step: open as soon as it is chosen, unless another is. @param {Place | null} at */
  expect(at) {
    this.expected = at;
  }

  /** Another step may be chosen. @param {Place | null} selected */
  follow(selected) {
    const { expected } = this;
    if (expected && selected) {
      this.expected = null;
      if (selected.lane === expected.lane && selected.i === expected.i) return this.open();
    }
    if (this.isOpen) requestAnimationFrame(() => this.reach());
  }

  close() {
    this.turn(false);
    this.element.style.translate = "";
  }

  /** Open, it needs room to scroll the words over it. @param {boolean} open */
  turn(open) {
    for (const node of [this.element, this.element.parentElement]) {
      if (node) set(node, { "data-open": open ? "" : null });
    }
  }

  /** Bring the chosen word into the part of the window that the sheet leaves free. */
  reach() {
    const word = this.lanes.querySelector(".t.sel")?.getBoundingClientRect();
    const free = window.innerHeight - this.element.offsetHeight;
    if (!word || (word.top > CLEAR && word.bottom < free - CLEAR)) return;
    window.scrollBy({ top: word.bottom - free * 0.7, behavior: "instant" });
  }

  /** It follows the finger downwards. @param {PointerEvent} event */
  swipe({ clientY: from, pointerId }) {
    const { grip, element } = this;
    grip.setPointerCapture(pointerId);
    const move = (/** @type {PointerEvent} */ { clientY }) => {
      element.style.translate = `0 ${Math.max(0, clientY - from)}px`;
    };
    const end = (/** @type {PointerEvent} */ { clientY, type }) => {
      grip.removeEventListener("pointermove", move);
      element.style.translate = "";
      if (type === "pointerup" && clientY - from > SWIPE) this.close();
    };
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", end, { once: true });
    grip.addEventListener("pointercancel", end, { once: true });
  }
}

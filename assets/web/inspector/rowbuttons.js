// The rows of the bars as buttons: by pointer, and by keyboard with one tab stop for all of them.

import { set } from "../core/dom.js";

const MOVES = ["ArrowUp", "ArrowDown", "Home", "End"];
const PRESSES = ["Enter", " "];

/** @typedef {{ x: number, y: number }} Point in the pixels of the bars */

/** @param {EventTarget | null} target */
function rowOf(target) {
  const node = target instanceof Element ? target : null;
  return node?.closest("[data-id]") ?? null;
}

/** @param {Element | null} row */
const idOf = (row) => Number(row?.getAttribute("data-id") ?? -1);

export class RowButtons {
  /**
   * `onpick(id, at)` is called when a row is pressed, `onpoint(id, at)` when the pointer or the
   * focus comes to one, with id -1 when it leaves. `at` is where the pointer is, null for the
   * keyboard.
   * @param {SVGSVGElement} svg
   * @param {{ onpick: (id: number, at: Point | null) => unknown,
   *   onpoint: (id: number, at: Point | null) => void }} events
   */
  constructor(svg, { onpick, onpoint }) {
    this.svg = svg;
    this.stop = -1; // the id of the row that has the tab stop
    const at = (/** @type {MouseEvent} */ { clientX, clientY }) => {
      const { left, top } = svg.getBoundingClientRect();
      return { x: clientX - left, y: clientY - top };
    };
    svg.addEventListener("click", (event) => onpick(idOf(rowOf(event.target)), at(event)));
    svg.addEventListener("pointermove", (event) => onpoint(idOf(rowOf(event.target)), at(event)));
    svg.addEventListener("pointerleave", () => onpoint(-1, null));
    svg.addEventListener("focusout", () => onpoint(-1, null));
    svg.addEventListener("focusin", ({ target }) => {
      this.stop = idOf(rowOf(target));
      this.mark();
      onpoint(this.stop, null);
    });
    svg.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const row = rowOf(event.target);
      if (PRESSES.includes(event.key)) onpick(idOf(row), null);
      else if (MOVES.includes(event.key)) this.move(event.key, row);
      else return;
      event.preventDefault();
    });
  }

  /** @returns {SVGGElement[]} */
  get rows() {
    return [...this.svg.querySelectorAll("[role=button]")].filter(
      (row) => row instanceof SVGGElement,
    );
  }

  /** @param {string} key @param {Element | null} from */
  move(key, from) {
    const { rows } = this;
    const at = from instanceof SVGGElement ? rows.indexOf(from) : -1;
    const last = rows.length - 1;
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: last }[key] ?? at;
    rows[Math.max(0, Math.min(to, last))]?.focus();
  }

  /** The rows have been drawn anew: one of them is reached by Tab, the same one as before. */
  mark() {
    const { rows } = this;
    const stop = rows.find((row) => idOf(row) === this.stop) ?? rows[0];
    for (const row of rows) set(row, { tabindex: row === stop ? 0 : -1 });
  }
}

// Two columns of bars on one scale, a row a token: one lane before and after XTC, or two lanes side
// by side. Hand-made SVG with a pool of rows, because a step must be redrawn in well under a frame
// while someone scrubs.

import { s, set, setText } from "../core/dom.js";
import { setting, shown, visible } from "../core/format.js";
import { layout, makeColumn, makeRow } from "./barparts.js";
import { cutLine, extent } from "./cutline.js";

/** @import { Point } from "./rowbuttons.js" */
/** @import { BarCell, BarHead, BarRow, BarView, CellParts, ColumnParts, Layout, RowParts } from "./barparts.js" */

const SMALLEST = 1e-4; // the left end of the logarithmic scale
const BELOW = 22; // room for the scale's numbers

/** @param {string} text @param {number} room */
function shorten(text, room) {
  return text.length > room ? `${text.slice(0, Math.max(1, room - 1))}…` : text;
}

export class Bars {
  constructor() {
    /** @type {RowParts[]} */
    this.pool = [];
    this.axisKey = "";
    /** @type {{ x: number, gaps: [number, number][] }[]} The thresholds' lines. */
    this.lines = [];
    this.log = false;
    this.grid = s("g", { class: "grid", "aria-hidden": "true" });
    this.body = s("g");
    this.words = s("g", { class: "all-words", "aria-hidden": "true" });
    this.columns = [makeColumn(), makeColumn()];
    const hatch = s(
      "pattern",
      {
        id: "hatch",
        width: 5,
        height: 5,
        patternUnits: "userSpaceOnUse",
        patternTransform: "rotate(45)",
      },
      s("rect", { class: "hatch-ground", width: 5, height: 5 }),
      s("rect", { class: "hatch-line", width: 2.4, height: 5 }),
    );
    this.svg = s(
      "svg",
      { class: "bars", role: "img", "aria-label": "No step selected" },
      s("defs", {}, hatch),
      this.grid,
      this.body,
      ...this.columns.map((column) => column.group),
      this.words,
    );
    this.element = this.svg;
    /** @type {BarView | null} */
    this.shown = null;
    /** @type {Layout | null} */
    this.place = null;
    this.width = 0;
    new ResizeObserver(([entry]) => {
      this.width = entry.contentRect.width;
      if (this.shown) this.draw(this.shown);
    }).observe(this.svg);
  }

  /** Returns whether the scale is now logarithmic. */
  toggleScale() {
    this.log = !this.log;
    return this.log;
  }

  /** Which lane's column is at a point, undefined where it is no lane's own. @param {Point | null} at */
  sideAt(at) {
    if (!at || !this.place || !this.shown?.beside) return undefined;
    const { lefts, sign, column, over, top, high, bar } = this.place;
    const from = lefts[0] - sign;
    const word = over ? (at.y - top) % high < bar : at.x < from;
    if (word) return undefined;
    return at.x < from + column ? 0 : 1;
  }

  /** @param {number} p */
  scale(p) {
    if (!this.log) return p;
    return p <= SMALLEST ? 0 : 1 - Math.log(p) / Math.log(SMALLEST);
  }

  /** @param {BarView} view */
  draw(view) {
    this.shown = view;
    const width = this.width || this.svg.clientWidth || 720;
    const place = layout(width, Boolean(view.beside));
    this.place = place;
    const height = place.top + view.list.length * place.high + BELOW;
    set(this.svg, {
      height,
      viewBox: `0 0 ${width} ${height}`,
      "data-beside": view.beside ? "" : null,
      role: view.deed ? "group" : "img",
      "aria-label": view.label,
    });
    this.axis(place, height);
    this.lines = view.heads.map(({ tau }, k) => ({
      x: place.lefts[k] + this.scale(tau ?? 0) * place.room,
      gaps: [],
    }));
    while (this.pool.length < view.list.length) this.pool.push(makeRow());
    const key = `${width} ${view.beside}`;
    view.list.forEach((row, i) => {
      const parts = this.pool[i];
      if (parts.place !== key) this.put(parts, i, place);
      parts.place = key;
      this.row(parts, row, place, place.top + i * place.high);
      const deed = view.deed?.(row.id, shown(row.text)) ?? null;
      set(parts.group, { role: deed && "button", "aria-label": deed });
      if (!deed) set(parts.group, { tabindex: null });
    });
    view.heads.forEach((head, k) => {
      this.head(this.columns[k], head, k, place, height);
    });
    this.fit(view.list.length);
  }

  /** As many rows as there are tokens; the ones that stay are not touched. @param {number} count */
  fit(count) {
    for (const box of [this.body, this.words]) {
      while (box.childElementCount > count) box.lastElementChild?.remove();
    }
    for (const { group, words } of this.pool.slice(this.body.childElementCount, count)) {
      this.body.append(group);
      this.words.append(words);
    }
  }

  /** @param {Layout} place @param {number} height */
  axis(place, height) {
    const { lefts, room, top, over } = place;
    const key = `${lefts} ${room} ${top} ${height} ${this.log}`;
    if (this.axisKey === key) return;
    this.axisKey = key;
    const few = room < 150 ? [0, 1] : [0, 0.5, 1];
    const all = this.log ? [0.001, 0.01, 0.1, 1] : [0, 0.25, 0.5, 0.75, 1];
    const ticks = over ? few : all;
    const marks = this.log && room >= 150 ? all : few;
    this.grid.replaceChildren(
      ...lefts.flatMap((from) => [
        ...ticks.map((tick) => {
          const x = from + this.scale(tick) * room;
          return s("line", { x1: x, x2: x, y1: top, y2: height - 18, class: tick ? "" : "zero" });
        }),
        ...marks.map((mark) => {
          const x = from + this.scale(mark) * room;
          const text = mark < 0.01 && mark > 0 ? `${mark * 100}` : `${Math.round(mark * 100)}`;
          return s(
            "text",
            { x, y: height - 4, class: "tick", "text-anchor": "middle" },
            `${text} %`,
          );
        }),
      ]),
    );
  }

  /**
   * @param {ColumnParts} parts
   * @param {BarHead} head
   * @param {number} k
   * @param {Layout} place
   * @param {number} height
   */
  head(parts, { title, tag, tau, own }, k, place, height) {
    const left = place.lefts[k];
    const room = place.column - place.sign - 8;
    set(parts.title, { x: left, class: own ? "head own" : "head" });
    setText(parts.title, shorten(title, Math.floor(room / 7.6)));
    set(parts.tag, { x: left });
    setText(parts.tag, shorten(tag ?? "", Math.floor(room / 6.8)));
    if (tau === undefined) return parts.threshold.remove();
    if (!parts.threshold.parentNode) parts.group.prepend(parts.threshold);
    const { x, gaps } = this.lines[k];
    set(parts.tau, { d: cutLine(x, place.top - 14, height - place.high - 20, gaps) });
    set(parts.tauText, { x: x + 4, y: place.top - 6 });
    setText(parts.tauText, `τ ${setting(tau)}`);
  }

  /**
   * What of a row depends on its place and not on what it shows.
   * @param {RowParts} parts
   * @param {number} i
   * @param {Layout} place
   */
  put(parts, i, place) {
    const transform = `translate(0 ${place.top + i * place.high})`;
    set(parts.group, { transform });
    set(parts.words, { transform });
    set(parts.strip, { visibility: place.over ? null : "hidden" });
    set(parts.hit, { height: place.high });
    // Signs stand before the token, or, where there are two lanes, before the bar of each.
    set(parts.sign, { y: place.base, class: place.sign ? null : "sign" });
    set(parts.label, { x: place.x, y: place.label });
    parts.cells.forEach((cell, k) => {
      set(cell.bar, { x: place.lefts[k], y: place.bar });
      set(cell.line, { x: place.lefts[k], y: place.bar + 5 });
      const name = place.sign ? "sign" : null;
      set(cell.sign, { x: place.lefts[k] - 14, y: place.base, class: name });
      set(cell.text, { y: place.base });
    });
  }

  /** @param {RowParts} parts @param {BarRow} row @param {Layout} place @param {number} y */
  row(parts, row, place, y) {
    const kind = `${row.kind}${row.drawn ? " drawn" : ""}`;
    set(parts.group, { class: `row ${kind}`, "data-id": row.id });
    set(parts.words, { class: `words ${kind}`, "data-id": row.id });
    setText(parts.sign, row.sign ?? "");
    const end = place.x + this.label(parts, row, place.name) + 4;
    if (place.over) set(parts.strip, { width: end });
    row.cells.forEach((cell, k) => {
      const [from, to] = this.cell(parts.cells[k], cell, place.lefts[k], place);
      const { x, gaps } = this.lines[k];
      if (place.over && x < end) gaps.push([y + 1, y + 18]);
      if (x > from && x < to) gaps.push([y + place.base - 13, y + place.base + 5]);
    });
  }

  /**
   * Returns from where to where its words reach.
   * @param {CellParts} parts
   * @param {BarCell} cell
   * @param {number} left
   * @param {Layout} place
   */
  cell(parts, cell, left, { room, narrow, over }) {
    const length = (/** @type {number} */ p) => (p > 0 ? Math.max(1, this.scale(p) * room) : 0);
    const bar = length(cell.bar);
    const line = length(cell.line ?? 0);
    set(parts.bar, { width: bar, class: `bar ${cell.kind}` });
    set(parts.line, { width: line });
    setText(parts.sign, cell.sign ?? "");
    const x = left + Math.max(bar, line) + 6;
    const gone = cell.gone ?? "";
    const value = narrow ? (cell.short ?? cell.value) : cell.value;
    const restore = cell.restore && !over ? "restore" : "";
    set(parts.text, { x, class: `value ${cell.kind}` });
    setText(parts.gone, gone);
    setText(parts.value, value);
    setText(parts.restore, restore);
    return [x - 4, x + extent(gone + value + restore) + 4];
  }

  /** Returns about how wide it is. @param {RowParts} parts @param {BarRow} row @param {number} width */
  label(parts, row, width) {
    const room = Math.floor((width - 24) / 6.8);
    const key = `${row.text} ${room}`;
    if (parts.said === key) return parts.wide;
    parts.said = key;
    const rest = room < 16 ? "the rest" : row.text;
    /** @type {[string, boolean][]} */
    const pieces = row.id < 0 ? [[rest, false]] : visible(row.text);
    let used = 0;
    const spans = [];
    for (const [text, sign] of pieces) {
      if (used >= room) break;
      const cut = used + text.length > room ? `${text.slice(0, room - used - 1)}…` : text;
      used += cut.length;
      spans.push(s("tspan", { class: sign ? "ws" : "" }, cut));
    }
    parts.label.replaceChildren(...spans);
    parts.wide = extent(spans.map((span) => span.textContent).join(""));
    return parts.wide;
  }
}

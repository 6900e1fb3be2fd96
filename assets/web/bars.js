// The distribution of one step: p before and q after as bars on one scale. Hand-made SVG with a
// pool of rows, because a step must be redrawn in well under a frame while someone scrubs.

import { percent, s, set, setText, setting, visible } from "./dom.js";

const ROW = 24;
const TOP = 34;
const SMALLEST = 1e-4; // the left end of the logarithmic scale

/** What there is to draw: one row a token, in falling order of p, then everything else. */
export function rows(step, texts, limit) {
  const removed = new Set(step.removed);
  const kept = new Set(step.kept);
  const fired = step.outcome === "fired";
  const after = (p) => (p > 0 ? Math.min(1, p ** step.power / Math.exp(step.log_z)) : 0);
  const shown = Math.max(limit, step.eligible);
  const list = [];
  let rest = step.rest;
  let restAfter = 1;
  step.ids.forEach((id, i) => {
    const p = step.probs[i];
    const gone = fired && removed.has(id);
    let q = gone ? 0 : after(p);
    if (step.greedy) q = id === step.token ? 1 : 0;
    const marked = id === step.token || id === step.instead;
    if (i >= shown && !marked) {
      rest += p;
      return;
    }
    restAfter -= q;
    let kind = "tail";
    if (gone) kind = "removed";
    else if (i < step.eligible) kind = fired && kept.has(id) ? "kept" : "eligible";
    list.push({
      id,
      text: texts[id] ?? "?",
      p,
      q,
      kind,
      drawn: id === step.token,
      instead: id === step.instead && id !== step.token,
    });
  });
  const last = {
    id: -1,
    text: "everything else",
    p: rest,
    q: Math.max(0, restAfter),
    kind: "rest",
  };
  return [...list, last];
}

function makeRow(index) {
  const y = TOP + index * ROW;
  const row = {
    sign: s("text", { class: "sign", x: 4, y: y + 16 }),
    label: s("text", { class: "label", y: y + 16 }),
    p: s("rect", { y: y + 5, height: 14, rx: 1.5 }),
    q: s("rect", { y: y + 5, height: 14, rx: 1.5 }),
    pText: s("text", { class: "value", y: y + 16 }),
    qText: s("text", { class: "value", y: y + 16 }),
    hit: s("rect", { class: "hit", x: 0, y, height: ROW, width: "100%" }),
  };
  row.group = s(
    "g",
    { class: "row" },
    row.hit,
    row.sign,
    row.label,
    row.p,
    row.q,
    row.pText,
    row.qText,
  );
  return row;
}

export class Bars {
  constructor() {
    this.pool = [];
    this.log = false;
    this.grid = s("g", { class: "grid" });
    this.body = s("g");
    this.tau = s("line", { class: "tau" });
    this.tauText = s("text", { class: "tau-text", y: 13 });
    this.before = s("text", { class: "head", y: 13 });
    this.after = s("text", { class: "head", y: 13 });
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
      this.tau,
      this.tauText,
      this.before,
      this.after,
    );
    setText(this.before, "before XTC");
    setText(this.after, "after XTC");
    this.element = this.svg;
    this.shown = null;
    this.width = 0;
    new ResizeObserver(([entry]) => {
      this.width = entry.contentRect.width;
      if (this.shown) this.draw(...this.shown);
    }).observe(this.svg);
  }

  scale(p) {
    if (!this.log) return p;
    return p <= SMALLEST ? 0 : 1 - Math.log(p) / Math.log(SMALLEST);
  }

  draw(step, texts, limit) {
    this.shown = [step, texts, limit];
    const width = this.width || this.svg.clientWidth || 720;
    const labels = Math.max(104, Math.min(190, width * 0.24));
    const gap = width < 500 ? 46 : 62;
    const room = (width - labels - 2 * gap) / 2;
    const left = labels;
    const right = labels + room + gap;
    const list = rows(step, texts, limit);
    const height = TOP + list.length * ROW + 22;
    set(this.svg, { height, viewBox: `0 0 ${width} ${height}` });
    this.axis(left, right, room, height);
    const x = left + this.scale(step.tau) * room;
    set(this.tau, { x1: x, x2: x, y1: TOP - 14, y2: height - ROW - 20 });
    set(this.tauText, { x: x + 4, y: TOP - 6 });
    setText(this.tauText, `τ ${setting(step.tau)}`);
    while (this.pool.length < list.length) this.pool.push(makeRow(this.pool.length));
    const groups = list.map((row, i) => this.row(this.pool[i], row, left, right, room));
    if (this.body.childNodes.length !== groups.length) this.body.replaceChildren(...groups);
    set(this.svg, { "aria-label": describe(step, list) });
    return list;
  }

  axis(left, right, room, height) {
    set(this.before, { x: left });
    set(this.after, { x: right });
    const key = `${left} ${room} ${height} ${this.log}`;
    if (this.axisKey === key) return;
    this.axisKey = key;
    const ticks = this.log ? [0.001, 0.01, 0.1, 1] : [0, 0.25, 0.5, 0.75, 1];
    const few = room < 150 ? [0, 1] : [0, 0.5, 1];
    const marks = this.log && room >= 150 ? ticks : few;
    this.grid.replaceChildren(
      ...[left, right].flatMap((from) => [
        ...ticks.map((tick) => {
          const x = from + this.scale(tick) * room;
          return s("line", { x1: x, x2: x, y1: TOP, y2: height - 18, class: tick ? "" : "zero" });
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

  row(parts, row, left, right, room) {
    const { kind } = row;
    set(parts.group, { class: `row ${kind}${row.drawn ? " drawn" : ""}`, "data-id": row.id });
    setText(parts.sign, row.drawn ? "▲" : row.instead ? "△" : "");
    this.label(parts.label, row, left);
    const p = this.scale(row.p) * room;
    const q = this.scale(row.q) * room;
    set(parts.p, { x: left, width: Math.max(p, row.p > 0 ? 1 : 0), class: `bar ${kind}` });
    set(parts.q, { x: right, width: Math.max(q, row.q > 0 ? 1 : 0), class: `bar ${kind}` });
    set(parts.pText, { x: left + p + 6 });
    set(parts.qText, { x: right + q + 6 });
    setText(parts.pText, percent(row.p));
    setText(parts.qText, kind === "removed" ? "removed" : percent(row.q));
    return parts.group;
  }

  label(node, row, left) {
    set(node, { x: 24 });
    const key = `${row.text} ${left}`;
    if (node.key === key) return;
    node.key = key;
    const room = Math.floor((left - 34) / 6.8);
    const rest = room < 16 ? "the rest" : row.text;
    const parts = row.id < 0 ? [[rest, false]] : visible(row.text);
    let used = 0;
    const spans = [];
    for (const [text, sign] of parts) {
      if (used >= room) break;
      const cut = used + text.length > room ? `${text.slice(0, room - used - 1)}…` : text;
      used += cut.length;
      spans.push(s("tspan", { class: sign ? "ws" : "" }, cut));
    }
    node.replaceChildren(...spans);
  }
}

function describe(step, list) {
  const best = list
    .slice(0, 5)
    .map((row) => `${row.text.trim() || "white space"} ${percent(row.p)}, ${row.kind}`)
    .join("; ");
  return `Probabilities before and after XTC, threshold ${setting(step.tau)}. ${best}.`;
}

// A drawing as a picture of its own: with its caption and its legend, as SVG and as pixels.

import { h, s } from "../core/dom.js";

/** @import { Paper } from "./paper.js" */
/**
 * A drawing with `head` lines over it, `key` pairs of a swatch and its meaning, `foot` a line under.
 * `notes` are words of the drawing that the interactive file has in its caption.
 * @typedef {{ node: SVGElement, height: number, head: string[], key: [string, string][],
 *   foot: string, notes?: string[] }} Drawing
 * @typedef {{ text: string, width: number, height: number }} Picture
 */

/** @type {Record<string, string>} What a figure takes from style sheets, and what it is without. */
const STYLES = {
  fill: "rgb(0, 0, 0)",
  stroke: "none",
  "stroke-width": "1px",
  "stroke-dasharray": "none",
  "stroke-opacity": "1",
  "stroke-linejoin": "miter",
  "fill-opacity": "1",
  "font-size": "13px",
  "font-weight": "400",
  "text-decoration": "none",
  "text-anchor": "start",
  "paint-order": "normal",
};
const SIGNS = ["fired", "from-tail", "imagined", "skipped", "protected"];
export const MARGIN = 16;
const LINE = 20;
const SWATCH = 20; // the width of a swatch and the gap behind it
const GAP = 18; // between two entries of the legend
const DENSITY = 300 / 96; // pixels of a PNG for one of the drawing: 300 to the inch
const LONGEST_SIDE = 16_000; // of a PNG, and the most that all its pixels may be
const MOST_PIXELS = 100_000_000;

/**
 * Words in lines of at most `room` pixels.
 * @param {string} text
 * @param {number} room
 * @param {(text: string) => number} wide
 */
export function wrapped(text, room, wide) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    const longer = `${last} ${word}`.trim();
    if (last && wide(longer) > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** The hatching of what XTC removed. @param {(name: string) => string} ink */
export function hatch(ink) {
  const size = { width: 5, height: 5 };
  const props = { id: "hatch", ...size, patternUnits: "userSpaceOnUse" };
  return s(
    "pattern",
    { ...props, patternTransform: "rotate(45)" },
    s("rect", { ...size, fill: ink("removed-wash") }),
    s("rect", { width: 2.4, height: 5, fill: ink("removed") }),
  );
}

/**
 * A sign over a word: ✕ where XTC fired, ~ where the word then came from below τ, a ring where it
 * would fire in a what-if; ○ where the coin said no, a shield where a token was protected.
 * @param {string} kind
 * @param {number} x
 * @param {number} y
 * @param {(name: string) => string} ink
 */
export function wordSign(kind, x, y, ink) {
  const stroke = { fill: "none", stroke: ink("removed"), "stroke-width": 1.6 };
  if (kind === "fired") return s("path", { d: `M${x - 3} ${y - 3}l6 6m0 -6l-6 6`, ...stroke });
  if (kind === "from-tail") {
    return s("path", { d: `M${x - 6} ${y + 1}q3 -5 6 -1t6 -1`, ...stroke });
  }
  if (kind === "imagined") return s("circle", { cx: x, cy: y, r: 2.8, ...stroke });
  if (kind === "skipped") {
    const line = { stroke: ink("skipped"), "stroke-width": 1.4 };
    return s("circle", { cx: x, cy: y, r: 2.7, fill: "none", ...line });
  }
  return s("path", { d: `M${x - 4} ${y - 3}h8l-4 7z`, fill: ink("protected") });
}

/** @param {string} kind @param {number} x @param {number} y @param {(name: string) => string} ink */
function swatch(kind, x, y, ink) {
  const box = { x, y: y - 10, width: 14, height: 10 };
  if (kind === "removed") return [s("rect", { ...box, fill: "url(#hatch)", stroke: ink(kind) })];
  if (kind === "of-two") {
    const line = { ...box, y: y - 7, height: 4, fill: ink("ink") };
    return [s("rect", { ...box, fill: ink("tail") }), s("rect", line)];
  }
  if (SIGNS.includes(kind)) return [wordSign(kind, x + 7, y - 4, ink)];
  if (kind === "changed") {
    const d = `M${x} ${y - 1}h14`;
    const dots = { "stroke-width": 2.4, "stroke-dasharray": "2.4 2.4" };
    return [s("path", { d, fill: "none", stroke: ink("changed"), ...dots })];
  }
  if (kind === "diamond") return [diamond(x + 7, y - 4, ink)];
  const ring = { stroke: ink(kind), "stroke-width": 4, "stroke-opacity": 0.35 };
  const more = kind === "kept" ? { ...ring, "paint-order": "stroke" } : {};
  return [s("rect", { ...box, ...more, fill: ink(kind) })];
}

/** A word that XTC changed, on a time line. */
export function diamond(
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {(name: string) => string} */ ink,
  size = 4,
) {
  const d = `M${x} ${y - size}l${size} ${size}l${-size} ${size}l${-size} ${-size}z`;
  return s("path", { d, fill: ink("changed") });
}

/**
 * A drawing with all that its style sheet says of it, and without what can only be clicked.
 * @param {SVGSVGElement} svg
 */
export function styled(svg) {
  // The figure has a hatching of its own.
  for (const link of svg.querySelectorAll(".restore, .hit, defs")) link.remove();
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const from = svg.querySelectorAll("*");
  for (const [i, node] of copy.querySelectorAll("*").entries()) {
    const { parentNode } = from[i];
    const inner = parentNode instanceof Element && parentNode !== svg;
    const outer = inner ? getComputedStyle(parentNode) : null;
    const style = getComputedStyle(from[i]);
    const own = Object.entries(STYLES).filter(([name, plain]) => {
      const handed = name !== "text-decoration" && outer?.getPropertyValue(name);
      return style.getPropertyValue(name) !== (handed || plain);
    });
    const words = own.map(([name]) => `${name}:${style.getPropertyValue(name)}`);
    if (words.length) node.setAttribute("style", words.join(";"));
    node.removeAttribute("class");
    node.removeAttribute("data-id");
  }
  copy.setAttribute("style", "overflow:visible");
  return copy;
}

/**
 * A whole figure as text, as wide as its paper and the margins.
 * @param {Drawing} drawing
 * @param {Paper} paper
 * @returns {Picture}
 */
export function figure({ node, height: tall, head, key, foot }, paper) {
  const ink = (/** @type {string} */ name) => paper.ink(name);
  const room = paper.width;
  const width = room + 2 * MARGIN;
  /** @type {SVGElement[]} */
  const parts = [];
  let y = MARGIN;
  const write = (/** @type {string} */ words, /** @type {Props} */ props, bold = false) => {
    // Other fonts may be a little wider than the one that is measured here.
    const wide = (/** @type {string} */ text) => 1.05 * paper.wide(text, 13, bold ? 700 : 400);
    for (const line of wrapped(words, room, wide)) {
      y += LINE;
      parts.push(s("text", { x: MARGIN, y: y - 6, ...props }, line));
    }
  };
  head.forEach((line, i) => {
    write(line, i ? { fill: ink("ink-2") } : { fill: ink("ink"), "font-weight": 700 }, !i);
  });
  const top = y + 8;
  y = top + tall + (key.length ? LINE + 4 : 0);
  let x = MARGIN;
  for (const [kind, words] of key) {
    const wide = (kind ? SWATCH : 0) + 1.05 * paper.wide(words);
    if (x > MARGIN && x + wide > width - MARGIN) {
      x = MARGIN;
      y += LINE;
    }
    if (kind) parts.push(...swatch(kind, x, y, ink));
    parts.push(s("text", { x: kind ? x + SWATCH : x, y, fill: ink("ink-2") }, words));
    x += wide + GAP;
  }
  y += 6;
  write(foot, { fill: ink("ink-2") });
  const height = Math.round(y + MARGIN - 4);
  const whole = s(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    s("title", {}, head[0]),
    s("defs", {}, hatch(ink)),
    s("rect", { width: "100%", height: "100%", fill: ink("paper") }),
    s(
      "g",
      { "font-family": paper.font, "font-size": 13, transform: `translate(${MARGIN} ${top})` },
      node,
    ),
    s("g", { "font-family": paper.font, "font-size": 13 }, ...parts),
  );
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

/** How many pixels of a PNG one of the drawing becomes. @param {Omit<Picture, "text">} size */
export function density({ width, height }) {
  const side = LONGEST_SIDE / Math.max(width, height);
  return Math.min(DENSITY, side, Math.sqrt(MOST_PIXELS / (width * height)));
}

/**
 * The same as pixels.
 * @param {Picture} picture
 * @returns {Promise<Blob>}
 */
export async function pixels({ text, width, height }) {
  const scale = density({ width, height });
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h("canvas", {
    width: Math.round(width * scale),
    height: Math.round(height * scale),
  });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    const problem = new Error("This browser could not make a picture of that size.");
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(problem)), "image/png");
  });
}

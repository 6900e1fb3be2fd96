// The bars as a picture of their own: their styles, a caption and the legend go with them.

import { h, s, set } from "../core/dom.js";

/** @typedef {{ svg: SVGSVGElement, head: string[], key: [string, string][], foot: string }} Figure */

const STYLES = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity"],
  ...["font-size", "font-weight", "font-family", "text-decoration", "text-anchor", "paint-order"],
];
const MARGIN = 16;
const LINE = 20;
const SWATCH = 20; // the width of a swatch and the gap behind it
const GAP = 18; // between two entries of the legend

/**
 * Words in lines of at most `room` pixels.
 * @param {string} text
 * @param {number} room
 * @param {(text: string) => number} wide
 */
function wrapped(text, room, wide) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    const longer = `${last} ${word}`.trim();
    if (last && wide(longer) > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/** @param {string} kind @param {number} x @param {number} y @param {(name: string) => string} ink */
function swatch(kind, x, y, ink) {
  const box = { x, y: y - 10, width: 14, height: 10 };
  if (kind === "removed") return [s("rect", { ...box, fill: "url(#hatch)", stroke: ink(kind) })];
  if (kind === "of-two") {
    const line = { ...box, y: y - 7, height: 4, fill: ink("ink") };
    return [s("rect", { ...box, fill: ink("tail") }), s("rect", line)];
  }
  const ring = { stroke: ink(kind), "stroke-width": 4, "stroke-opacity": 0.35 };
  const more = kind === "kept" ? { ...ring, "paint-order": "stroke" } : {};
  return [s("rect", { ...box, ...more, fill: ink(kind) })];
}

/** The bars with all styles that the page gives them. @param {SVGSVGElement} svg */
function styled(svg) {
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const from = svg.querySelectorAll("*");
  for (const [i, node] of copy.querySelectorAll("*").entries()) {
    const style = getComputedStyle(from[i]);
    node.setAttribute("style", STYLES.map((n) => `${n}:${style.getPropertyValue(n)}`).join(";"));
  }
  // What can only be clicked says nothing in a picture.
  for (const link of copy.querySelectorAll(".restore")) link.remove();
  return copy;
}

/**
 * A figure as text: `svg` are the bars, `head` lines over them, `key` pairs of a swatch and its
 * meaning, `foot` a line under them.
 * @param {Figure} parts
 */
export function figure({ svg, head, key, foot }) {
  const style = getComputedStyle(svg);
  const ink = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  const pen = h("canvas").getContext("2d");
  const wide = (/** @type {string} */ text) => {
    if (!pen) return 0;
    pen.font = `13px ${style.fontFamily}`;
    return pen.measureText(text).width;
  };
  const box = svg.getBoundingClientRect();
  const width = box.width + 2 * MARGIN;
  /** @type {SVGElement[]} */
  const parts = [];
  let y = MARGIN;
  const write = (/** @type {string} */ words, /** @type {Props} */ props) => {
    for (const line of wrapped(words, box.width, (text) => 1.1 * wide(text))) {
      y += LINE;
      parts.push(s("text", { x: MARGIN, y: y - 6, ...props }, line));
    }
  };
  head.forEach((line, i) => {
    write(line, i ? { fill: ink("ink-2") } : { fill: ink("ink"), "font-weight": 700 });
  });
  const copy = styled(svg);
  set(copy, { x: MARGIN, y: y + 8, width: box.width, height: box.height });
  copy.setAttribute("style", "overflow:visible");
  y += 8 + box.height + LINE + 4;
  let x = MARGIN;
  for (const [kind, words] of key) {
    const room = (kind ? SWATCH : 0) + wide(words);
    if (x > MARGIN && x + room > width - MARGIN) {
      x = MARGIN;
      y += LINE;
    }
    if (kind) parts.push(...swatch(kind, x, y, ink));
    parts.push(s("text", { x: kind ? x + SWATCH : x, y, fill: ink("ink-2") }, words));
    x += room + GAP;
  }
  y += 6;
  write(foot, { fill: ink("ink-2") });
  const height = y + MARGIN - 4;
  const whole = s(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    s("rect", { width: "100%", height: "100%", fill: ink("paper") }),
    copy,
    s("g", { "font-family": style.fontFamily, "font-size": 13 }, ...parts),
  );
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

/**
 * The same as pixels, `scale` to each of the page's.
 * @param {Figure} parts
 * @returns {Promise<Blob>}
 */
export async function picture(parts, scale = 2) {
  const { text, width, height } = figure(parts);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h("canvas", {
    width: Math.round(width * scale),
    height: Math.round(height * scale),
  });
  const pen = canvas.getContext("2d");
  pen?.scale(scale, scale);
  pen?.drawImage(image, 0, 0);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("No picture."))), "image/png");
  });
}

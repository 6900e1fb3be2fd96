// Building blocks of the page. Text goes into the document as text nodes only, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** An element: `h("p", { class: "x", onclick: f }, "text", child, …)`. */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Set attributes, touching the document only where something changes. */
export function set(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === false) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const SIGNS = { " ": "·", "\u00a0": "·", "\n": "↵", "\t": "⇥", "\r": "↵" };

/** A token's text in visible parts: [text, whether it is a sign for white space]. */
export function visible(text) {
  const parts = [];
  for (const piece of text.split(/([ \u00a0\n\t\r]+)/)) {
    if (!piece) continue;
    if (SIGNS[piece[0]]) parts.push([[...piece].map((c) => SIGNS[c]).join(""), true]);
    else parts.push([piece, false]);
  }
  if (!parts.length) parts.push(["∅", true]);
  // White space between words needs no sign; it shows by itself.
  return parts.map((part, i) =>
    part[1] && i && i < parts.length - 1 && /^·$/.test(part[0]) ? [" ", false] : part,
  );
}

/** A token as a small element of its own, white space and all. */
export function token(text) {
  return h(
    "span",
    { class: "tk" },
    visible(text).map(([part, sign]) => (sign ? h("i", {}, part) : part)),
  );
}

/** A sentence from the server: strings are text, numbers are tokens. */
export function sentence(parts, texts) {
  return parts.map((part) => (typeof part === "number" ? token(texts[part] ?? "?") : part));
}

/** A probability in two digits; `least` is the smallest percentage that is written out. */
export function percent(p, least = 0.01) {
  const value = 100 * p;
  if (value >= 9.95 || value === 0) return `${value.toFixed(0)} %`;
  if (value >= 0.95 * least) return `${Number(value.toPrecision(2))} %`;
  return `< ${least} %`;
}

export function decimal(value, digits = 2) {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

/** A setting as people write it: .5 → "0.50", 160 → "160", 0.0003 → "0.0003"; no number is "?". */
export function setting(value) {
  if (typeof value !== "number") return "?";
  if (Number.isInteger(value)) return String(value);
  return value < 0.01 ? String(value) : value.toFixed(3).replace(/0$/, "");
}

/** A draw beside the threshold it was compared with: digits enough to tell them apart. */
export function drawn(value, threshold) {
  const digits = value.toFixed(2) === threshold.toFixed(2) ? 4 : 2;
  return value.toFixed(digits);
}

export function count(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

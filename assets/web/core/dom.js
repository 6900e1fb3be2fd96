// Building blocks of the page. Text goes into the document as text nodes only, never as markup.

import { visible } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {Element} E
 * @param {E} node
 * @param {Props} props
 * @param {Child[]} children
 * @returns {E}
 */
function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") {
      node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

/**
 * An element: `h("p", { class: "x", onclick: f }, "text", child, …)`.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} props
 * @param {Child[]} children
 */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/**
 * The same for SVG.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Props} props
 * @param {Child[]} children
 */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/**
 * A button that submits nothing.
 * @param {Child} words
 * @param {() => unknown} onclick
 * @param {Props} props
 */
export function button(words, onclick, props = {}) {
  return h("button", { type: "button", ...props, onclick }, words);
}

/**
 * Set attributes, touching the document only where something changes.
 * @param {Element} node
 * @param {Record<string, string | number | boolean | null | undefined>} props
 */
export function set(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
  }
}

/** @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * A token as a small element of its own, white space and all.
 * @param {string} text
 */
export function token(text) {
  return h(
    "span",
    { class: "tk" },
    visible(text).map(([part, sign]) => (sign ? h("i", {}, part) : part)),
  );
}

/**
 * A sentence from the server: strings are text, numbers are tokens.
 * @param {Sentence} parts
 * @param {Texts} texts
 */
export function sentence(parts, texts) {
  return parts.map((part) => (typeof part === "number" ? token(texts[part] ?? "?") : part));
}

// Small fields: a switch, a list of texts, a choice.

import { h } from "./dom.js";

/**
 * A switch and, under its name, what it does.
 * @param {string} label
 * @param {string} help
 * @param {() => boolean} read
 * @param {(value: boolean) => void} write
 */
export function toggle(label, help, read, write) {
  const box = h("input", { type: "checkbox", onchange: () => write(box.checked) });
  return {
    element: h("label", { class: "toggle" }, box, h("span", {}, label, h("small", {}, help))),
    fill: () => {
      box.checked = read();
    },
  };
}

/**
 * A list of texts, one a line; an empty line is none.
 * @param {string} label
 * @param {string} help
 * @param {() => string[]} read
 * @param {(value: string[]) => void} write
 */
export function lines(label, help, read, write) {
  const area = h("textarea", { rows: "2", spellcheck: "false", placeholder: "one a line" });
  area.addEventListener("input", () => write(area.value.split("\n").filter((line) => line !== "")));
  return {
    element: h(
      "div",
      { class: "lines" },
      h("label", {}, h("span", {}, label), area),
      h("small", {}, help),
    ),
    fill: () => {
      area.value = read().join("\n");
    },
  };
}

/**
 * A labelled choice among [value, label] pairs.
 * @param {string} label
 * @param {Option[]} options
 * @param {(value: string) => void} onchange
 */
export function choice(label, options, onchange) {
  const select = h(
    "select",
    { "aria-label": label, onchange: () => onchange(select.value) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  return { select, element: h("label", { class: "choice" }, h("span", {}, label), select) };
}

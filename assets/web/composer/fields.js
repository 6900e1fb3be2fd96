// Small fields of the composer: a switch, and a list of texts.

import { h } from "../core/dom.js";

/** A switch and, under its name, what it does. */
export function toggle(label, help, read, write) {
  const box = h("input", { type: "checkbox", onchange: () => write(box.checked) });
  return {
    element: h("label", { class: "toggle" }, box, h("span", {}, label, h("small", {}, help))),
    fill: () => {
      box.checked = read();
    },
  };
}

/** A list of texts, one a line; an empty line is none. */
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

// Beginnings to try, by genre.

import { h } from "../core/dom.js";

/**
 * A menu of examples; `onpick(text)` is called with the one that was chosen.
 * @param {Spec["examples"]} examples
 * @param {(text: string) => void} onpick
 */
export function exampleMenu(examples, onpick) {
  const genres = Map.groupBy(examples, (example) => example.genre);
  const menu = h(
    "select",
    { "aria-label": "Examples", class: "examples" },
    h("option", { value: "" }, "Examples"),
    [...genres].map(([genre, list]) =>
      h(
        "optgroup",
        { label: genre },
        list.map(({ text }) => h("option", { value: text }, text)),
      ),
    ),
  );
  menu.addEventListener("change", () => {
    const text = menu.value;
    menu.value = "";
    onpick(text);
  });
  return menu;
}

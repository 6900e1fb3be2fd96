// What `?` opens: the parts of the lesson, the engines, and the keys.

import { button, h } from "../core/dom.js";
import { KEYS } from "../page/keys.js";

/**
 * `entries` are [name, what it is, what opens it]; the dialog closes when one is chosen.
 * @param {[string, string, () => unknown][]} entries
 */
export function helpDialog(entries) {
  const ways = entries.map(([name, words, open]) => {
    const onclick = () => {
      dialog.close();
      open();
    };
    return h("li", {}, button([name, h("small", {}, words)], onclick, { class: "quiet" }));
  });
  const keys = KEYS.map(([names, what]) =>
    h(
      "div",
      {},
      h(
        "dt",
        {},
        names.map((key) => h("kbd", {}, key)),
      ),
      h("dd", {}, what),
    ),
  );
  const dialog = h(
    "dialog",
    { class: "help", "aria-label": "Help" },
    h("h2", {}, "Learn"),
    h("ul", { class: "ways" }, ways),
    h("h2", {}, "Keys"),
    h("dl", {}, keys),
    h("form", { method: "dialog" }, h("button", { class: "quiet" }, "Close")),
  );
  return dialog;
}

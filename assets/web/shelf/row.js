// One run of the shelf as a line of its list.

import { button, h } from "../core/dom.js";
import { count } from "../core/format.js";
import { passage, titleOf } from "./entry.js";

/** @import { Entry } from "./entry.js" */
/**
 * @typedef {{
 *   open: (entry: Entry) => void,
 *   pin: (entry: Entry) => void,
 *   rename: (entry: Entry, name: string) => void,
 *   choose: (entry: Entry) => void,
 *   remove: (entry: Entry) => void,
 * }} RowActions
 */

/** @param {number} time @param {boolean} day whether its day is said too */
function clock(time, day) {
  const date = new Date(time);
  const hour = date.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hour12: false });
  return day
    ? `${date.toLocaleDateString("en", { day: "numeric", month: "short" })}, ${hour}`
    : hour;
}

/**
 * `chosen` says whether it is to stand beside another one, `query` what was searched for.
 * @param {Entry} entry
 * @param {{ chosen: boolean, query: string }} look
 * @param {RowActions} actions
 */
export function row(entry, { chosen, query }, actions) {
  const title = titleOf(entry);
  const act = (/** @type {string} */ words, /** @type {() => void} */ does, pressed = "") =>
    button(words, does, {
      class: "quiet",
      "data-act": words,
      "aria-label": `${words}: ${title}`,
      "aria-pressed": pressed || null,
    });
  const name = h(
    "button",
    { type: "button", class: "title", "data-act": "open", onclick: () => actions.open(entry) },
    title,
  );
  const line = h(
    "div",
    { class: "line" },
    name,
    h("time", { datetime: new Date(entry.time).toISOString() }, clock(entry.time, entry.pinned)),
  );
  const last = entry.lanes.length - 1;
  const lanes = entry.lanes.map(
    ({ name, tokens }, k) => `${name} ${k < last ? tokens : count(tokens, "token")}`,
  );
  const cut = entry.cut ? ["unfinished: its text alone"] : [];
  const rename = () => line.replaceChild(nameField(entry, name, actions), name);
  return h(
    "li",
    { "data-id": entry.id, class: entry.pinned ? "pinned" : null },
    line,
    h("p", { class: "passage" }, passage(entry, query)),
    h("p", { class: "facts" }, [...cut, entry.model, `seed ${entry.seed}`, ...lanes].join(" · ")),
    h(
      "div",
      { class: "row-tools" },
      act("Pin", () => actions.pin(entry), String(entry.pinned)),
      act("Rename", () => {
        rename();
        line.querySelector("input")?.select();
      }),
      act("Side by side", () => actions.choose(entry), String(chosen)),
      act("Delete", () => actions.remove(entry)),
    ),
  );
}

/** @param {Entry} entry @param {HTMLElement} name what it stands in for @param {RowActions} actions */
function nameField(entry, name, actions) {
  const field = h("input", {
    "aria-label": "Name of this run",
    placeholder: titleOf({ ...entry, name: "" }),
    value: entry.name,
    maxlength: "120",
  });
  let open = true;
  const close = (/** @type {boolean} */ take) => {
    if (!open) return;
    open = false;
    field.replaceWith(name);
    const value = field.value.trim();
    if (take && value !== entry.name) actions.rename(entry, value);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close(event.key === "Enter");
    name.focus();
  });
  field.addEventListener("blur", () => close(true));
  return field;
}

/** A run that was just taken off. @param {Entry} entry @param {() => void} undo */
export function goneRow(entry, undo) {
  return h(
    "li",
    { "data-id": entry.id, class: "gone" },
    h("span", {}, `Deleted: ${titleOf(entry)}`),
    button("Undo", undo, { class: "quiet", "data-act": "Delete" }),
  );
}

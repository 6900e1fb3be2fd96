// The shelf as a panel at the side: search, the runs under their days, two of them side by side.

import { button, h, set, setText } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { count } from "../core/format.js";
import { BOUNDS, heading, matching, ordered, titleOf } from "./entry.js";
import { goneRow, row } from "./row.js";

/** @import { Entry } from "./entry.js" */
/** @import { Shelf } from "./shelf.js" */
/** @import { RowActions } from "./row.js" */

const BLOCKED =
  "This browser keeps nothing for this page (a private window, or its storage is blocked): " +
  "the runs are here until the page is closed.";

/** @param {Entry[]} entries @param {boolean} lasting */
export function aboutWords(entries, lasting) {
  if (!lasting) return BLOCKED;
  if (!entries.length) {
    return "Every run that has ended comes here by itself, and stays in this browser only.";
  }
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  const mega = (/** @type {number} */ n) =>
    (n / 1e6).toLocaleString("en", { maximumFractionDigits: 1 });
  return (
    `${count(entries.length, "run")}, ${mega(bytes)} of ${mega(BOUNDS.bytes)} MB, in this browser ` +
    `only: prompts, settings, texts and steps. The oldest go when there are more than ` +
    `${BOUNDS.runs}; pinned ones stay. Beside them are kept what you have typed and where you were. ` +
    "A link holds a prompt only when you copy one."
  );
}

export class ShelfPanel {
  /** @type {Entry[]} */
  #entries = [];
  /** @type {Map<string, { entry: Entry, restore: () => Promise<void> }>} Taken off since it opened. */
  #gone = new Map();
  /** @type {Entry | null} */
  #chosen = null;

  /**
   * `onopen(entry)` shows a run on the page, `oncompare(a, b)` two of them.
   * `onclear()` forgets what is kept beside the runs.
   * @param {Shelf} shelf
   * @param {{ onopen: (entry: Entry) => Promise<void>,
   *   oncompare: (a: Entry, b: Entry) => Promise<void>, onclear: () => void }} events
   */
  constructor(shelf, { onopen, oncompare, onclear }) {
    this.shelf = shelf;
    this.onopen = onopen;
    this.oncompare = oncompare;
    this.onclear = onclear;
    /** @type {(() => Promise<void>) | null} Puts back what was cleared. */
    this.restore = null;
    this.button = button("Shelf", () => this.open(), {
      class: "quiet",
      "aria-label": "Shelf: the runs of before",
    });
    this.query = h("input", {
      type: "search",
      "aria-label": "Search the shelf",
      placeholder: "Search prompts, names, texts",
      oninput: () => this.draw(),
    });
    this.about = h("p", { class: "about" });
    this.clear = button("Clear all", () => this.#try(this.clearAll()), { class: "quiet" });
    this.status = h("p", { class: "status", role: "status" });
    this.error = h("p", { class: "wrong", role: "alert" });
    this.list = h("div", { class: "entries" });
    /** @type {HTMLDialogElement} */
    this.dialog = h(
      "dialog",
      { class: "shelf", "aria-label": "Shelf" },
      h(
        "header",
        {},
        h("h2", {}, "Shelf"),
        button("✕", () => this.dialog.close(), { class: "quiet", "aria-label": "Close the shelf" }),
      ),
      this.query,
      this.status,
      this.error,
      this.list,
      this.about,
      h("p", { class: "clear" }, this.clear),
    );
    // A click beside the panel closes it.
    this.dialog.addEventListener("click", ({ target }) => {
      if (target === this.dialog) this.dialog.close();
    });
    this.dialog.addEventListener("close", () => this.#forget());
    shelf.on("change", () => this.dialog.open && this.refresh());
  }

  async open() {
    if (this.dialog.open) return;
    this.dialog.showModal();
    await this.refresh();
  }

  /** Read the shelf anew: another tab may have changed it. */
  async refresh() {
    const { entries, lasting } = await this.shelf.read();
    this.#entries = entries;
    setText(this.about, aboutWords(entries, lasting));
    this.about.classList.toggle("note", !lasting);
    setText(this.clear, this.restore ? "Undo: bring all back" : "Clear all");
    this.clear.hidden = !entries.length && !this.restore;
    this.draw();
  }

  #forget() {
    this.#gone.clear();
    this.#chosen = null;
    this.restore = null;
    setText(this.error, "");
  }

  /** Forget all that this browser keeps for the page; until the shelf is closed, it can come back. */
  async clearAll() {
    const { restore } = this;
    this.restore = null;
    if (restore) return restore();
    this.#gone.clear();
    this.restore = await this.shelf.clear();
    this.onclear();
    await this.refresh();
  }

  /** @returns {RowActions} */
  get actions() {
    return {
      open: (entry) => this.#try(this.onopen(entry).then(() => this.dialog.close())),
      pin: (entry) => this.#try(this.shelf.change(entry.id, { pinned: !entry.pinned })),
      rename: (entry, name) => this.#try(this.shelf.change(entry.id, { name })),
      choose: (entry) => this.choose(entry),
      remove: (entry) => this.#try(this.remove(entry)),
    };
  }

  /** What goes wrong is said here. @param {Promise<unknown>} work */
  async #try(work) {
    setText(this.error, "");
    try {
      await work;
    } catch (error) {
      setText(this.error, wordsOf(error));
    }
  }

  /** @param {Entry} entry */
  async remove(entry) {
    const restore = await this.shelf.remove(entry);
    if (this.#chosen?.id === entry.id) this.#chosen = null;
    this.#gone.set(entry.id, { entry, restore });
    this.draw();
  }

  /** @param {string} id */
  async undo(id) {
    const gone = this.#gone.get(id);
    this.#gone.delete(id);
    await gone?.restore();
  }

  /** One to stand beside another; the second one shows both. @param {Entry} entry */
  choose(entry) {
    const other = this.#chosen;
    this.#chosen = other ? null : entry;
    this.draw();
    if (other && other.id !== entry.id) this.#try(this.oncompare(other, entry));
  }

  draw() {
    const gone = [...this.#gone.values()].map(({ entry }) => entry);
    const here = this.#entries.filter(({ id }) => !this.#gone.has(id));
    const { value: query } = this.query;
    const entries = ordered([...matching(here, query), ...gone]);
    const focus = this.#focus();
    const days = Map.groupBy(entries, (entry) => heading(entry, Date.now()));
    this.list.replaceChildren(
      ...[...days].flatMap(([day, runs]) => [
        h("h3", {}, day),
        h(
          "ul",
          {},
          runs.map((entry) => this.#row(entry, query)),
        ),
      ]),
    );
    set(this.list, { "data-count": here.length });
    this.query.hidden = !here.length && !query;
    setText(this.status, this.#words(query, entries.length));
    focus?.();
  }

  /** @param {Entry} entry @param {string} query */
  #row(entry, query) {
    const { id } = entry;
    if (this.#gone.has(id)) return goneRow(entry, () => this.#try(this.undo(id)));
    return row(entry, { chosen: this.#chosen?.id === id, query }, this.actions);
  }

  /** @param {string} query @param {number} found */
  #words(query, found) {
    if (this.#chosen) return `Choose the run to set beside “${titleOf(this.#chosen)}”.`;
    if (query && !found) return "Nothing on the shelf has these words.";
    return "";
  }

  /** The focus goes where it was, once the list is drawn anew. */
  #focus() {
    const now = document.activeElement;
    const id = now?.closest("li")?.getAttribute("data-id");
    const act = now?.getAttribute("data-act");
    if (!id || !act || !this.list.contains(now)) return null;
    return () => {
      const again = this.list.querySelector(`[data-id="${id}"] [data-act="${act}"]`);
      if (again instanceof HTMLElement) again.focus();
    };
  }
}

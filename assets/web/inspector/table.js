// The candidates of a step as a table, for those who read and those who copy: one lane, or two.

import { button, h, set, token } from "../core/dom.js";
import { unfolds } from "../core/fold.js";
import { percent } from "../core/format.js";
import { stateOf } from "./words.js";

const LONG = 40; // rows from which on it is a box that scrolls
const COLUMNS = ["before", "after", "state"];

/** @import { PairRow } from "./distribution.js" */
/** @import { Fork } from "./fork.js" */

export class Table {
  /** @param {Fork} fork */
  constructor(fork) {
    this.fork = fork;
    this.names = "";
    /** @type {[Look[], PairRow[], string[]] | null} */
    this.shown = null;
    this.caption = h("caption");
    this.head = h("thead");
    this.body = h("tbody");
    this.element = h("details", { class: "as-table" }, h("summary", {}, "The same as a table"));
    this.table = h("table", {}, this.caption, this.head, this.body);
    this.box = h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Candidates as a table" },
      this.table,
    );
    this.element.append(this.box);
    unfolds(this.element, () => this.fill());
  }

  /**
   * `looks` are the one or two lanes, `list` rows with a cell for each of them; `lines` say what
   * wrote them, so that it goes along where the table is copied to.
   * @param {Look[]} looks
   * @param {PairRow[]} list
   * @param {string[]} lines
   */
  draw(looks, list, lines) {
    this.shown = [looks, list, lines];
    this.fill();
  }

  fill() {
    if (!this.element.open || !this.shown) return;
    const [looks, list, lines] = this.shown;
    this.caption.replaceChildren(...lines.map((line) => h("span", {}, line)));
    this.fillHead(looks);
    set(this.box, { "data-long": list.length > LONG ? "" : null });
    this.body.replaceChildren(...list.map((row) => this.row(row, looks)));
  }

  /** @param {Look[]} looks */
  fillHead(looks) {
    const names = looks.map((look) => look.name).join("\n");
    if (this.names === names) return;
    this.names = names;
    const column = (/** @type {string} */ name, more = {}) =>
      h("th", { scope: "col", ...more }, name);
    const single = looks.length === 1;
    set(this.table, { class: single ? null : "of-two" });
    const over = single ? {} : { rowspan: 2 };
    const groups = looks.map(({ name }) => h("th", { scope: "colgroup", colspan: 3 }, name));
    const columns = looks.flatMap(() => COLUMNS.map((name) => column(name)));
    const ends = [column("token", over), column("branch", over)];
    if (single) this.head.replaceChildren(h("tr", {}, ends[0], columns, ends[1]));
    else this.head.replaceChildren(h("tr", {}, ends[0], groups, ends[1]), h("tr", {}, columns));
  }

  /** @param {PairRow} row @param {Look[]} looks */
  row(row, looks) {
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, row.id < 0 ? row.text : token(row.text)),
      row.cells.flatMap((cell, k) => [
        h("td", {}, cell.known || !cell.p ? percent(cell.p) : `at most ${percent(cell.p)}`),
        h("td", {}, cell.known ? percent(cell.q) : "–"),
        h("td", {}, stateOf(cell, looks[k].imagined)),
      ]),
      h("td", {}, row.id < 0 || !this.fork.open ? "" : this.links(row, looks)),
    );
  }

  /** @param {PairRow} row @param {Look[]} looks */
  links(row, looks) {
    return looks.map((look, k) => {
      const { known, kind } = row.cells[k];
      if (!known) return "";
      const single = looks.length === 1;
      const restores = kind === "removed" && !look.imagined;
      const verb = restores ? "Restore and continue" : "Continue";
      const where = single ? `${verb} from here` : `${verb} ${look.name} from here`;
      const word = restores ? "restore" : "continue";
      return button(
        single ? word : `${word} ${look.name}`,
        () => this.fork.take({ token: row.id }, k),
        { class: "quiet", "aria-label": `${where} with ${row.text}` },
      );
    });
  }
}

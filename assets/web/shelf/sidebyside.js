// Two runs of the shelf side by side, to read: their texts with the marks, their settings.

import { button, h, setText } from "../core/dom.js";
import { laneTag } from "../core/lanetag.js";
import { LEGENDS } from "../lanes/colours.js";
import { numbers } from "../lanes/numbers.js";
import { titleOf } from "./entry.js";

/** @import { Names } from "../core/lanetag.js" */
/** @import { Run } from "../session/run.js" */
/** @import { Entry } from "./entry.js" */

/** The marks of a word, as class names. @param {Chip} chip */
function marks({ outcome, changed, tail, forced }) {
  const names = Object.entries({ changed, tail, forced }).filter(([, holds]) => holds);
  return ["t", `o${outcome}`, ...names.map(([name]) => name)].join(" ");
}

/** The words of a lane, marked as in the lanes. @param {Run} run @param {number} k */
function text({ head, lanes }, k) {
  return h(
    "p",
    { class: head.lanes[k].sampler.xtc.rho > 0 ? "text" : "text off" },
    h("span", { class: "prompt" }, head.prompt, head.chat ? "\n\n" : ""),
    lanes[k].chips.map((chip) => {
      const [, space, word] = /^(\s*)(.*)$/su.exec(chip.text) ?? ["", "", chip.text];
      return h("span", { class: marks(chip) }, space, word && h("span", { class: "w" }, word));
    }),
  );
}

/** The lane to begin with: the last one on which XTC acts. @param {Run} run */
function telling(run) {
  const on = run.head.lanes.findLastIndex((lane) => lane.sampler.xtc.rho > 0);
  return Math.max(0, on);
}

export class SideBySide {
  /**
   * `onopen(entry)` shows one of them on the page.
   * @param {Names} spec
   * @param {(entry: Entry) => void} onopen
   */
  constructor(spec, onopen) {
    this.spec = spec;
    this.onopen = onopen;
    this.columns = h("div", { class: "columns", "data-mode": "outcome" });
    /** @type {HTMLDialogElement} */
    this.dialog = h(
      "dialog",
      { class: "side-by-side", "aria-label": "Two runs side by side" },
      h(
        "header",
        {},
        h("h2", {}, "Side by side"),
        button("✕", () => this.dialog.close(), { class: "quiet", "aria-label": "Close" }),
      ),
      this.columns,
      h(
        "div",
        { class: "legend", role: "group", "aria-label": "Marks" },
        LEGENDS.outcome.map(([name, words]) => h("span", { class: `l ${name}` }, words)),
      ),
    );
  }

  /** @param {[Entry, Run][]} pairs */
  show(pairs) {
    this.columns.replaceChildren(...pairs.map(([entry, run]) => this.#column(entry, run)));
    if (!this.dialog.open) this.dialog.showModal();
  }

  /** @param {Entry} entry @param {Run} run */
  #column(entry, run) {
    const { head, lanes } = run;
    const title = titleOf(entry);
    const tag = h("p", { class: "tag" });
    const line = h("p", { class: "facts" });
    const words = h("div", { class: "words", tabindex: "0", role: "region", "aria-label": title });
    const show = (/** @type {number} */ k) => {
      const { sampler } = head.lanes[k];
      setText(tag, laneTag(sampler, this.spec));
      const { stats, chips } = lanes[k];
      const off = sampler.xtc.rho === 0;
      const said = stats && { ...stats, rate: undefined }; // how fast it was is of no matter here
      setText(line, said ? numbers(lanes[k], said, chips.length, off)[0] : "");
      words.replaceChildren(text(run, k));
    };
    const first = telling(run);
    const choice = h(
      "select",
      { "aria-label": `Lane of ${title}`, onchange: () => show(Number(choice.value)) },
      head.lanes.map(({ name }, k) => h("option", { value: k, selected: k === first }, name)),
    );
    show(first);
    return h(
      "section",
      {},
      h("h3", {}, title),
      h("p", { class: "facts" }, `${head.model.name} · seed ${head.seed}`),
      h("div", { class: "lane-of" }, choice, tag),
      line,
      words,
      button("Open this run", () => this.#open(entry), { class: "quiet" }),
    );
  }

  /** @param {Entry} entry */
  #open(entry) {
    this.dialog.close();
    this.onopen(entry);
  }
}

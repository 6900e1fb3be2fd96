// Two runs of the shelf side by side, to read: their texts with the marks, their settings.

import { button, h, setText } from "../core/dom.js";
import { laneTag } from "../core/lanetag.js";
import { numbers } from "../lanes/numbers.js";
import { titleOf } from "./entry.js";

/** @import { Names } from "../core/lanetag.js" */
/** @import { Run } from "../session/run.js" */
/** @import { Entry } from "./entry.js" */

/** The words of a lane, marked as in the lanes. @param {Run} run @param {number} k */
function text(run, k) {
  return h(
    "p",
    { class: "text" },
    h("span", { class: "prompt" }, run.head.prompt, run.head.chat ? "\n\n" : ""),
    run.lanes[k].chips.map((chip) => {
      const marks = `t o${chip.outcome}${chip.changed ? " changed" : ""}${chip.forced ? " forced" : ""}`;
      const [, space, word] = /^(\s*)(.*)$/su.exec(chip.text) ?? ["", "", chip.text];
      return h("span", { class: marks }, space, word && h("span", { class: "w" }, word));
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
        h("span", { class: "l l-fired" }, "XTC fired"),
        h("span", { class: "l l-changed" }, "… and changed the word"),
        h("span", { class: "l l-skipped" }, "could have fired, the coin said no"),
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
      setText(line, stats ? numbers(lanes[k], stats, chips.length, off)[0] : "");
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
      { "aria-label": title },
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

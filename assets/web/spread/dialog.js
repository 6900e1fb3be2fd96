// The spread on the page: a dialog with what it shows in words, its strips and its texts.

import { Knob } from "../composer/knob.js";
import { button, h, set, setText } from "../core/dom.js";
import { quoted } from "../core/errors.js";
import { count } from "../core/format.js";
import { strips } from "./strips.js";
import { seedChoice, seedTexts, table } from "./texts.js";

/** @import { Result, Spread } from "./spread.js" */

const NONE = "Nothing is written yet.";
const LAB = "the Lab";
const PROMPT = 60; // characters of a prompt in the head
const MANY = 3; // lanes

/**
 * How a spread stands, in words.
 * @param {Spread} spread
 */
export function standing({ phase, result, waiting }) {
  if (phase === "asked") return "Asking …";
  if (phase === "stopping") return "Stopping …";
  if (phase === "waiting") {
    const { place, note } = waiting;
    return note || (place ? `Waiting: ${count(place, "run")} before this one.` : "Waiting …");
  }
  if (!result) return NONE;
  const { rows, head, ended } = result;
  const { length } = rows;
  const of = `${length} of ${head.seeds.length} seeds`;
  if (phase === "writing") return `Writing: ${of} are there, ${count(result.tokens, "token")}.`;
  if (ended === "stopped" || ended === "failed") return `Stopped: ${of} are there.`;
  const last = head.seeds[head.seeds.length - 1];
  const lanes = count(head.lanes.length, "lane");
  return `Seeds ${head.seeds[0]} to ${last}, ${lanes}, up to ${count(head.length, "token")} each.`;
}

/** A sentence, in which the laboratory is a way there. @param {string} sentence @param {string} lab */
function withLab(sentence, lab) {
  const [before, ...rest] = sentence.split(LAB);
  if (!rest.length || !lab) return [sentence];
  return [before, h("a", { href: lab, target: "_blank" }, LAB), rest.join(LAB)];
}

export class SpreadDialog {
  /**
   * `onwrite()` writes it with what the composer holds now, `onopen(row)` shows a seed as a run,
   * `shown(result)` says which of its seeds is on show. `lab` is where the laboratory is.
   * @param {Spread} spread
   * @param {Spec} spec
   * @param {{ onwrite: () => void, onopen: (row: SpreadRow, draft: Draft) => Promise<void>,
   *   oncount: () => void, shown: (result: Result) => number | null, lab: string }} page
   */
  constructor(spread, spec, page) {
    this.spread = spread;
    this.page = page;
    /** @type {Typed} */
    this.count = spread.result?.count ?? spec.knobs.seeds.default;
    /** @type {number | null} */
    this.chosen = null;
    this.knob = new Knob(spec.knobs.seeds, {
      slider: false,
      onchange: (value) => {
        this.count = value;
        page.oncount();
      },
    });
    this.knob.value = this.count;
    this.write = button("Write", page.onwrite, { title: "With what the composer holds now" });
    this.stop = button("Stop", () => spread.stop());
    this.swap = button("The one before", () => spread.swap(), { class: "quiet" });
    this.about = h("p", { class: "tag" });
    this.status = h("p", { class: "status", role: "status" });
    this.error = h("p", { class: "wrong", role: "alert" });
    this.said = h("div", { class: "said" });
    this.figures = h("div", { class: "figures" });
    this.key = h("ul", { class: "key tag", "aria-label": "What the marks mean" });
    this.choice = h("div", {});
    this.texts = h("div", {});
    this.numbers = h("div", {});
    /** @type {HTMLDialogElement} */
    this.element = h(
      "dialog",
      { class: "spread", "aria-labelledby": "spread-title", "data-testid": "spread" },
      h(
        "header",
        {},
        h("h2", { id: "spread-title" }, "Spread"),
        this.about,
        button("✕", () => this.element.close(), { class: "quiet", "aria-label": "Close" }),
      ),
      h(
        "div",
        { class: "controls" },
        this.status,
        h("div", { class: "actions" }, this.swap, this.knob.element, this.write, this.stop),
      ),
      this.error,
      this.said,
      this.figures,
      this.numbers,
      this.choice,
      this.texts,
    );
    this.element.addEventListener("click", ({ target }) => {
      if (target === this.element) this.element.close();
    });
    spread.on("change", () => this.draw());
    spread.on("phase", () => this.stand());
    spread.on("refused", ({ problem }) => this.wrong(problem));
    this.draw();
  }

  open() {
    if (!this.element.open) this.element.showModal();
    this.draw();
  }

  clear() {
    setText(this.error, "");
    this.knob.clear();
  }

  /** What is wrong with a setting of the composer is said there. @param {Problem} problem */
  wrong({ field, message }) {
    if (field === "seeds") this.knob.wrong(message);
    else if (!field) setText(this.error, message);
  }

  /** How it stands, and what can be done. */
  stand() {
    const { spread, element } = this;
    setText(this.status, standing(spread));
    this.write.disabled = !spread.idle;
    this.stop.hidden = spread.idle;
    this.stop.disabled = spread.phase === "stopping";
    this.swap.hidden = !spread.former;
    this.swap.disabled = !spread.idle;
    set(element, { "data-phase": spread.phase });
  }

  draw() {
    this.stand();
    const { result } = this.spread;
    const parts = [this.said, this.figures, this.numbers, this.choice, this.texts];
    if (!result || !this.element.open) return;
    for (const part of parts) part.hidden = !result.rows.length;
    const { head, rows, said } = result;
    setText(this.about, `“${quoted(head.prompt, PROMPT)}” · ${head.model.name}`);
    this.said.replaceChildren(...said.map((one) => h("p", {}, withLab(one, this.page.lab))));
    // The words of many lanes would push the strips out of sight.
    if (head.lanes.length > MANY) this.figures.after(this.said);
    else this.figures.before(this.said);
    if (!rows.length) return;
    const marks = this.marks(result);
    const figures = head.quantities.map((_, i) => strips(result, i, marks));
    this.figures.replaceChildren(...figures, this.key);
    this.key.replaceChildren(...keyWords(result, marks.shown));
    this.numbers.replaceChildren(...[table(result)].filter((node) => node !== null));
    this.fillTexts(result, marks);
  }

  /** @param {Result} result */
  marks(result) {
    const { rows } = result;
    const shown = this.page.shown(result);
    const there = (/** @type {number | null} */ seed) => rows.some((row) => row.seed === seed);
    if (!there(this.chosen)) this.chosen = there(shown) ? shown : rows[0].seed;
    return {
      shown,
      chosen: this.chosen,
      onchoose: (/** @type {number} */ seed) => this.choose(seed),
    };
  }

  /** @param {number} seed */
  choose(seed) {
    const { result } = this.spread;
    const held = this.choice.contains(document.activeElement);
    this.chosen = seed;
    this.draw();
    if (result && held) {
      const box = this.choice.querySelector(`input[value="${seed}"]`);
      if (box instanceof HTMLElement) box.focus();
    }
  }

  /** @param {Result} result @param {ReturnType<SpreadDialog["marks"]>} marks */
  fillTexts(result, marks) {
    const row = result.rows.find(({ seed }) => seed === marks.chosen);
    this.choice.replaceChildren(seedChoice(result, marks));
    this.texts.replaceChildren(
      ...(row ? seedTexts(result, row, () => this.page.onopen(row, result.draft)) : []),
    );
  }
}

/** What the marks of the strips mean. @param {Result} result @param {number | null} shown */
function keyWords({ summary, rows }, shown) {
  const there = rows.some(({ seed }) => seed === shown);
  const words = [
    "● a seed; a click shows its texts",
    ...(there ? [`◆ seed ${shown}, the run on show`] : []),
    "◯ the seed whose texts are below",
    ...(summary ? ["┃ the mean over the seeds", "├─┤ its 95 % interval, by seed"] : []),
  ];
  return words.map((one) => h("li", {}, one));
}

// Settings of another program as a lane: paste or drop a text, see what was understood of it and
// what was not, then take it over.

import { button, h, set, setText } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { choice } from "../core/fields.js";

/** @import { NextRun } from "../composer/nextrun.js" */

const PAUSE = 250; // milliseconds after the last key
const LARGEST = 100_000; // bytes of a file, as the server takes characters (engines/syntax.py)
const NEW = "new";
const HINT =
  "Flags, a request, a preset or code of llama.cpp, koboldcpp, text-generation-webui, TabbyAPI, " +
  "aphrodite, SillyTavern, mlx-lm, vLLM or transformers.";

/**
 * What a text is, in words.
 * @param {BroughtHere} answer
 * @param {Option[]} forms
 */
export function heading({ form, engine, others }, forms) {
  if (form === null) return "Settings of this page.";
  const labels = new Map(forms);
  const label = labels.get(form) ?? form;
  if (others.length) {
    const programs = [form, ...others].map((name) => (labels.get(name) ?? name).split(":")[0]);
    return (
      `This may be of ${[...new Set(programs)].join(", ")}: the names are the same in all of them. ` +
      "Choose the program, and its own rule, order and defaults come with it."
    );
  }
  return engine ? `${label}. The lane gets the rule and the order of ${engine}.` : `${label}.`;
}

/** @param {TakenSetting[]} rows @param {string} caption */
function table(rows, caption) {
  if (!rows.length) return [];
  const cells = (/** @type {TakenSetting} */ [name, value, label, ours]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      h("td", {}, value),
      h("td", {}, `${label} ${ours}`),
    );
  const head = ["There", "Value", "Here"].map((one) => h("th", { scope: "col" }, one));
  return [
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, head)),
      h("tbody", {}, rows.map(cells)),
    ),
  ];
}

/** @param {string} title @param {string[]} sentences */
function list(title, sentences) {
  if (!sentences.length) return [];
  const items = sentences.map((one) => h("li", {}, one));
  return [h("h3", {}, title), h("ul", {}, items)];
}

export class BringHere {
  /**
   * `ontake(lane, k)` puts a lane into the next run, in place of lane k or as a new one.
   * @param {Spec} spec
   * @param {NonNullable<Transport["bringHere"]>} ask
   * @param {(lane: LaneSettings, k: number | null) => void} ontake
   */
  constructor(spec, ask, ontake) {
    this.spec = spec;
    this.ask = ask;
    this.ontake = ontake;
    /** @type {BroughtHere | null} */
    this.answer = null;
    this.number = 0;
    this.timer = 0;
    this.area = h("textarea", {
      rows: "6",
      spellcheck: "false",
      "aria-label": "Settings of another program",
      "aria-describedby": "bring-here-hint",
      oninput: () => this.later(),
    });
    this.file = h("input", { type: "file", hidden: true });
    this.file.addEventListener("change", () => {
      const file = this.file.files?.[0];
      this.file.value = "";
      this.read(file);
    });
    /** @type {Option[]} */
    const programs = [["", "as its names say"], ...spec.forms];
    this.program = choice("Program", programs, () => this.fill());
    this.place = choice("Put it into", [], () => {});
    this.said = h("p", { role: "status" });
    this.error = h("p", { class: "wrong", role: "alert" });
    this.found = h("div", { class: "found" });
    this.take = button("Take it over", () => this.takeOver(), { class: "primary", disabled: true });
    /** @type {HTMLDialogElement} */
    this.element = h(
      "dialog",
      {
        class: "carry bring-here",
        "aria-labelledby": "bring-here-title",
        "data-testid": "bring-here",
      },
      h(
        "header",
        {},
        h("h2", { id: "bring-here-title" }, "Settings from another program"),
        button("✕", () => this.element.close(), { class: "quiet", "aria-label": "Close" }),
      ),
      h("p", { class: "hint", id: "bring-here-hint" }, HINT),
      this.area,
      h(
        "div",
        { class: "actions" },
        button("Open a file …", () => this.file.click()),
        this.file,
        this.program.element,
      ),
      this.error,
      this.said,
      this.found,
      h("div", { class: "actions" }, this.place.element, this.take),
    );
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => {
      const file = event.dataTransfer?.files[0];
      if (!file) return; // text goes into the field by itself
      event.preventDefault();
      this.read(file);
    });
  }

  /** @param {NextRun} next */
  open(next) {
    const { lanes } = next;
    const room = lanes.length < this.spec.maxLanes;
    const fresh = room ? [h("option", { value: NEW }, "a new lane")] : [];
    const others = lanes.map(({ name }, k) => h("option", { value: k }, `${name}, in its place`));
    this.place.select.replaceChildren(...fresh, ...others);
    this.element.showModal();
    this.area.focus();
    return this.fill();
  }

  /** @param {File | undefined} file */
  async read(file) {
    if (!file) return;
    if (file.size > LARGEST) {
      this.show(null, `${file.name} is too large for a text of settings.`);
      return;
    }
    this.area.value = await file.text();
    await this.fill();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.fill(), PAUSE);
  }

  async fill() {
    clearTimeout(this.timer);
    this.number += 1;
    const { number } = this;
    const text = this.area.value;
    if (!text.trim()) return this.show(null);
    try {
      const answer = await this.ask(text, this.program.select.value || null);
      if (number === this.number) this.show(answer);
    } catch (error) {
      if (number === this.number) this.show(null, wordsOf(error));
    }
  }

  /** @param {BroughtHere | null} answer */
  show(answer, problem = "") {
    this.answer = answer;
    this.take.disabled = !answer;
    setText(this.error, problem);
    setText(this.said, answer ? heading(answer, this.spec.forms) : "");
    set(this.element, { "data-found": answer ? "" : null });
    if (!answer) return this.found.replaceChildren();
    const { taken, assumed, problems, left } = answer;
    const belong = left.length ? [`No settings of a lane: ${left.join(", ")}.`] : [];
    this.found.replaceChildren(
      ...list("Not understood, or other here", problems),
      ...table(taken, "Understood"),
      ...table(assumed, "Not said in the text, and on there"),
      ...belong.map((words) => h("p", { class: "hint" }, words)),
    );
  }

  takeOver() {
    if (!this.answer) return;
    const { value } = this.place.select;
    this.ontake(this.answer.lane, value === NEW ? null : Number(value));
    this.element.close();
  }
}

// The prompt and the settings of the next run, and what runs it.

import { button, h, set, setText } from "../core/dom.js";
import { NextRun } from "./nextrun.js";
import { Panel } from "./panel.js";
import { warnings } from "./warnings.js";

/** @import { Phase } from "../session/phases.js" */

const COARSE = matchMedia("(pointer: coarse)"); // fingers
const RUN = "Enter; Shift+Enter begins a new line";

export class Composer {
  /**
   * `onedit()` follows whatever is typed or chosen, `onchange()` what a what-if may show.
   * `onbring()` asks for a lane of another program, `onelsewhere(lane)` takes one there.
   * @param {Spec} spec
   * @param {{ onrun: () => void, onseeds: () => void, onstep: () => void, onstop: () => void,
   *   onedit: () => void, onchange: () => void, tokens: Transport["tokens"], onbring: () => void,
   *   onelsewhere: (lane: LaneSettings<Typed>) => void }} events
   */
  constructor(spec, { onrun, onseeds, onstep, onstop, onedit, onchange, tokens, ...ways }) {
    this.spec = spec;
    this.onedit = onedit;
    this.onchange = () => {
      this.warn();
      onedit();
      onchange();
    };
    this.next = new NextRun(spec);
    this.prompt = h("textarea", {
      id: "prompt",
      rows: "1",
      dir: "auto",
      spellcheck: "false",
      "data-field": "prompt",
      placeholder: "Start a story …",
      enterkeyhint: "go",
    });
    this.prompt.addEventListener("keydown", (event) => {
      // Shift+Enter is a new line, as Enter is on a phone, and while a word is composed.
      const go = event.key === "Enter" && !event.isComposing && !event.shiftKey;
      if (!go || event.ctrlKey || event.metaKey || COARSE.matches) return;
      event.preventDefault();
      if (!this.run.disabled) onrun();
    });
    this.prompt.addEventListener("input", () => {
      this.next.set("prompt", this.prompt.value);
      onedit();
      this.warn();
      this.fit();
      this.clear();
    });
    this.run = button("Generate", onrun, {
      class: "primary",
      title: RUN,
    });
    this.seeds = button("", onseeds, {
      class: "many",
      title: "This prompt with many seeds at once: how the numbers of its texts lie",
    });
    this.step = button("Step by step", onstep, { title: "Write one token at a time" });
    this.stop = button("Stop", onstop, { disabled: true });
    this.warnings = h("div", { class: "warnings", role: "status" });
    this.error = h("p", { class: "wrong", role: "alert", "data-testid": "error" });
    this.panel = new Panel(spec, this.next, {
      onfill: () => this.fill(),
      onchange: () => this.onchange(),
      onedit,
      onbegin: (text) => this.begin(text),
      ask: tokens,
      ...ways,
    });
    this.element = h(
      "form",
      { class: "composer", "aria-label": "What to write, and how" },
      h(
        "div",
        { class: "ask" },
        h("label", { for: "prompt", class: "visually-hidden" }, "Prompt"),
        this.prompt,
        this.panel.examples,
        this.panel.extras.element,
        h("div", { class: "actions" }, this.run, this.seeds, this.step, this.stop),
      ),
      this.panel.fold,
      this.panel.element,
      this.warnings,
      this.error,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      onrun();
    });
    set(this.element, { "data-knobs": Object.keys(spec.knobs).length });
    this.fill();
  }

  /** The dialog of a lane's settings; it stands beside the form, not in it. */
  get dialog() {
    return this.panel.editor.element;
  }

  get draft() {
    return this.next.draft;
  }

  /** Take a text as the prompt, as if it were typed: the browser's own undo brings back what was. */
  begin(/** @type {string} */ text) {
    this.prompt.focus();
    this.prompt.select();
    document.execCommand("insertText", false, text);
    this.next.set("prompt", text);
    this.fill();
  }

  /** Take a whole draft over, from a link or a run on show. @param {Draft} draft */
  take(draft) {
    this.next.take(draft);
    this.fill();
  }

  /** The lanes' XTC settings become those of this draft again. @param {Draft} draft */
  putBack(draft) {
    this.next.putBack(draft);
    this.fill();
  }

  /** XTC of a lane, chosen elsewhere on the page. @param {number} k @param {Partial<Xtc>} xtc */
  setXtc(k, xtc) {
    if (!this.next.lanes[k]) return;
    this.next.setXtc(k, xtc);
    this.fill();
  }

  /** A lane from another program. @param {LaneSettings} lane @param {number | null} k */
  bring(lane, k) {
    this.panel.change(() => this.next.bring(lane, k));
  }

  newSeed() {
    this.panel.newSeed();
  }

  /** Another model is in use. @param {ModelLine} model */
  use(model) {
    this.panel.model(model);
  }

  warn() {
    const words = warnings(this.draft, this.spec);
    if (words.join() === this.warnings.textContent) return;
    this.warnings.replaceChildren(
      ...words.map((text) => h("p", { class: "note", title: text }, text)),
    );
  }

  /** Show the draft in the controls. */
  fill() {
    this.prompt.value = this.draft.prompt;
    this.panel.fill();
    this.warn();
    this.fit();
    this.onedit();
  }

  /** The prompt's box is as tall as its text. */
  fit() {
    if (CSS.supports("field-sizing", "content") || !this.prompt.isConnected) return;
    this.prompt.style.height = "auto";
    this.prompt.style.height = `${Math.min(220, this.prompt.scrollHeight)}px`;
  }

  /** How many seeds its button writes; null where that is no number. @param {number | null} count */
  nameSeeds(count) {
    setText(this.seeds, count === null ? "Seeds" : `${count} seeds`);
  }

  /**
   * `half` says whether Step can take another half step; undefined where it begins a run. `why`
   * says why nothing can be begun, "" where it can. `seeds` is how the writing of many seeds stands.
   * @param {Phase} phase
   * @param {boolean | undefined} half
   * @param {string} why
   * @param {string} seeds
   */
  busy(phase, half, why = "", seeds = "idle") {
    const busy = phase !== "idle";
    if (busy) this.panel.extras.open(false);
    this.run.disabled = busy || Boolean(why);
    set(this.run, { title: why || RUN });
    this.step.disabled = half === undefined ? this.run.disabled : !half;
    this.seeds.disabled = busy;
    this.stop.disabled = !busy && seeds === "idle";
    set(this.element, { "data-phase": phase, "data-seeds": seeds });
  }

  clear() {
    setText(this.error, "");
    set(this.prompt, { "aria-invalid": null });
    this.panel.clear();
  }

  /** Say what went wrong, of no control in particular. @param {string} words */
  fail(words) {
    setText(this.error, words);
  }

  /**
   * Say what is wrong where it is wrong; everything typed stays as it is.
   * @param {Problem} problem
   */
  wrong(problem) {
    this.clear();
    if (this.panel.wrong(problem)) return;
    const { field, message, lane } = problem;
    const where = lane === undefined ? "" : `${this.next.lanes[lane].name}: `;
    setText(this.error, where + message);
    if (field === "prompt") {
      set(this.prompt, { "aria-invalid": "true" });
      this.prompt.focus();
    }
  }
}

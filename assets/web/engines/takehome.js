// A lane's settings in another program's words: choose the program, copy the text, read what will
// differ there.

import { button, h, set, setText } from "../core/dom.js";
import { download } from "../core/download.js";
import { wordsOf } from "../core/errors.js";
import { choice } from "../core/fields.js";

const SAME = "Nothing: it does there what it does here.";

export class TakeHome {
  /** @param {Spec} spec @param {NonNullable<Transport["takeHome"]>} ask */
  constructor(spec, ask) {
    this.ask = ask;
    /** @type {LaneSettings<Typed> | null} */
    this.lane = null;
    /** @type {Protection | null} */
    this.protect = null;
    /** @type {TakenHome | null} */
    this.answer = null;
    this.number = 0;
    this.program = choice("Program", spec.forms, () => this.fill());
    this.title = h("h2", { id: "take-home-title" }, "");
    this.text = h("pre", { tabindex: "0", "aria-label": "The settings as a text" });
    this.copied = h("span", { role: "status" });
    this.copy = button("Copy", () => this.toClipboard(), { class: "primary" });
    this.save = button("Save as a file", () => this.toFile());
    this.remarks = h("ul", {});
    this.same = h("p", {}, SAME);
    this.error = h("p", { class: "wrong", role: "alert" });
    this.body = h(
      "div",
      { class: "carried" },
      this.text,
      h("div", { class: "actions" }, this.copy, this.save, this.copied),
      h("h3", {}, "What differs there"),
      this.remarks,
      this.same,
    );
    /** @type {HTMLDialogElement} */
    this.element = h(
      "dialog",
      { class: "carry take-home", "aria-labelledby": this.title.id, "data-testid": "take-home" },
      h(
        "header",
        {},
        this.title,
        button("✕", () => this.element.close(), { class: "quiet", "aria-label": "Close" }),
      ),
      this.program.element,
      this.error,
      this.body,
    );
  }

  /**
   * `protect` is the choice of protected tokens that goes with the lane, null where the lane holds
   * them itself.
   * @param {LaneSettings<Typed>} lane
   * @param {Protection | null} protect
   */
  open(lane, protect) {
    this.lane = structuredClone(lane);
    this.protect = structuredClone(protect);
    setText(this.title, `“${lane.name}” in another program`);
    this.show(null);
    this.element.showModal();
    return this.fill();
  }

  async fill() {
    const { lane, protect } = this;
    if (!lane) return;
    this.number += 1;
    const { number } = this;
    setText(this.copied, "");
    try {
      const answer = await this.ask(lane, this.program.select.value, protect);
      if (number === this.number) this.show(answer);
    } catch (error) {
      if (number === this.number) this.show(null, wordsOf(error));
    }
  }

  /** @param {TakenHome | null} answer */
  show(answer, problem = "") {
    this.answer = answer;
    setText(this.error, problem);
    this.body.hidden = !answer;
    if (!answer) return;
    setText(this.text, answer.text);
    this.remarks.replaceChildren(...answer.remarks.map((one) => h("li", {}, one)));
    this.remarks.hidden = !answer.remarks.length;
    this.same.hidden = Boolean(answer.remarks.length);
    set(this.body, { "data-form": this.program.select.value });
  }

  async toClipboard() {
    const done = await navigator.clipboard.writeText(this.answer?.text ?? "").then(
      () => "Copied.",
      () => "The browser did not let it be copied: select the text.",
    );
    setText(this.copied, done);
  }

  toFile() {
    if (this.answer) download(this.answer.file, this.answer.text, "text/plain");
  }
}

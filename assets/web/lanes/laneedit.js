// A lane's text, open to be edited in its place; the lane then goes on after it.

import { button, h, setText } from "../core/dom.js";
import { written } from "./lanetext.js";

/** @import { Run } from "../session/run.js" */
/** @import { LaneActions } from "./lanemenu.js" */

const LEAST = 340; // pixels

/** @type {Map<string, string>} By run and lane, what was typed and has not been gone on from. */
const drafts = new Map();

/**
 * What is to be said of an edited text, and whether the lane can go on after it.
 * @param {string} former
 * @param {string} text
 * @param {boolean} open whether the lane has not come to its end
 * @returns {[words: string, can: boolean]}
 */
export function judge(former, text, open) {
  if (text === former) {
    return open
      ? ["Change what you like: the lane goes on after your text.", true]
      : ["The lane has come to its end. Change or add a word to go on from.", false];
  }
  if (former.startsWith(text)) {
    return [
      "Only shortened: its dice are fixed, so the lane would write the same words again. " +
        "Change or add a word, or keep this as the next prompt.",
      false,
    ];
  }
  return ["From the first change on, your words stand in place of the lane's.", true];
}

export class LaneEdit {
  /** @param {Run} run @param {number} k @param {LaneActions} actions */
  constructor(run, k, actions) {
    this.run = run;
    this.k = k;
    this.actions = actions;
    this.key = `${run.id}/${k}`;
    const { name } = run.head.lanes[k];
    const id = `edit-${k}`;
    this.hint = h("p", { class: "hint", id: `${id}-hint`, role: "status" });
    this.area = h("textarea", {
      "aria-label": `The text of ${name}`,
      "aria-describedby": this.hint.id,
      spellcheck: "false",
      oninput: () => this.typed(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressed(event),
    });
    this.go = button("Go on from here", () => this.done(), { class: "primary" });
    this.back = button("As it was", () => this.restore(), { class: "quiet" });
    this.element = h(
      "div",
      { class: "lane-edit" },
      h(
        "div",
        { class: "edit-head" },
        h("p", { class: "prompt" }, run.head.prompt),
        button("✕", () => this.close(), { class: "quiet", "aria-label": "Close the editor" }),
      ),
      this.area,
      this.hint,
      h(
        "div",
        { class: "edit-tools" },
        this.go,
        button("Keep as prompt", () => this.keep(), { class: "quiet" }),
        this.back,
      ),
    );
    /** @type {HTMLElement | null} The lane's own text, which it stands in for. */
    this.body = null;
  }

  get former() {
    return written(this.run, this.k);
  }

  /** What was typed. A space at its end would be a word of its own to the model, so it goes. */
  get text() {
    const { value } = this.area;
    return value === this.former ? value : value.replace(/[ \t]+$/, "");
  }

  /** @param {HTMLElement} body */
  open(body) {
    if (this.body) return this.area.focus();
    this.body = body;
    // In the lane's own place; over what is below where there is hardly room to write.
    this.element.style.height = `${Math.max(body.offsetHeight, LEAST)}px`;
    body.hidden = true;
    body.after(this.element);
    this.area.value = drafts.get(this.key) ?? this.former;
    this.typed();
    this.area.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
    this.area.setSelectionRange(this.area.value.length, this.area.value.length);
    this.area.scrollTop = this.area.scrollHeight;
  }

  /** What was typed is kept, and there again when the editor is opened. */
  close() {
    this.element.remove();
    if (this.body) this.body.hidden = false;
    this.body = null;
  }

  typed() {
    const { value } = this.area;
    const { former } = this;
    const { write, goOn } = this.actions.can(this.k);
    const [words, can] = judge(former, this.text, goOn);
    setText(this.hint, words);
    this.go.disabled = !can || !write;
    this.back.hidden = value === former;
    if (value === former) drafts.delete(this.key);
    else drafts.set(this.key, value);
  }

  restore() {
    this.area.value = this.former;
    this.typed();
    this.area.focus();
  }

  keep() {
    const { head } = this.run;
    this.actions.prompt(head.chat ? this.area.value : head.prompt + this.area.value);
    this.close();
  }

  done() {
    if (this.go.disabled) return;
    if (this.text === this.former) this.actions.goOn(this.k);
    else this.actions.rewrite(this.k, this.text);
    this.close();
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const { key } = event;
    if (key === "Escape") this.close();
    else if (key === "Enter" && (event.ctrlKey || event.metaKey)) this.done();
    else return;
    event.preventDefault();
  }
}

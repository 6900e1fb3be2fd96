// A word of one's own to continue with, shown as the tokens that it becomes.

import { button, h, set, setText, token } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";

/** @import { Playback } from "../session/playback.js" */

const PAUSE = 200; // milliseconds without typing before the server is asked
const BEGINS_WORD = /^[\p{L}\p{N}]/u;
const SPACED = /^[ \u00a0][\p{L}\p{N}]/u;

/**
 * Whether a word begins with a space at this place, as the model itself would write it there: of
 * the tokens that it gives most of the probability, those with which a word begins.
 * @param {Pick<StepView, "ids" | "probs">} step
 * @param {Texts} texts
 */
export function wantsSpace({ ids, probs }, texts) {
  let balance = 0;
  ids.forEach((id, i) => {
    const text = texts[id] ?? "";
    if (SPACED.test(text)) balance += probs[i];
    else if (BEGINS_WORD.test(text)) balance -= probs[i];
  });
  return balance > 0;
}

export class OwnWord {
  /**
   * `onword(text)` is called when someone wants to go on with a text, `ontype()` while one types.
   * @param {Playback} playback
   * @param {Transport["becomes"]} ask
   * @param {{ onword: (text: string) => void, ontype: () => void }} events
   */
  constructor(playback, ask, { onword, ontype }) {
    this.playback = playback;
    this.ask = ask;
    this.onword = onword;
    this.ontype = ontype;
    /** @type {Look | undefined} */
    this.look = undefined;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.question = "";
    this.spaced = false; // what the place asks for
    this.turned = false; // whether someone wants it the other way
    this.wrong = false;
    /** @type {string | null} What a branch was asked for with, until it is on show. */
    this.sent = null;
    this.input = h("input", {
      type: "text",
      placeholder: "or type your own",
      "aria-label": "Your own word to continue with",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      enterkeyhint: "go",
      oninput: () => this.typed(),
    });
    this.said = h("output", { class: "becomes-tokens", "data-testid": "becomes" });
    this.space = button("", () => this.turn(), { hidden: true });
    this.line = h("span", { class: "becomes-line", hidden: true }, this.said, this.space);
    this.go = h("button", { hidden: true }, "Continue");
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.submit();
    };
    this.element = h(
      "form",
      { class: "own-word", "data-testid": "own-word", onsubmit },
      this.input,
      this.go,
    );
  }

  /** What is typed, with the space before it. */
  get text() {
    const { value } = this.input;
    const spaced = BEGINS_WORD.test(value) && this.spaced !== this.turned;
    return spaced ? ` ${value}` : value;
  }

  /** A step is on show. @param {Look | undefined} look */
  draw(look) {
    this.look = look;
    // The branch is there: its word is in the text now.
    if (this.sent !== null && look?.step.forced) {
      if (this.sent === this.text) this.input.value = "";
      this.sent = null;
    }
    if (!look) return;
    const spaced = wantsSpace(look.step, look.texts);
    if (spaced !== this.spaced) this.turned = false;
    this.spaced = spaced;
    if (this.input.value || this.question) this.later();
  }

  /** Something may be known by now that was not. */
  again() {
    if (this.input.value && !this.question) this.later();
  }

  typed() {
    this.sent = null;
    if (!this.input.value) this.turned = false;
    this.later();
  }

  turn() {
    this.turned = !this.turned;
    this.update();
    this.input.focus();
  }

  later() {
    const { value } = this.input;
    this.space.hidden = !BEGINS_WORD.test(value);
    this.name();
    this.go.hidden = !value;
    clearTimeout(this.timer);
    this.ontype();
    if (!value) return this.show([], "");
    this.timer = setTimeout(() => this.update(), PAUSE);
  }

  name() {
    setText(this.space, this.spaced === this.turned ? "with a space" : "without the space");
  }

  /** Ask what it becomes at this place; of two answers the later question's counts. */
  async update() {
    clearTimeout(this.timer);
    const { look, text } = this;
    const run = this.playback.run?.id;
    if (!this.ask || !look || !run || !this.input.value) return;
    this.name();
    const question = JSON.stringify([run, look.at, text]);
    if (this.question === question) return;
    this.question = question;
    try {
      const named = await this.ask(run, look.at.lane, look.at.i, text);
      if (this.question !== question) return;
      this.show(named?.tokens ?? [], "", named?.more);
      if (named) return;
      setText(this.said, "Its tokens are known once the model is loaded.");
      this.question = "";
    } catch (error) {
      if (this.question === question) this.show([], wordsOf(error));
    }
  }

  /** @param {string[]} tokens @param {string} problem */
  show(tokens, problem, more = 0) {
    if (!this.input.value) this.question = "";
    this.wrong = Boolean(problem);
    set(this.input, { "aria-invalid": problem ? "true" : null });
    set(this.said, { class: problem ? "becomes-tokens wrong" : "becomes-tokens" });
    const words = problem || (tokens.length ? "becomes " : "");
    const rest = more ? [` and ${more} more`] : [];
    this.said.replaceChildren(words, ...tokens.map((text) => token(text)), ...rest);
  }

  submit() {
    const { text } = this;
    if (!this.input.value || this.wrong) return;
    this.sent = text;
    this.onword(text);
  }
}

// Protected tokens: which ones XTC must never remove, and what that means on the model in use.

import { h, setText, token } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { choice, lines, toggle } from "../core/fields.js";
import { count } from "../core/format.js";

const PAUSE = 300; // milliseconds without typing before the server is asked

/** @import { NextRun } from "./nextrun.js" */

export class Protect {
  /**
   * `onchange()` follows every change of the choice; `ask(choice)` answers what it means on the
   * model in use, or null where none is in memory.
   * @param {Spec} spec
   * @param {NextRun} run
   * @param {{ onchange: () => void, ask: Transport["tokens"] }} events
   */
  constructor(spec, run, { onchange, ask }) {
    this.run = run;
    this.ask = ask;
    /** @type {number | undefined} */
    this.timer = undefined;
    /** @type {Protection | null} */
    this.question = null;
    /**
     * @template {keyof Protection} K
     * @param {K} name
     * @param {Protection[K]} value
     */
    const write = (name, value) => {
      run.setProtection(name, value);
      onchange();
      this.later();
    };
    this.eos = toggle(
      "Protect the end of the text",
      "XTC never removes it.",
      () => this.choice.eos,
      (value) => write("eos", value),
    );
    this.newline = choice("Protect line breaks", spec.newlines, (value) => write("newline", value));
    this.texts = lines(
      "Protect these too",
      "The first token of each; mind the space before a word.",
      () => this.choice.texts,
      (value) => write("texts", value),
    );
    this.list = h("ul", { class: "becomes", "aria-label": "Protected tokens" });
    this.sum = h("p", { class: "protected-count", "data-testid": "protected" });
    this.said = h("div", { role: "status" }, this.list, this.sum);
    this.texts.element.append(this.said);
    this.texts.element.classList.add("wide");
  }

  get choice() {
    return this.run.draft.protect;
  }

  fill() {
    this.eos.fill();
    this.newline.select.value = this.choice.newline;
    this.texts.fill();
    this.later();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), PAUSE);
  }

  /** Show what is protected on the model in use; of two answers the later question's counts. */
  async update() {
    if (!this.ask || !this.texts.element.checkVisibility()) return;
    const question = structuredClone(this.choice);
    this.question = question;
    let answer = null;
    try {
      answer = await this.ask(question);
    } catch (error) {
      if (this.question === question) this.empty(wordsOf(error));
      return;
    }
    if (this.question !== question) return;
    if (!answer) return this.empty("");
    const kinds = answer.kinds.tokens.length ? [this.kinds(answer.kinds)] : [];
    this.list.replaceChildren(...kinds, ...answer.texts.map((text) => this.line(text)));
    setText(this.sum, total(answer));
  }

  /** @param {string} words */
  empty(words) {
    this.list.replaceChildren();
    setText(this.sum, words);
  }

  /** The tokens that end the text or hold a line break. @param {NamedTokens} named */
  kinds({ tokens, more }) {
    return h(
      "li",
      {},
      tokens.map((text) => token(text)),
      more ? ` and ${more.toLocaleString("en")} more` : "",
    );
  }

  /** One text: its first token, which is protected, and those that are not. @param {NamedTokens} named */
  line({ tokens, more }) {
    if (!tokens.length) return h("li", {}, "no token");
    const [first, ...others] = tokens;
    if (!others.length) return h("li", {}, token(first));
    const rest = others.map((text) => h("span", { class: "unprotected" }, token(text)));
    const end = more ? ` and ${more} more` : "";
    return h("li", {}, token(first), ...rest, `${end} – only the first is protected`);
  }
}

/** @param {ProtectedTokens} tokens */
function total({ model, eos, newline, count: all }) {
  const own = all - eos - newline;
  const parts = [
    eos ? `${eos} that end${eos === 1 ? "s" : ""} the text` : "",
    newline ? `${newline.toLocaleString("en")} with a line break` : "",
    own > 0 ? `${own} of your own` : "",
  ].filter(Boolean);
  const list = parts.length > 1 ? `: ${parts.join(", ")}` : parts.length ? `, ${parts[0]}` : "";
  return `${count(all, "token")} of ${model} ${all === 1 ? "is" : "are"} protected${list}.`;
}

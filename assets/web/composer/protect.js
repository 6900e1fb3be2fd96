// Protected tokens: which ones XTC must never remove, and what that means on the model in use.

import { count, h, setText, token } from "../core/dom.js";
import { lines, toggle } from "./fields.js";
import { choice } from "./laneeditor.js";

const PAUSE = 300; // milliseconds without typing before the server is asked

/** A draft's choice in full; links of older pages say yes or no for the line breaks. */
export function protection({ eos = true, newline = true, texts = [] } = {}) {
  const named = typeof newline === "string" ? newline : newline ? "all" : "none";
  return { eos, newline: named, texts: [...texts] };
}

export function sameProtection(a, b) {
  return a.eos === b.eos && a.newline === b.newline && a.texts.join("\n") === b.texts.join("\n");
}

export class Protect {
  /** `draft()` holds the choice, `onchange()` follows every change of it; `ask(choice)` answers
      what it means on the model in use, or null where none is in memory. */
  constructor(spec, { draft, onchange, ask }) {
    this.draft = draft;
    this.ask = ask;
    const write = (name, value) => {
      draft().protect[name] = value;
      onchange();
      this.later();
    };
    this.eos = toggle(
      "Protect the end of the text",
      "XTC never removes it.",
      () => draft().protect.eos,
      (value) => write("eos", value),
    );
    this.newline = choice("Protect line breaks", spec.newlines, (value) => write("newline", value));
    this.texts = lines(
      "Protect these too",
      "The first token of each; mind the space before a word.",
      () => draft().protect.texts,
      (value) => write("texts", value),
    );
    this.list = h("ul", { class: "becomes", "aria-label": "Protected tokens" });
    this.sum = h("p", { class: "protected-count", "data-testid": "protected" });
    this.said = h("div", { role: "status" }, this.list, this.sum);
    this.texts.element.append(this.said);
    this.texts.element.classList.add("wide");
  }

  fill() {
    this.eos.fill();
    this.newline.select.value = this.draft().protect.newline;
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
    const asked = structuredClone(this.draft().protect);
    this.asked = asked;
    let found = null;
    try {
      found = await this.ask(asked);
    } catch (error) {
      if (this.asked === asked) this.empty(error.message);
      return;
    }
    if (this.asked !== asked) return;
    if (!found) return this.empty("");
    const kinds = found.kinds.tokens.length ? [this.kinds(found.kinds)] : [];
    this.list.replaceChildren(...kinds, ...found.texts.map((text) => this.line(text)));
    setText(this.sum, total(found));
  }

  empty(words) {
    this.list.replaceChildren();
    setText(this.sum, words);
  }

  /** The tokens that end the text or hold a line break. */
  kinds({ tokens, more }) {
    return h("li", {}, tokens.map(token), more ? ` and ${more.toLocaleString("en")} more` : "");
  }

  /** One text: its first token, which is protected, and those that are not. */
  line({ tokens, more }) {
    if (!tokens.length) return h("li", {}, "no token");
    const [first, ...others] = tokens;
    if (!others.length) return h("li", {}, token(first));
    const rest = others.map((text) => h("span", { class: "unprotected" }, token(text)));
    const end = more ? ` and ${more} more` : "";
    return h("li", {}, token(first), ...rest, `${end} – only the first is protected`);
  }
}

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

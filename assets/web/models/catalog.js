// The models to choose from, as a list that typing narrows down.

import { button, h, set, setText } from "../core/dom.js";
import { count } from "../core/format.js";

/** @type {Record<CatalogEntry["fit"], [string, string]>} */
const FITS = {
  fits: ["✓", "fits"],
  tight: ["◐", "fits when memory is freed"],
  no: ["✕", "does not fit"],
};

/** A number of parameters as people say it: 35 k, 5.9 M, 1.7 B, 70.6 B. @param {number} parameters */
export function size(parameters) {
  if (parameters < 99.5e3) return `${Math.round(parameters / 1e3)} k`;
  if (parameters < 999.5e6) return `${(parameters / 1e6).toFixed(parameters < 99.5e6 ? 1 : 0)} M`;
  return `${(parameters / 1e9).toFixed(1)} B`;
}

/** @type {Record<string, string>} */
const REASONS = { optional: "chat, reasons when asked to", always: "reasons before it answers" };
/** @type {(gated: boolean | null) => string} */
const asksFor = (gated) =>
  gated === null ? "may ask for consent first" : gated ? "asks for consent first" : "";
const CONSENT =
  "Accept its licence on its page of the hub, then start the server with HF_TOKEN set to a token of that account.";

export class Catalog {
  /**
   * `onload({ name, … })` is called when a model is chosen.
   * @param {(what: Record<string, string>) => void} onload
   */
  constructor(onload) {
    this.onload = onload;
    this.search = h("input", {
      type: "search",
      placeholder: "name, size, chat, licence …",
      "aria-label": "Find a model",
      spellcheck: "false",
      autocomplete: "off",
    });
    this.search.addEventListener("input", () => this.narrow());
    this.counted = h("p", { class: "visually-hidden", role: "status" });
    this.none = h("p", { class: "none", hidden: true }, "No model of the list is like that.");
    this.memory = h("p", { class: "memory" });
    this.list = h("ul", { "aria-label": "Models" });
    this.element = h("div", { class: "catalog" }, this.memory, this.list, this.none, this.counted);
    /** @type {ReturnType<Catalog["row"]>[]} */
    this.rows = [];
  }

  /**
   * Show the server's answer; `using` is the name of the model in use, `otherwise` says that it
   * would be loaded in another way.
   * @param {CatalogAnswer} answer
   * @param {string | undefined} using
   * @param {boolean} otherwise
   */
  fill({ models, machine }, using, otherwise) {
    if (!models || !machine) return;
    const place = machine.gpus.length ? machine.gpus.join(" and ") : "no GPU, main memory";
    const freed = models.some((model) => model.fit === "tight")
      ? " ◐ marks what fits once other programs give memory back."
      : "";
    setText(
      this.memory,
      `This machine (${place}) has ${machine.memory}, of which ${machine.free} are free now.${freed}`,
    );
    const { activeElement } = document;
    const focused = this.list.contains(activeElement) && activeElement?.getAttribute("data-id");
    this.rows = models.map((model) => this.row(model, model.id === using, otherwise));
    this.list.replaceChildren(...this.rows.map((row) => row.element));
    this.narrow();
    if (focused) this.rows.find(({ id }) => id === focused)?.button.focus();
  }

  /** @param {CatalogEntry} model @param {boolean} used @param {boolean} otherwise */
  row(model, used, otherwise) {
    const cut = model.id.lastIndexOf("/") + 1;
    const [sign, fits] = FITS[model.fit];
    /** @type {(string | Node)[]} */
    const facts = [size(model.parameters), REASONS[model.reasoning] ?? model.kind, model.licence];
    const consent = asksFor(model.gated);
    if (consent) facts.push(h("span", { title: CONSENT }, consent));
    if (model.here) facts.push(model.here);
    // Where only fewer bits fit, those are what is loaded.
    /** @type {Record<string, string>} */
    const narrower = model.precision ? { precision: model.precision } : {};
    const word = used ? "Load anew" : "Load";
    const load = button(word, () => this.onload({ name: model.id, ...narrower }), {
      "data-id": model.id,
      "aria-label": `${word} ${model.id}`,
    });
    const offered = model.fit !== "no" && (!used || otherwise);
    const element = h(
      "li",
      { "data-fit": model.fit, "data-used": used },
      h(
        "div",
        { class: "who" },
        h("b", {}, model.id.slice(cut)),
        cut ? h("span", {}, model.id.slice(0, cut - 1)) : null,
        used ? h("em", {}, "in use") : null,
      ),
      h(
        "div",
        { class: "what" },
        facts.flatMap((fact, i) => (i ? [" · ", fact] : [fact])),
      ),
      h(
        "div",
        { class: "fit" },
        h("i", { "aria-hidden": "true" }, sign),
        ` ${fits} ${model.held && `in ${model.held}`} `,
      ),
      h(
        "div",
        { class: "need", title: "Weights, a context of 4,096 tokens and room" },
        `needs ${model.need}`,
      ),
      offered ? load : h("span"),
    );
    const text = [model.id, element.textContent, used ? "" : "load"].join(" ").toLowerCase();
    return { id: model.id, element, text, button: load };
  }

  /** Leave those that hold every word of the search. */
  narrow() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const { element, text } of this.rows) {
      element.hidden = !words.every((word) => text.includes(word));
      left += element.hidden ? 0 : 1;
    }
    this.none.hidden = left > 0;
    setText(this.counted, words.length ? count(left, "model") : "");
  }

  /** @param {boolean} busy */
  busy(busy) {
    for (const { button } of this.rows) set(button, { disabled: busy });
  }
}

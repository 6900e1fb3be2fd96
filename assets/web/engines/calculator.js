// "Try your own numbers": what each engine leaves of probabilities or logits that someone types in.

import { Knob } from "../composer/knob.js";
import { button, h, setText } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { choice } from "../core/fields.js";
import { LessonDialog } from "../lesson/dialog.js";
import { Comparison } from "./comparison.js";
import { EXAMPLES, faultOf, readNumbers } from "./numbers.js";

const PAUSE = 150; // milliseconds without typing before the server is asked
const KNOBS = /** @type {const} */ (["rho", "tau", "temperature", "min_p"]);

export class Calculator {
  /** @param {Spec} spec @param {Pick<Transport, "enginesTyped">} transport */
  constructor(spec, transport) {
    this.spec = spec;
    this.transport = transport;
    this.asked = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.pause = undefined;
    this.text = h("textarea", {
      rows: "6",
      spellcheck: "false",
      "aria-label": "Words and numbers",
    });
    this.text.addEventListener("input", () => this.wait());
    /** @type {Option[]} */
    const kinds = [
      ["probs", "probabilities"],
      ["logits", "logits"],
    ];
    this.kind = choice("These are", kinds, () => this.wait());
    /** @type {Option[]} */
    const engines = spec.engines.map(({ name, label }) => [name, label]);
    this.engine = choice("Yours is", engines, () => this.wait());
    const knob = (/** @type {KnobName} */ name) =>
      new Knob(spec.knobs[name], { onchange: () => this.wait() });
    this.knobs = Object.fromEntries(KNOBS.map((name) => [name, knob(name)]));
    this.problem = h("p", { class: "wrong", role: "alert" });
    this.comparison = new Comparison(spec, { whose: "yours", coin: "As ρ mixes" });
    this.dialog = new LessonDialog("Engines: would mine do the same?", "engines");
    this.dialog.body.append(this.content());
    this.take(EXAMPLES[0]);
  }

  content() {
    const examples = EXAMPLES.map((example) =>
      button(example.label, () => this.take(example), { class: "quiet" }),
    );
    return h(
      "div",
      { class: "calculator" },
      h(
        "div",
        { class: "typed-numbers" },
        h(
          "p",
          { class: "hint" },
          "One word a line with its number; a * behind it protects the word. Each engine here " +
            "has XTC by its own rule: the bars show what it leaves of your numbers.",
        ),
        this.text,
        this.problem,
        h("p", { class: "number-examples" }, "Try: ", examples),
        this.kind.element,
        this.engine.element,
        h(
          "div",
          { class: "editor-grid" },
          KNOBS.map((name) => this.knobs[name].element),
        ),
      ),
      this.comparison.element,
    );
  }

  /** @param {typeof EXAMPLES[number]} example */
  take({ text, values, part }) {
    this.comparison.part = part;
    this.text.value = text;
    this.kind.select.value = "probs";
    const all = { rho: 0.5, ...values };
    for (const [name, value] of Object.entries(all)) this.knobs[name].value = value;
    if (this.dialog.element.open) this.ask();
  }

  open() {
    this.dialog.open();
    this.ask();
  }

  wait() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.ask(), PAUSE);
  }

  async ask() {
    const { values, names, protect, wrong } = readNumbers(this.text.value);
    const logits = this.kind.select.value === "logits";
    const fault = wrong || (logits ? "" : faultOf(values));
    this.asked += 1;
    this.say(fault);
    if (fault) return;
    const { asked } = this;
    const dialect = this.engine.select.value;
    const order = this.spec.engines.find(({ name }) => name === dialect)?.order;
    const [rho, tau, temperature, minP] = KNOBS.map((name) => this.knobs[name].value);
    const xtc = { rho, tau, dialect, protected: protect };
    const sampler = { temperature, min_p: minP, order, xtc };
    try {
      const view = await this.transport.enginesTyped?.({ values, logits, sampler });
      if (asked !== this.asked || !view) return;
      this.say("");
      const texts = Object.fromEntries(names.map((name, i) => [i, name]));
      this.comparison.draw({ ...view, texts }, -1);
    } catch (error) {
      if (asked === this.asked) this.say(wordsOf(error));
    }
  }

  /** What is wrong; what is shown then is of the numbers before. @param {string} fault */
  say(fault) {
    setText(this.problem, fault);
    this.comparison.element.classList.toggle("of-before", fault !== "");
  }
}

/** The way to the calculator, which is made when someone first wants it. */
export class Numbers {
  /**
   * @param {Element} root
   * @param {Spec} spec
   * @param {Pick<Transport, "enginesTyped">} transport
   */
  constructor(root, spec, transport) {
    this.root = root;
    this.spec = spec;
    this.transport = transport;
    /** @type {Calculator | null} */
    this.calculator = null;
    const title = "What XTC does in llama.cpp, koboldcpp and others, on numbers of your own";
    this.button = button("Engines", () => this.open(), {
      class: "quiet to-engines",
      title,
    });
  }

  open() {
    if (!this.calculator) {
      this.calculator = new Calculator(this.spec, this.transport);
      this.root.append(this.calculator.dialog.element);
    }
    this.calculator.open();
  }
}

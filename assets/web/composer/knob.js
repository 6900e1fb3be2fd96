// One control for one setting, built from what `knobs.py` says about it.

import { h, set, setText, setting } from "../core/dom.js";

/**
 * What was typed: a number where it is one, with a point or a comma ("0,2"), else the text. In a
 * whole number a comma may stand for thousands, so there it is no number.
 */
export function typed(text, whole = false) {
  const trimmed = text.trim();
  const plain = !whole && /^[+-]?\d*,\d+$/.test(trimmed) ? trimmed.replace(",", ".") : trimmed;
  return plain !== "" && Number.isFinite(Number(plain)) ? Number(plain) : trimmed;
}

/** What is wrong with a value, in the words of the server; empty when nothing is. */
export function fault({ label, interval, min, max, open, integer }, value) {
  const words = `${label} must be ${interval}, but is `;
  if (typeof value !== "number") return words + (value === "" ? "empty" : `“${value}”`);
  const low = open[0] ? value > min : value >= min;
  const high = max === null || (open[1] ? value < max : value <= max);
  return low && high && (!integer || Number.isInteger(value)) ? "" : words + value;
}

let made = 0;

export class Knob {
  /** `onchange(value)` is called while the control moves. */
  constructor(spec, { onchange, slider = true, label = spec.label }) {
    this.spec = spec;
    made += 1;
    const id = `knob-${made}`;
    this.number = h("input", {
      type: "text",
      id,
      inputmode: spec.integer ? "numeric" : "decimal",
      autocomplete: "off",
      "data-field": spec.name,
      "aria-describedby": `${id}-help`,
    });
    this.range = h("input", {
      type: "range",
      min: spec.low,
      max: spec.high ?? spec.default * 10,
      step: spec.step,
      "aria-label": `${label}, slider`,
      tabindex: "-1",
    });
    this.whose = h("span", { class: "whose" });
    this.message = h("p", { class: "wrong", id: `${id}-wrong`, role: "alert" });
    this.element = h(
      "div",
      { class: "knob", title: spec.help },
      h("div", { class: "knob-line" }, h("label", { for: id }, label, this.whose), this.number),
      slider ? this.range : null,
      spec.hint ? h("small", { class: "hint" }, spec.hint) : null,
      h("span", { class: "visually-hidden", id: `${id}-help` }, `${spec.help} ${spec.interval}.`),
      this.message,
    );
    this.range.addEventListener("input", () => {
      this.number.value = setting(Number(this.range.value));
      this.clear();
      onchange(Number(this.range.value));
    });
    this.number.addEventListener("input", () => {
      const { value } = this;
      if (typeof value === "number") this.range.value = value;
      this.clear();
      onchange(value);
    });
    // Not while someone types: "0." is on the way to a number.
    this.number.addEventListener("change", () => this.judge());
    this.number.addEventListener("keydown", (event) => this.nudge(event));
  }

  /** Arrow keys step the number, as they do on a slider. */
  nudge(event) {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const { value } = this;
    if (!by || typeof value !== "number") return;
    event.preventDefault();
    const next = Math.round((value + by * this.spec.step) / this.spec.step) * this.spec.step;
    const { low, high } = this.spec;
    this.number.value = setting(
      Number(Math.max(low, Math.min(high ?? next, next)).toPrecision(12)),
    );
    this.number.dispatchEvent(new Event("input", { bubbles: true }));
  }

  get value() {
    return typed(this.number.value, this.spec.integer);
  }

  set value(value) {
    // What was typed stays as it is, with what is said of it.
    if (value === this.value) return;
    this.number.value = typeof value === "number" ? setting(value) : value;
    if (typeof value === "number") this.range.value = value;
    this.clear();
  }

  /** Say whose setting this is; "" where that is no question. */
  of(name) {
    setText(this.whose, name ? ` for ${name}` : "");
  }

  judge() {
    const message = fault(this.spec, this.value);
    if (message) this.mark(message);
    else this.clear();
  }

  mark(message) {
    setText(this.message, message);
    set(this.number, { "aria-invalid": "true", "aria-errormessage": this.message.id });
  }

  wrong(message) {
    this.mark(message);
    this.number.focus();
  }

  clear() {
    setText(this.message, "");
    set(this.number, { "aria-invalid": null, "aria-errormessage": null });
  }
}

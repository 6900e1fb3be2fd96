// One control for one setting, built from what `knobs.py` says about it.

import { h, set, setText } from "../core/dom.js";
import { setting } from "../core/format.js";
import { fault, typed } from "./typed.js";

let made = 0;

export class Knob {
  /**
   * `onchange(value)` is called while the control moves. Its label may be shorter than what
   * messages call it.
   * @param {KnobSpec} spec
   * @param {{ onchange: (value: Typed) => void, slider?: boolean, label?: string }} options
   */
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
      "aria-label": `${spec.label}, slider`,
      tabindex: "-1",
    });
    this.whose = h("span", { class: "whose" });
    this.message = h("p", { class: "wrong", id: `${id}-wrong`, role: "alert" });
    this.element = h(
      "div",
      { class: "knob", title: spec.help },
      h(
        "div",
        { class: "knob-line" },
        h(
          "label",
          { for: id },
          label,
          spec.hint ? h("small", { class: "hint" }, ` ${spec.hint}`) : null,
          this.whose,
        ),
        this.number,
      ),
      slider ? this.range : null,
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
      if (typeof value === "number") this.range.value = String(value);
      this.clear();
      onchange(value);
    });
    // Not while someone types: "0." is on the way to a number.
    this.number.addEventListener("change", () => this.judge());
    this.number.addEventListener("keydown", (event) => this.nudge(event));
  }

  /** Arrow keys step the number, as they do on a slider. @param {KeyboardEvent} event */
  nudge(event) {
    const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
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

  /** @param {Typed} value */
  set value(value) {
    // What was typed stays as it is, with what is said of it.
    if (value === this.value) return;
    this.number.value = typeof value === "number" ? setting(value) : value;
    if (typeof value === "number") this.range.value = String(value);
    this.clear();
  }

  /** Say whose setting this is; "" where that is no question. @param {string} name */
  of(name) {
    setText(this.whose, name ? ` for ${name}` : "");
  }

  judge() {
    const message = fault(this.spec, this.value);
    if (message) this.mark(message);
    else this.clear();
  }

  /** @param {string} message */
  mark(message) {
    setText(this.message, message);
    set(this.number, { "aria-invalid": "true", "aria-errormessage": this.message.id });
  }

  /** @param {string} message */
  wrong(message) {
    this.mark(message);
    this.number.focus();
  }

  clear() {
    setText(this.message, "");
    set(this.number, { "aria-invalid": null, "aria-errormessage": null });
  }
}

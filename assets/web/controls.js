// One control for one setting, built from what `settings.py` says about it.

import { h, set, setText, setting } from "./dom.js";

/** What was typed: a number where it is one, else the text, for the server to judge and name. */
export function typed(text) {
  const trimmed = text.trim();
  return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
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
    this.message = h("p", { class: "wrong", id: `${id}-wrong`, role: "alert" });
    this.element = h(
      "div",
      { class: "knob", title: spec.help },
      h("div", { class: "knob-line" }, h("label", { for: id }, label), this.number),
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
      const value = typed(this.number.value);
      if (typeof value === "number") this.range.value = value;
      this.clear();
      onchange(value);
    });
    this.number.addEventListener("keydown", (event) => this.nudge(event));
  }

  /** Arrow keys step the number, as they do on a slider. */
  nudge(event) {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const value = typed(this.number.value);
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
    return typed(this.number.value);
  }

  set value(value) {
    this.number.value = typeof value === "number" ? setting(value) : value;
    if (typeof value === "number") this.range.value = value;
    this.clear();
  }

  wrong(message) {
    setText(this.message, message);
    set(this.number, { "aria-invalid": "true", "aria-errormessage": this.message.id });
    this.number.focus();
  }

  clear() {
    setText(this.message, "");
    set(this.number, { "aria-invalid": null, "aria-errormessage": null });
  }
}

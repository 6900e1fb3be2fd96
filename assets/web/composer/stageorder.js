// The order of a lane's stages: a list in which each can be moved up or down.

import { button, h, set, setText } from "../core/dom.js";
import { isOn } from "../core/lanetag.js";

/**
 * A list with one entry moved by a place; the same list where there is no such place.
 * @param {string[]} order
 * @param {string} name
 * @param {1 | -1} by
 */
export function movedBy(order, name, by) {
  const at = order.indexOf(name);
  const to = at + by;
  if (at < 0 || to < 0 || to >= order.length) return order;
  const next = [...order];
  [next[at], next[to]] = [next[to], next[at]];
  return next;
}

export class StageOrder {
  /**
   * `onchange(order)` is called with the names of the stages in their new order.
   * @param {Spec} spec
   * @param {(order: string[]) => void} onchange
   */
  constructor(spec, onchange) {
    this.spec = spec;
    this.onchange = onchange;
    /** @type {string[]} */
    this.order = [];
    this.usual = spec.order.map(([name]) => name);
    this.rows = new Map(spec.order.map(([name, label]) => [name, this.row(name, label)]));
    this.list = h("ol", { class: "stage-order", "aria-label": "Order of the stages" });
    this.reset = button("Default order", () => this.move(this.usual), { class: "quiet" });
    this.said = h("p", { class: "visually-hidden", role: "status" });
    this.element = h(
      "details",
      { class: "order" },
      h("summary", {}, "Order of the stages"),
      h("p", { class: "hint" }, "They act from top to bottom. Pale ones are off in this lane."),
      this.list,
      this.reset,
      this.said,
    );
  }

  /** @param {string} name @param {string} label */
  row(name, label) {
    const state = h("small", {});
    const step = (/** @type {1 | -1} */ by) =>
      button(by < 0 ? "↑" : "↓", () => this.step(name, label, by), {
        class: "quiet",
        "aria-label": `Move ${label} ${by < 0 ? "up" : "down"}`,
      });
    const [up, down] = [step(-1), step(1)];
    const element = h("li", { "data-stage": name }, h("span", {}, label), state, up, down);
    return { element, state, up, down };
  }

  /** @param {string} name @param {string} label @param {1 | -1} by */
  step(name, label, by) {
    const { up, down } = this.rows.get(name) ?? {};
    this.move(movedBy(this.order, name, by));
    const place = this.order.indexOf(name) + 1;
    setText(this.said, `${label} is now stage ${place} of ${this.order.length}.`);
    // At an end of the list its button is off: the other one keeps the focus in the row.
    const [pressed, other] = by < 0 ? [up, down] : [down, up];
    (pressed?.disabled ? other : pressed)?.focus();
  }

  /** @param {string[]} order */
  move(order) {
    if (order.join() === this.order.join()) return;
    this.onchange([...order]);
  }

  /** Show the order of a lane. @param {Sampler<Typed>} sampler */
  fill(sampler) {
    this.order = sampler.order;
    const rows = this.order.flatMap((name) => this.rows.get(name) ?? []);
    // Only what moved is moved in the document, so that the focus stays where it is.
    for (const [i, { element }] of rows.entries()) {
      if (this.list.children[i] !== element) this.list.insertBefore(element, this.list.children[i]);
    }
    for (const [i, row] of rows.entries()) {
      const on = isOn(this.order[i], sampler, this.spec);
      set(row.element, { "data-on": on ? "" : null });
      setText(row.state, on ? "on" : "off");
      row.up.disabled = i === 0;
      row.down.disabled = i === rows.length - 1;
    }
    this.reset.disabled = this.order.join() === this.usual.join();
  }
}

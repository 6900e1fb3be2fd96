// The engine of a lane: whose rule its XTC follows, what that means, and that engine's own order.

import { dialectOf } from "../core/dialect.js";
import { button, h, setText } from "../core/dom.js";
import { choice } from "../core/fields.js";

/** @param {string[]} a @param {string[]} b */
const sameOrder = (a, b) => a.join() === b.join();

export class EngineChoice {
  /**
   * `onchange(engine, order)` is called with an engine's name and the order of stages to go with it.
   * @param {Pick<Spec, "engines">} spec
   * @param {(engine: string, order: string[]) => void} onchange
   */
  constructor(spec, onchange) {
    this.spec = spec;
    this.onchange = onchange;
    /** @type {string[]} The order of the lane, now and before an engine was chosen. */
    this.order = [];
    /** @type {string[] | null} */
    this.before = null;
    /** @type {Option[]} */
    const options = spec.engines.map(({ name, label }) => [name, label]);
    const { select, element } = choice("Engine", options, (name) => this.take(name));
    this.select = select;
    this.choice = element;
    this.meaning = h("span", {});
    this.turn = button("", () => this.turnOrder(), { class: "quiet" });
    this.words = h(
      "p",
      { class: "hint engine-words", role: "status" },
      this.meaning,
      " ",
      this.turn,
    );
  }

  get engine() {
    return this.spec.engines.find(({ name }) => name === this.select.value) ?? this.spec.engines[0];
  }

  /** An engine is chosen: its stages too stand in its own order. @param {string} name */
  take(name) {
    this.before = this.order;
    const engine = this.spec.engines.find((one) => one.name === name);
    if (engine) this.onchange(name, engine.order);
  }

  /** Its own order, or the one from before. */
  turnOrder() {
    const { engine, before } = this;
    const own = sameOrder(this.order, engine.order);
    if (own && before) this.onchange(engine.name, before);
    else if (!own) this.onchange(engine.name, engine.order);
  }

  /** Another lane is shown. @param {Sampler<Typed>} sampler */
  begin(sampler) {
    this.before = null;
    this.fill(sampler);
  }

  /** @param {Sampler<Typed>} sampler */
  fill({ xtc, order }) {
    this.select.value = dialectOf(xtc);
    this.order = order;
    const { engine, before } = this;
    setText(this.meaning, engine.meaning);
    const own = sameOrder(order, engine.order);
    const known = before !== null && !sameOrder(before, order);
    this.turn.hidden = own && !known;
    setText(
      this.turn,
      own ? "Its order of stages was taken too: put mine back" : "Take its order of stages too",
    );
  }
}

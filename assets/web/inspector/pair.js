// Two lanes side by side in the inspector: which other lane, and what there is to say about both.

import { h, sentence, set, setText, token } from "../core/dom.js";
import { Coin } from "./coin.js";
import { factsOfTwo, sameness, verdict } from "./words.js";

/** The switch: this lane alone, or beside another one. */
export class Beside {
  constructor(model, onchange) {
    this.model = model;
    this.onchange = onchange;
    this.on = false;
    this.mate = -1;
    this.lane = -1;
    const button = (on) => h("button", { type: "button", onclick: () => this.turn(on) });
    this.alone = button(false);
    this.both = button(true);
    setText(this.alone, "This lane");
    this.choice = h("select", { "aria-label": "Lane to compare with" });
    this.choice.addEventListener("change", () => {
      this.mate = Number(this.choice.value);
      this.turn(true);
    });
    this.element = h(
      "div",
      { class: "segmented beside", role: "group", "aria-label": "One lane or two" },
      this.alone,
      this.both,
      this.choice,
    );
  }

  turn(on) {
    this.on = on;
    this.onchange();
  }

  /** A lane is looked at: the other one stays, or, where it is that lane, both change places. */
  look(lane) {
    const { lanes } = this.model.run.head;
    const fits = (k) => k >= 0 && k < lanes.length && k !== lane;
    if (this.mate === lane) this.mate = this.lane;
    if (!fits(this.mate)) this.mate = lane ? 0 : 1;
    this.lane = lane;
    this.element.hidden = lanes.length < 2;
    if (this.element.hidden) return;
    const few = lanes.length === 2;
    setText(this.both, few ? `Beside ${lanes[this.mate].name}` : "Beside");
    set(this.alone, { "aria-pressed": String(!this.on) });
    set(this.both, { "aria-pressed": String(this.on) });
    this.choice.hidden = few;
    const others = lanes.flatMap(({ name }, k) => (k === lane ? [] : [[k, name]]));
    const key = JSON.stringify(others);
    if (this.key !== key) {
      this.key = key;
      this.choice.replaceChildren(...others.map(([k, name]) => h("option", { value: k }, name)));
    }
    this.choice.value = String(this.mate);
  }

  /** The lane to show beside `at`: -1 for none, whatever the reason. */
  other(at) {
    const there = this.on && this.model.chip({ lane: this.mate, i: at.i });
    return there && at.lane !== this.mate && !this.element.hidden ? this.mate : -1;
  }

  /** Why there is nothing beside `at`, where someone would expect it. */
  missing(at) {
    const { run } = this.model;
    if (!this.on || this.element.hidden || this.other(at) >= 0) return "";
    const { name } = run.head.lanes[this.mate];
    const { chips, finish } = run.lanes[this.mate];
    if (this.model.busy && !finish) return `${name} has not come this far yet.`;
    return `Nothing beside it: ${name} ended after ${chips.length} tokens.`;
  }
}

/** One of the two: its name, what it drew, what happened there. */
class Side {
  constructor(model, number) {
    this.name = h("button", { type: "button", class: "quiet" });
    this.name.addEventListener("click", () => model.select(this.at.lane, this.at.i, "step"));
    this.word = h("span", { class: "word" });
    this.tag = h("span", { class: "tag" });
    this.verdict = h("p", { class: "verdict" });
    this.said = h("p", { class: "said" });
    this.notes = h("div", { class: "notes" });
    this.element = h(
      "section",
      { class: "side", "data-testid": `side-${number}` },
      h("h3", {}, this.name, this.word, this.tag),
      this.verdict,
      this.said,
      this.notes,
    );
  }

  draw(look, own) {
    const { step, texts } = look;
    this.at = look.at;
    set(this.element, { "aria-label": look.name, "data-own": own ? "" : null });
    set(this.name, { "aria-current": own ? "true" : null });
    set(this.said, { "aria-live": own ? "polite" : null });
    setText(this.name, look.name);
    setText(this.tag, look.tag);
    this.word.replaceChildren(...(look.pending ? [] : [token(look.word)]));
    setText(this.verdict, verdict(step, look));
    set(this.verdict, { "data-outcome": step.outcome });
    this.said.replaceChildren(...sentence(look.said, texts));
    this.notes.replaceChildren(
      ...step.notes.map((note) => h("p", { class: "note" }, sentence(note, texts))),
    );
  }
}

export class Pair {
  constructor(model, knobs) {
    this.model = model;
    this.knobs = knobs;
    this.same = h("p", { class: "same", "data-testid": "same" });
    this.sides = [new Side(model, 0), new Side(model, 1)];
    this.coins = [new Coin(), new Coin()];
    this.coinNames = [h("p", { class: "tag" }), h("p", { class: "tag" })];
    this.coinWords = h("figcaption");
    this.names = [h("th", { scope: "col" }), h("th", { scope: "col" })];
    this.values = h("tbody");
    this.facts = h(
      "table",
      { class: "facts-of-two" },
      h("thead", {}, h("tr", {}, h("td"), this.names)),
      this.values,
    );
    this.element = h(
      "div",
      { class: "why pair", "data-testid": "pair" },
      this.same,
      ...this.sides.map((side) => side.element),
      h(
        "figure",
        { class: "coin-box" },
        this.coinWords,
        this.coins.flatMap((coin, k) => [this.coinNames[k], coin.element]),
      ),
      this.facts,
    );
  }

  /** `looks` are the two lanes in their order, `own` is which of them (0 or 1) is selected. */
  draw(looks, own) {
    const [a, b] = looks;
    const parted = this.model.parting(a.at.lane, b.at.lane);
    const samplers = looks.map((look) => look.sampler);
    setText(this.same, sameness(samplers, parted, a.at.i, this.knobs));
    const shared = a.step.coin === b.step.coin;
    setText(this.coinWords, shared ? "The coin: one draw for both" : "The coins");
    looks.forEach((look, k) => {
      this.sides[k].draw(look, k === own);
      setText(this.coinNames[k], look.name);
      this.coins[k].draw(look.step);
      setText(this.names[k], look.name);
    });
    this.facts.hidden = looks.some((look) => look.pending);
    this.fillFacts(factsOfTwo(looks.map((look) => look.step)));
  }

  fillFacts(lines) {
    if (!this.cells) {
      this.cells = lines.map(() => [h("th", { scope: "row" }), h("td"), h("td")]);
      this.values.replaceChildren(...this.cells.map((cells) => h("tr", {}, cells)));
    }
    lines.forEach((line, i) => {
      line.forEach((text, k) => {
        setText(this.cells[i][k], text);
      });
    });
  }
}

// The inspector: one step of one lane, as a sentence, a coin, bars, numbers and a table.

import { Bars, rows } from "./bars.js";
import { Coin } from "./coin.js";
import { decimal, h, percent, sentence, set, setText, token } from "./dom.js";
import { Stages } from "./stages.js";

const VERDICT = {
  fired: "XTC fired",
  skipped: "The coin said no",
  protected: "Protected",
  unambiguous: "No choice to make",
};
const WOULD = {
  fired: "XTC would fire",
  skipped: "the coin would say no",
  protected: "a protected token would hold XTC back",
  unambiguous: "no choice to make",
};
const KINDS = {
  removed: "removed",
  kept: "kept",
  eligible: "eligible",
  tail: "below τ",
  rest: "",
};

export class Inspector {
  /** `onbranch(at, token)` is called when someone wants to go on from a candidate. */
  constructor(model, onbranch) {
    this.model = model;
    this.onbranch = onbranch;
    this.bars = new Bars();
    this.bars.element.addEventListener("click", (event) => this.pick(event));
    this.stages = new Stages(model);
    this.fork = h("p", { class: "fork" });
    this.coin = new Coin();
    this.where = h("span", { class: "where" });
    this.others = h("p", { class: "others", "data-testid": "others" });
    this.verdict = h("span", { class: "verdict" });
    this.said = h("p", { class: "said", "aria-live": "polite", "data-testid": "sentence" });
    this.notes = h("div", { class: "notes" });
    this.facts = h("dl", { class: "facts" });
    this.table = h("tbody");
    this.details = h(
      "details",
      { class: "as-table" },
      h("summary", {}, "The same as a table"),
      h(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Candidates as a table" },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ["token", "before", "after", "state", "branch"].map((name) =>
                h("th", { scope: "col" }, name),
              ),
            ),
          ),
          this.table,
        ),
      ),
    );
    this.details.addEventListener("toggle", () => this.fillTable());
    this.empty = h("p", { class: "hint" }, "Click any word above to see how it was chosen.");
    this.previous = h(
      "button",
      { type: "button", class: "quiet", "aria-label": "Previous step", onclick: () => this.go(-1) },
      "←",
    );
    this.next = h(
      "button",
      { type: "button", class: "quiet", "aria-label": "Next step", onclick: () => this.go(1) },
      "→",
    );
    this.more = h(
      "select",
      { "aria-label": "How many candidates", onchange: () => this.setCandidates() },
      [10, 25, 50, 100].map((n) => h("option", { value: n }, `${n} candidates`)),
    );
    this.scale = h(
      "button",
      { type: "button", class: "quiet", "aria-pressed": "false", onclick: () => this.setLog() },
      "log scale",
    );
    this.left = h(
      "div",
      { class: "why" },
      this.said,
      this.others,
      this.notes,
      h("figure", { class: "coin-box" }, h("figcaption", {}, "The coin"), this.coin.element),
      this.facts,
    );
    this.key = h(
      "p",
      { class: "bar-key" },
      h("span", { class: "k eligible" }, "eligible"),
      h("span", { class: "k removed" }, "removed"),
      h("span", { class: "k kept" }, "kept"),
      h("span", { class: "k tail" }, "below τ"),
      h("span", {}, "▲ drawn"),
      h("span", {}, "△ would have been drawn"),
    );
    this.tools = h("div", { class: "bar-tools" }, this.more, this.scale);
    this.right = h(
      "div",
      { class: "dist" },
      this.bars.element,
      this.fork,
      this.key,
      this.tools,
      this.stages.element,
      this.details,
    );
    this.content = h("div", { class: "content", hidden: true }, this.left, this.right);
    this.element = h(
      "section",
      { class: "inspector", "aria-label": "Inspector: one step", "data-testid": "inspector" },
      h(
        "header",
        {},
        h("h2", {}, this.where),
        this.verdict,
        h("span", { class: "walk" }, this.previous, this.next),
      ),
      this.empty,
      this.content,
    );
    model.on("select block run imagine", () => this.update());
    model.on("chips", () => (this.waiting ? this.update() : undefined));
    this.update();
  }

  go(by) {
    const at = this.model.selected;
    if (at) this.model.select(at.lane, at.i + by, "step");
  }

  setCandidates() {
    this.model.candidates = Number(this.more.value);
    this.update();
  }

  setLog() {
    this.bars.log = !this.bars.log;
    set(this.scale, { "aria-pressed": String(this.bars.log) });
    this.update();
  }

  update() {
    const at = this.model.focus;
    const chip = this.model.chip(at);
    const pending = Boolean(chip) && at.i >= this.model.shown(at.lane);
    this.waiting = this.model.pending && !chip;
    this.empty.hidden = Boolean(chip);
    this.content.hidden = !chip;
    set(this.element, { "data-empty": chip ? null : "" });
    this.previous.disabled = !chip || at.i === 0;
    this.next.disabled = !chip || at.i + 1 >= this.model.shown(at.lane);
    if (!chip) {
      setText(this.where, "Nothing selected");
      setText(this.verdict, "");
      return;
    }
    const lane = this.model.run.head.lanes[at.lane];
    const word = pending ? "is not drawn yet" : token(chip.text || chip.sign || "");
    this.where.replaceChildren(`${lane.name} · token ${at.i + 1} `, word);
    const found = this.model.step(at);
    if (!found) {
      this.waiting = true;
      set(this.content, { "data-loading": "" });
      return;
    }
    set(this.content, { "data-loading": null });
    const { texts } = found;
    const imagined = Boolean(this.model.run.lanes[at.lane].imagined);
    const step = pending ? { ...found.step, token: -1, instead: -1, changed: false } : found.step;
    this.step = { step, texts };
    this.at = at;
    this.fillVerdict(step, pending, imagined);
    const rest = pending || imagined ? [] : step.drew;
    this.said.replaceChildren(...sentence([...step.said, ...rest], texts));
    this.fork.replaceChildren();
    this.fillOthers(at, pending);
    this.notes.replaceChildren(
      ...step.notes.map((note) => h("p", { class: "note" }, sentence(note, texts))),
    );
    this.coin.draw(step);
    this.bars.draw(step, texts, this.model.candidates);
    this.facts.hidden = pending;
    this.fillFacts(step);
    this.fillTable();
    if (this.model.selected === at) this.model.prefetch(at);
  }

  /** What the other lanes wrote at the same place; a click goes there. */
  fillOthers(at, pending) {
    const { run } = this.model;
    const places = run.lanes.flatMap((lane, k) => {
      const chip = lane.chips[at.i];
      if (k === at.lane || !chip || pending || at.i >= this.model.shown(k)) return [];
      const go = () => this.model.select(k, at.i, "step");
      const words = [`${run.head.lanes[k].name} `, token(chip.text || chip.sign || "")];
      return [h("button", { type: "button", class: "quiet", onclick: go }, words)];
    });
    this.others.replaceChildren(...(places.length ? ["At the same place: ", ...places] : []));
  }

  fillVerdict(step, pending, imagined) {
    const words =
      VERDICT[step.outcome] + (step.changed && !imagined ? " and changed the word" : "");
    let text = words;
    if (imagined) text = `What if: ${WOULD[step.outcome]}`;
    else if (step.forced) text = "You chose this token";
    else if (pending && step.outcome === "fired") text = "XTC fires";
    setText(this.verdict, text);
    set(this.verdict, { "data-outcome": step.outcome });
  }

  /** A row of the bars was chosen: offer to go on from there with its token. */
  pick(event) {
    const id = Number(event.target.closest(".row")?.dataset.id ?? -1);
    if (id < 0 || !this.onbranch || !this.step) return;
    this.fork.replaceChildren(this.branchButton(id, this.at));
  }

  branchButton(id, at) {
    const { step, texts } = this.step;
    const words = step.removed.includes(id)
      ? "Restore and continue with "
      : "Continue from here with ";
    return h(
      "button",
      { type: "button", onclick: () => this.onbranch(at, id) },
      words,
      token(texts[id] ?? "?"),
    );
  }

  fillFacts(step) {
    const facts = [
      ["Rank of the drawn token", String(step.rank)],
      ["Surprise", `${decimal(-Math.log2(step.p))} bits`],
      ["Uncertainty (entropy)", `${decimal(step.entropy / Math.LN2)} bits`],
      ["Eligible tokens", String(step.eligible)],
    ];
    if (step.outcome === "fired") facts.push(["Removed", percent(step.removed_mass)]);
    else facts.push(["Could be removed", percent(step.removable_mass)]);
    if (!this.values) {
      this.values = facts.map(() => [h("dt"), h("dd")]);
      this.facts.replaceChildren(...this.values.map(([a, b]) => h("div", {}, a, b)));
    }
    facts.forEach(([name, value], i) => {
      setText(this.values[i][0], name);
      setText(this.values[i][1], value);
    });
  }

  branchLink(row) {
    const { at } = this;
    return h(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": `Continue from here with ${row.text}`,
        onclick: () => this.onbranch(at, row.id),
      },
      "continue",
    );
  }

  fillTable() {
    if (!this.details.open || !this.step) return;
    const { step, texts } = this.step;
    this.table.replaceChildren(
      ...rows(step, texts, this.model.candidates).map((row) => {
        const states = [KINDS[row.kind]];
        if (row.drawn) states.push("drawn");
        if (row.instead) states.push("would have been drawn");
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, row.id < 0 ? row.text : token(row.text)),
          h("td", {}, percent(row.p)),
          h("td", {}, percent(row.q)),
          h("td", {}, states.filter(Boolean).join(", ")),
          h("td", {}, row.id < 0 || !this.onbranch ? "" : this.branchLink(row)),
        );
      }),
    );
  }
}

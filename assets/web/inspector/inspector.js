// The inspector: one step of one lane, or of two lanes beside one another, as sentences, coins,
// bars, numbers and a table.

import { h, sentence, set, setText, token } from "../core/dom.js";
import { Bars } from "./bars.js";
import { beforeAndAfter, sideBySide } from "./barviews.js";
import { Coin } from "./coin.js";
import { rows, together } from "./distribution.js";
import { Beside, Pair } from "./pair.js";
import { Stages } from "./stages.js";
import { Table } from "./table.js";
import { caption, drawnSign, facts, laneTag, verdict } from "./words.js";

// Two lanes have different favourites: the one's are looked up among so many of the other.
const DEEP = 50;

export class Inspector {
  /** `onbranch(at, token)` is called when someone wants to go on from a candidate. */
  constructor(model, onbranch, spec) {
    this.model = model;
    this.onbranch = onbranch;
    this.knobs = spec.knobs;
    this.beside = new Beside(model, () => this.pairUp());
    this.pair = new Pair(model, spec.knobs);
    this.bars = new Bars();
    this.bars.element.addEventListener("click", (event) => this.pick(event));
    this.stages = new Stages(model);
    this.fork = h("p", { class: "fork", "data-testid": "fork", hidden: !onbranch });
    this.offer = h("span", { class: "hint" }, "Click a word to continue the text with it.");
    this.fork.append(this.offer);
    this.coin = new Coin();
    this.where = h("span", { class: "where" });
    this.others = h("p", { class: "others", "data-testid": "others" });
    this.verdict = h("span", { class: "verdict" });
    this.said = h("p", { class: "said", "aria-live": "polite", "data-testid": "sentence" });
    this.notes = h("div", { class: "notes" });
    this.facts = h("dl", { class: "facts" });
    this.table = new Table(onbranch);
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
    this.keyOfTwo = h("span", { class: "k of-two" }, "wide: before XTC, thin: after");
    this.drawnKey = h("span", {}, "▲ drawn");
    this.key = h(
      "p",
      { class: "bar-key" },
      h("span", { class: "k eligible" }, "eligible"),
      h("span", { class: "k removed" }, "removed"),
      h("span", { class: "k kept" }, "kept"),
      h("span", { class: "k tail" }, "below τ"),
      this.drawnKey,
      h("span", {}, "△ would have been drawn"),
      this.keyOfTwo,
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
      this.table.element,
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
        this.beside.element,
        h("span", { class: "walk" }, this.previous, this.next),
      ),
      this.empty,
      this.content,
    );
    model.on("select block run imagine state", () => this.update());
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

  /** One lane or two was chosen, or another lane to compare with. */
  pairUp() {
    this.model.atLeast = this.beside.on ? DEEP : 0;
    this.update();
  }

  /** All there is to know of a lane at a place; undefined while its record is on its way. */
  look(at) {
    const found = this.model.step(at);
    if (!found) return undefined;
    const { run } = this.model;
    const { name, sampler } = run.head.lanes[at.lane];
    const chip = this.model.chip(at);
    const imagined = run.lanes[at.lane].imagined;
    const pending = at.i >= this.model.shown(at.lane);
    const hidden = { token: -1, instead: -1, changed: false, sure: found.step.token };
    const step = pending ? { ...found.step, ...hidden } : found.step;
    const xtc = { ...sampler.xtc, ...imagined?.xtc };
    // A what-if draws nothing, but the text's own token may be among those it removes.
    const silent = pending || (imagined && !step.removed.includes(step.token));
    return {
      at,
      name,
      step,
      texts: found.texts,
      sampler: { ...sampler, xtc },
      tag: (imagined ? "what if " : "") + laneTag({ ...sampler, xtc }, this.knobs),
      word: chip.text || chip.sign || "",
      said: silent ? step.said : [...step.said, ...step.drew],
      imagined: Boolean(imagined),
      pending,
    };
  }

  update() {
    const at = this.model.focus;
    const chip = this.model.chip(at);
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
    this.beside.look(at.lane);
    const other = this.beside.other(at);
    this.title(at, chip);
    const own = this.look(at);
    const mate = other < 0 ? null : this.look({ lane: other, i: at.i });
    // A look that is still on its way comes with a block.
    const loading = !own || mate === undefined;
    set(this.content, { "data-loading": loading ? "" : null });
    this.waiting = loading || Boolean(this.beside.missing(at));
    if (loading) return;
    if (this.fork.firstChild !== this.offer) this.fork.replaceChildren(this.offer);
    const left = mate ? this.pair.element : this.left;
    if (this.content.firstChild !== left) this.content.firstChild.replaceWith(left);
    this.keyOfTwo.hidden = !mate;
    setText(this.drawnKey, `▲ ${drawnSign(own.imagined || mate?.imagined)}`);
    this.stages.whose(mate ? own.name : "");
    if (mate) this.drawTwo(own, mate);
    else this.drawOne(own);
    if (this.model.selected === at) this.model.prefetch(at);
  }

  title(at, chip) {
    const pending = at.i >= this.model.shown(at.lane);
    const { name } = this.model.run.head.lanes[at.lane];
    const word = pending ? "is not drawn yet" : token(chip.text || chip.sign || "");
    this.where.replaceChildren(`${name} · token ${at.i + 1} `, word);
  }

  drawOne(look) {
    const { step, texts } = look;
    this.looks = [look];
    setText(this.verdict, verdict(step, look));
    set(this.verdict, { "data-outcome": step.outcome });
    this.said.replaceChildren(...sentence(look.said, texts));
    this.fillOthers(look);
    this.notes.replaceChildren(
      ...step.notes.map((note) => h("p", { class: "note" }, sentence(note, texts))),
    );
    this.coin.draw(step);
    const list = rows(step, texts, this.model.candidates);
    this.bars.draw(beforeAndAfter(step, list, this.open(look)));
    this.facts.hidden = look.pending;
    this.fillFacts(step);
    this.table.draw(
      [look],
      list.map((row) => ({ ...row, cells: [row] })),
    );
  }

  /** Two lanes at the same place, in the order in which they stand on the page. */
  drawTwo(own, mate) {
    const looks = [own, mate].sort((a, b) => a.at.lane - b.at.lane);
    const first = looks.indexOf(own);
    this.looks = looks;
    setText(this.verdict, "");
    set(this.verdict, { "data-outcome": null });
    this.pair.draw(looks, first);
    const steps = looks.map((look) => look.step);
    const texts = looks.map((look) => look.texts);
    const list = together(steps, texts, this.model.candidates, first);
    const heads = looks.map((look, k) => ({
      title: look.name,
      tag: look.tag,
      tau: look.step.tau,
      own: k === first,
      open: this.open(look),
    }));
    this.bars.draw(sideBySide(heads, list));
    this.table.draw(looks, list);
  }

  /** What the other lanes wrote at the same place; a click goes there. */
  fillOthers({ at, pending }) {
    const { run } = this.model;
    const missing = this.beside.missing(at);
    const places = run.lanes.flatMap((lane, k) => {
      const chip = lane.chips[at.i];
      if (k === at.lane || !chip || pending || at.i >= this.model.shown(k)) return [];
      const go = () => this.model.select(k, at.i, "step");
      const words = [`${run.head.lanes[k].name} `, token(chip.text || chip.sign || "")];
      return [h("button", { type: "button", class: "quiet", onclick: go }, words)];
    });
    const list = places.length ? ["At the same place: ", ...places] : [];
    this.others.replaceChildren(...list, missing);
  }

  /** The bars with what has to be said of them elsewhere; null without any. */
  figure() {
    const { run, focus } = this.model;
    if (!focus || !this.looks) return null;
    const key = [...this.key.children]
      .filter((entry) => !entry.hidden)
      .map((entry) => [entry.className.replace(/^k /, ""), entry.textContent]);
    const { prompt, model, seed } = run.head;
    const foot = `xtc_viz · model ${model.name} · seed ${seed}`;
    return { svg: this.bars.svg, head: caption(prompt, this.looks), key, foot };
  }

  fillFacts(step) {
    const found = facts(step);
    if (!this.values) {
      this.values = found.map(() => [h("dt"), h("dd")]);
      this.facts.replaceChildren(...this.values.map(([a, b]) => h("div", {}, a, b)));
    }
    found.forEach(([name, value], i) => {
      setText(this.values[i][0], name);
      setText(this.values[i][1], value);
    });
  }

  /** Whether one can go on from here with what XTC removed: a what-if only imagines that. */
  open({ imagined }) {
    return Boolean(this.onbranch) && !imagined;
  }

  /** A row of the bars was chosen: offer to go on from there with its token. */
  pick({ target }) {
    const id = Number(target.closest(".row, .words")?.dataset.id ?? -1);
    if (id < 0 || !this.onbranch || !this.looks) return;
    const link = target.closest(".restore");
    if (link) {
      const { at } = this.looks[Math.min(link.dataset.side, this.looks.length - 1)];
      return this.onbranch(at, id);
    }
    const places = this.looks.filter((look) => look.step.ids.includes(id));
    const buttons = places.map((look) => this.branchButton(id, look));
    const which = this.looks.length > 1 ? ["Continue with ", this.word(id), " in"] : [];
    this.fork.replaceChildren(...which, ...buttons);
  }

  /** A token that one of the lanes on show recorded. */
  word(id) {
    return token(this.looks.map(({ texts }) => texts[id]).find((text) => text) ?? "?");
  }

  branchButton(id, { at, name, step, texts, imagined }) {
    const single = this.looks.length === 1;
    const restores = step.removed.includes(id) && !imagined;
    const verb = restores ? "Restore and continue" : "Continue";
    const words = restores ? "Restore and continue with " : "Continue from here with ";
    const label = single ? null : `${verb} ${name} with ${texts[id] ?? "?"}`;
    const onclick = () => this.onbranch(at, id);
    return h(
      "button",
      { type: "button", "aria-label": label, onclick },
      single ? [words, this.word(id)] : name,
    );
  }
}

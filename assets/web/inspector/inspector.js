// The inspector: one step of one lane, or of two lanes beside one another, as sentences, coins,
// bars, numbers and a table.

import { button, h, set, setText, token } from "../core/dom.js";
import { Engines } from "../engines/view.js";
import { origin, stepLines } from "../export/names.js";
import { Bars } from "./bars.js";
import { beforeAndAfter, sideBySide } from "./barviews.js";
import { Beside } from "./beside.js";
import { rows, together } from "./distribution.js";
import { Fork } from "./fork.js";
import { lookAt, sideBySideTags } from "./look.js";
import { Pair } from "./pair.js";
import { RowButtons } from "./rowbuttons.js";
import { Single } from "./single.js";
import { Stages } from "./stages.js";
import { Table } from "./table.js";
import { drawnSign, tailShare, verdict } from "./words.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { BarView } from "./barparts.js" */
/** @import { Branching, Standing } from "./fork.js" */

// Two lanes have different favourites: the one's are looked up among so many of the other.
const DEEP = 50;

export class Inspector {
  /**
   * `branching` goes on from a step with another word, null where there is no server; `numbers()`
   * opens the engines on numbers that one types in.
   * @param {Playback} playback
   * @param {Spec} spec
   * @param {Transport} transport
   * @param {Branching | null} branching
   * @param {() => void} numbers
   */
  constructor(playback, spec, transport, branching, numbers) {
    this.playback = playback;
    this.spec = spec;
    this.waiting = false;
    /** @type {Look[]} What is drawn. */
    this.looks = [];
    this.beside = new Beside(playback, () => this.pairUp());
    this.single = new Single(playback);
    this.pair = new Pair(playback, spec.knobs);
    this.bars = new Bars();
    /** @type {((view: BarView) => BarView) | null} Shows a part of the bars, in the tour. */
    this.lens = null;
    this.fork = new Fork(playback, branching);
    this.buttons = new RowButtons(this.bars.svg, {
      // The tour shows what the bars mean; nothing begins there.
      onpick: (id, at) => !this.lens && this.fork.pick(id, this.bars.sideAt(at)),
      onpoint: (id, at) => this.fork.point(id, this.bars.sideAt(at)),
    });
    this.stages = new Stages(playback, spec, transport);
    this.engines = new Engines(playback, spec, transport, numbers);
    this.table = new Table(this.fork);
    this.where = h("span", { class: "where" });
    this.verdict = h("span", { class: "verdict" });
    this.empty = h("p", { class: "hint" }, "Choose any word to see how it was chosen.");
    const walk = { class: "quiet" };
    this.previous = button("←", () => this.go(-1), { ...walk, "aria-label": "Previous step" });
    this.next = button("→", () => this.go(1), { ...walk, "aria-label": "Next step" });
    this.keyOfTwo = h("span", { class: "k of-two" }, "wide: before XTC, thin: after");
    this.tailKey = h("span", { class: "k tail" });
    this.drawnKey = h("span", {}, "▲ drawn");
    this.key = this.barKey();
    this.content = h(
      "div",
      { class: "content", hidden: true },
      this.single.lead,
      h("div", { class: "dist" }, this.bars.element, this.fork.element, this.key, this.barTools()),
      this.single.more,
      h("div", { class: "folded" }, this.stages.element, this.engines.element, this.table.element),
    );
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
    playback.on("select block run imagine state", () => this.update());
    playback.on("chips", () => this.waiting && this.update());
    this.update();
  }

  /** What the bars' colours and signs mean. */
  barKey() {
    return h(
      "p",
      { class: "bar-key" },
      h("span", { class: "k eligible" }, "eligible"),
      h("span", { class: "k removed" }, "removed"),
      h("span", { class: "k kept" }, "kept"),
      this.tailKey,
      this.drawnKey,
      h("span", {}, "△ would have been drawn"),
      this.keyOfTwo,
    );
  }

  /** How many candidates the bars show, and on which scale. */
  barTools() {
    const more = h(
      "select",
      { "aria-label": "How many candidates" },
      [10, 25, 50, 100].map((n) => h("option", { value: n }, `${n} candidates`)),
    );
    more.addEventListener("change", () => {
      this.playback.setCandidates(Number(more.value));
      this.update();
    });
    const scale = button(
      "log scale",
      () => {
        set(scale, { "aria-pressed": String(this.bars.toggleScale()) });
        this.update();
      },
      { class: "quiet", "aria-pressed": "false" },
    );
    return h("div", { class: "bar-tools" }, more, scale);
  }

  /** Whether there is a step and all of it is drawn. */
  get settled() {
    return !this.content.hidden && !this.content.hasAttribute("data-loading");
  }

  /** @param {1 | -1} by */
  go(by) {
    const at = this.playback.selected;
    if (at) this.playback.select(at.lane, at.i + by, "step");
  }

  turnBeside() {
    this.beside.turn(!this.beside.on);
  }

  /** One lane or two was chosen, or another lane to compare with. */
  pairUp() {
    this.playback.setDeep(this.beside.on ? DEEP : 0);
    this.update();
  }

  update() {
    const { playback } = this;
    const { run, focus: at } = playback;
    const chip = run?.chip(at);
    this.waiting = playback.pending && !chip;
    this.empty.hidden = Boolean(chip);
    this.content.hidden = !chip;
    set(this.element, { "data-empty": chip ? null : "" });
    this.previous.disabled = !at || !chip || at.i === 0;
    this.next.disabled = !at || !chip || at.i + 1 >= playback.shown(at.lane);
    if (!run || !at || !chip) {
      setText(this.where, "Nothing selected");
      setText(this.verdict, "");
      return;
    }
    this.beside.look(run, at.lane);
    const other = this.beside.other(run, at);
    const missing = this.beside.missing(run, at);
    this.fillTitle(at, chip, run.head.lanes[at.lane].name);
    const own = lookAt(playback, at, this.spec);
    const mate = other < 0 ? null : lookAt(playback, { lane: other, i: at.i }, this.spec);
    // A look that is still on its way comes with a block.
    const loading = !own || mate === undefined;
    set(this.content, { "data-loading": loading ? "" : null });
    this.waiting = loading || Boolean(missing);
    if (loading) return;
    this.draw(own, mate, missing);
    if (playback.selected === at) playback.prefetch(at);
  }

  /** @param {Place} at @param {Chip} chip @param {string} name */
  fillTitle(at, chip, name) {
    const pending = at.i >= this.playback.shown(at.lane);
    const word = pending ? "is not drawn yet" : token(chip.text || chip.sign || "");
    this.where.replaceChildren(`${name} · token ${at.i + 1} `, word);
  }

  /** @param {Look} own @param {Look | null} mate @param {string} missing */
  draw(own, mate, missing) {
    // Two lanes stand in the order in which they stand on the page.
    const first = mate && mate.at.lane < own.at.lane;
    const looks = mate ? sideBySideTags(first ? [mate, own] : [own, mate], this.spec) : [own];
    const at = first ? 1 : 0;
    this.looks = looks;
    this.fork.draw(looks, at);
    this.show(mate ? this.pair : this.single);
    this.keyOfTwo.hidden = !mate;
    setText(this.tailKey, mate ? "below τ" : `below τ, implausible: ${tailShare(own.step)}`);
    setText(this.drawnKey, `▲ ${drawnSign(looks.some((look) => look.imagined))}`);
    this.stages.setName(mate ? own.name : "");
    setText(this.verdict, mate ? "" : verdict(own.step, own));
    set(this.verdict, { "data-outcome": mate || own.step.forced ? null : own.step.outcome });
    if (mate) this.drawTwo(looks, at);
    else this.drawOne(own, missing);
  }

  /** The words of one lane, or of two. @param {Single | Pair} words */
  show({ lead, more }) {
    const { firstChild } = this.content;
    if (firstChild === lead) return;
    firstChild?.replaceWith(lead);
    this.content.querySelector(".why-more")?.replaceWith(more);
  }

  /** @param {Look} look @param {string} missing */
  drawOne(look, missing) {
    const { step, texts } = look;
    this.single.draw(look, missing);
    const list = rows(step, texts, this.playback.candidates);
    const view = beforeAndAfter(step, list, this.fork.restores(look));
    this.drawBars(this.lens?.(view) ?? view);
    const cells = list.map((row) => ({ ...row, cells: [row] }));
    this.table.draw([look], cells, this.origin([look]));
  }

  /** @param {Look[]} looks @param {number} own which of them is selected */
  drawTwo(looks, own) {
    this.pair.draw(looks, own);
    const steps = looks.map((look) => look.step);
    const texts = looks.map((look) => look.texts);
    const list = together(steps, texts, this.playback.candidates, own);
    const heads = looks.map((look, k) => ({
      title: look.name,
      tag: look.tag,
      tau: look.step.tau,
      own: k === own,
      open: this.fork.restores(look),
    }));
    this.drawBars(sideBySide(heads, list));
    this.table.draw(looks, list, this.origin(looks));
  }

  /** @param {BarView} view */
  drawBars(view) {
    const deed = this.fork.label.bind(this.fork);
    this.bars.draw(this.fork.open && !this.lens ? { ...view, deed } : view);
    this.buttons.mark();
  }

  /** Whether one can go on from here has changed. @param {Standing} standing */
  stand(standing) {
    const before = this.fork.open;
    this.fork.stand(standing);
    if (this.fork.open !== before) this.update();
  }

  /** What wrote a step. @param {Look[]} looks */
  origin(looks) {
    const { run } = this.playback;
    return run ? [...stepLines(looks, run.head.prompt, this.spec), origin(run.head)] : [];
  }

  /** How a step is drawn: on which scale, beside which lane, and what of its engines. */
  get drawing() {
    return { log: this.bars.log, mate: this.beside.mate, ...this.engines.drawing };
  }
}

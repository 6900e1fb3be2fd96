// One lane: its words, one span for each token, under a line of numbers.

import { h, set, setText, token } from "../core/dom.js";
import { percent, turns } from "../core/format.js";
import { besideName, laneTagAmong } from "../core/lanetag.js";
import { OUTCOMES } from "../session/chips.js";
import { LaneEdit } from "./laneedit.js";
import { LaneMenu } from "./lanemenu.js";
import { numbers } from "./numbers.js";
import { Thought } from "./thought.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { Run } from "../session/run.js" */
/** @import { LaneActions } from "./lanemenu.js" */

const SPLIT_WORDS = 110; // pixels of "identical up to here", as in the style sheet
const WORD = 8; // tokens in which a word has come to its end, and its line with it

/**
 * How strongly a chip is coloured in the modes that show an amount, 0 to 6.
 * @param {Chip} chip
 * @param {string} mode
 */
export function level(chip, mode) {
  if (mode === "probability") return Math.min(6, Math.floor((1 - chip.p) * 6.999));
  if (mode === "rank") return Math.min(6, Math.floor(Math.log2(chip.rank)));
  if (mode === "surprisal")
    return Math.min(6, Math.floor(-Math.log2(Math.max(chip.p, 1e-4)) / 1.5));
  if (mode === "entropy") return Math.min(6, Math.floor(chip.entropy * 1.6));
  return 0;
}

/** @param {Chip} chip @param {number} i @param {boolean} off whether XTC is off in its lane */
function title(chip, i, off) {
  const parts = [`#${i + 1}`, `p ${percent(chip.p)}`, `rank ${chip.rank}`];
  if (chip.outcome) parts.push(off ? "XTC is off" : OUTCOMES[chip.outcome]);
  if (chip.changed) parts.push("changed");
  if (chip.tail) parts.push("from below τ");
  if (chip.forced) parts.push("chosen by you");
  return parts.join(" · ");
}

export class Lane {
  /**
   * Without `actions` its text can be taken away, and no more.
   * @param {Playback} playback
   * @param {Run} run
   * @param {number} index
   * @param {Spec} spec
   * @param {LaneActions | null} actions
   */
  constructor(playback, run, index, spec, actions) {
    this.playback = playback;
    this.run = run;
    this.index = index;
    this.spec = spec;
    const { head } = this;
    this.numbers = h("p", { class: "numbers", "data-testid": `numbers-${index}` });
    this.more = h("p", { class: "more" });
    this.tokens = h("span", {
      class: "tokens",
      role: "listbox",
      tabindex: "0",
      id: `lane-${index}`,
      "aria-label": `${head.name}: the words it wrote`,
      "aria-orientation": "horizontal",
    });
    // The prompt stands in the first paragraph, so that every paragraph is a box of its own.
    this.prompt = h("span", { class: "prompt", role: "option", "aria-disabled": "true" });
    this.fillPrompt();
    this.tokens.append(h("span", { class: "para", role: "presentation" }, this.prompt));
    this.body = h("div", { class: "text" }, this.tokens);
    this.title = h("h2", {}, head.name);
    this.tag = h(
      "span",
      { class: "tag" },
      besideName(laneTagAmong(this.samplers(), index, spec), head.name),
    );
    this.edit = actions && new LaneEdit(run, index, actions);
    this.menu = new LaneMenu(run, index, spec, actions, () => this.edit?.open(this.body));
    this.tools = h("span", { class: "tools" }, this.menu.element);
    const parent = head.branch ? this.origin(head.branch) : null;
    this.element = h(
      "section",
      {
        class: head.sampler.xtc.rho > 0 ? "lane" : "lane off",
        "aria-label": `Lane ${head.name}`,
        "data-lane": index,
      },
      h(
        "header",
        {},
        h("div", { class: "name" }, this.title, this.tag, parent, this.tools),
        this.numbers,
        this.more,
      ),
      this.body,
    );
    /** @type {HTMLElement[]} */
    this.spans = [];
    /** @type {{ at: number, node: HTMLElement } | null} Where the lanes part. */
    this.mark = null;
    this.thought = new Thought(this);
    // Whether the end is in view, and is to stay there while tokens come.
    this.follow = true;
    // Whether the word that it branched with is looked at, and is to stay in view meanwhile.
    this.held = false;
    this.ending = 0;
    /** @type {Imagined | null} What the tag speaks of. */
    this.tagged = null;
    const { body } = this;
    body.addEventListener(
      "scroll",
      () => {
        this.follow = body.scrollHeight - body.scrollTop - body.clientHeight < 80;
      },
      { passive: true },
    );
  }

  get head() {
    return this.run.head.lanes[this.index];
  }

  /** The settings of all lanes, this one with another XTC. @param {OtherXtc} [other] */
  samplers(other) {
    return this.run.head.lanes.map(({ sampler }, k) =>
      k === this.index ? { ...sampler, xtc: { ...sampler.xtc, ...other } } : sampler,
    );
  }

  /** What it has written. */
  get state() {
    return this.run.lanes[this.index];
  }

  get shown() {
    return this.playback.shown(this.index);
  }

  /** Once a frame, after all lanes have grown: looking at sizes earlier would cost a layout each. */
  toEnd() {
    if (this.ending) return;
    this.ending = requestAnimationFrame(() => {
      this.ending = 0;
      this.body.scrollTop = 1e9;
    });
  }

  /** Leave the end: there is something else to look at. */
  leaveEnd() {
    cancelAnimationFrame(this.ending);
    this.ending = 0;
  }

  /** The prompt as text, or token by token. */
  fillPrompt() {
    const { prompt, pieces } = this.run.head;
    const words = this.playback.pieces ? pieces.map((text) => token(text)) : [prompt];
    this.prompt.replaceChildren(...words);
    this.prompt.classList.toggle("turns", turns(prompt));
  }

  /** @param {[number, number]} branch */
  origin([lane, position]) {
    const { name } = this.run.head.lanes[lane];
    return h("span", { class: "tag" }, `from ${name}, token ${position + 1}`);
  }

  /** @param {Chip} chip @param {number} i */
  className(chip, i) {
    const { mode } = this.playback;
    const shown = this.run.outcome(this.index, i);
    let name = `t o${shown.outcome}`;
    if (shown.changed) name += " changed";
    if (shown.tail) name += " tail";
    if (shown.imagined) name += " imagined";
    if (chip.forced) name += " forced";
    if (!chip.text) name += " void";
    else if (/^\s+$/.test(chip.text)) name += " blank";
    if (chip.text.includes("\n")) name += " nl";
    if (turns(chip.text)) name += " turns";
    if (mode === "difference") {
      const other = this.run.lanes[this.index ? 0 : 1]?.chips[i];
      if (!other || other.id !== chip.id) name += " other";
    } else if (mode !== "outcome") name += ` v${level(chip, mode)}`;
    return name;
  }

  append() {
    const { chips, splits } = this.state;
    const until = this.shown;
    const grown = this.spans.length < until;
    for (let i = this.spans.length; i < until; i++) {
      const span = this.span(chips[i], i);
      this.paragraph(i).append(span);
      this.spans.push(span);
    }
    // With dice of their own, lanes that part at once had nothing but the prompt in common.
    const apart = splits === 0 && !this.run.head.shared;
    this.split(splits < until && !apart ? splits : -1);
    if (grown && this.mark && until < this.mark.at + WORD) this.fitSplit();
    if (grown && this.follow && !this.held && this.playback.busy) this.toEnd();
    this.count();
  }

  /** @param {Chip} chip @param {number} i */
  span(chip, i) {
    const span = document.createElement("span");
    span.className = this.className(chip, i);
    span.dataset.i = String(i);
    span.id = `t${this.index}-${i}`;
    span.setAttribute("role", "option");
    span.title = title(chip, i, this.head.sampler.xtc.rho === 0);
    // The marks belong to the word and not to the space before it, which may end a line.
    const word = document.createElement("span");
    word.className = "w";
    const cut = chip.text.search(/\S/);
    const space = cut > 0 ? chip.text.slice(0, cut) : "";
    word.textContent = chip.text.slice(space.length);
    span.append(space, word);
    if (!chip.text) {
      word.dataset.sign = chip.sign || "∅";
      span.setAttribute("aria-label", chip.sign || "no text");
    }
    return span;
  }

  /**
   * Where token i goes: each paragraph is a box of its own, laid out apart from the others.
   * @param {number} i
   * @returns {Node & ParentNode}
   */
  paragraph(i) {
    const { lastElementChild } = this.tokens;
    const fresh = this.thought.ends(i) || this.state.chips[i - 1]?.text.endsWith("\n");
    if (lastElementChild && !fresh) return lastElementChild;
    const name = i < this.thought.steps ? "para thought" : "para";
    const paragraph = h("span", { class: name, role: "presentation" });
    this.tokens.append(paragraph);
    return paragraph;
  }

  /** Step-by-step goes back: take away what is no longer shown. */
  shrink() {
    const until = this.shown;
    while (this.spans.length > until) this.spans.pop()?.remove();
    for (const empty of this.tokens.querySelectorAll(".para:empty")) empty.remove();
    const active = this.tokens.getAttribute("aria-activedescendant");
    if (active && !document.getElementById(active)) {
      set(this.tokens, { "aria-activedescendant": null });
    }
    if (this.mark && this.mark.at >= until) this.split(-1);
    this.count();
  }

  /** @param {number} at */
  split(at) {
    if (this.mark?.at === at || (at < 0 && !this.mark)) return;
    this.mark?.node.remove();
    this.mark = null;
    if (at < 0 || !this.spans[at]) return;
    const node = h("span", { class: "split", role: "presentation", "aria-hidden": "true" });
    node.title = "Identical up to here";
    this.spans[at].before(node);
    this.mark = { at, node };
    this.fitSplit();
  }

  /** The words over the mark keep within the lane: near the end of a line they begin before it. */
  fitSplit() {
    if (!this.mark) return;
    const { node } = this.mark;
    const room = this.body.clientWidth - SPLIT_WORDS - node.offsetLeft;
    node.style.setProperty("--words", `${Math.max(-node.offsetLeft, Math.min(-2, room))}px`);
  }

  recolour() {
    const { chips } = this.state;
    for (const [i, span] of this.spans.entries()) {
      const name = this.className(chips[i], i) + (span.classList.contains("sel") ? " sel" : "");
      if (span.className !== name) span.className = name;
    }
    this.count();
  }

  count() {
    const { state } = this;
    this.thought.update();
    if (!state.stats) return setText(this.numbers, "\u00a0");
    this.fillTag(state.imagined);
    const { rho } = state.imagined?.xtc ?? this.head.sampler.xtc;
    const [first, second] = numbers(state, state.stats, this.spans.length, rho === 0);
    setText(this.numbers, first);
    setText(this.more, second);
    set(this.numbers, { title: first });
    set(this.more, { title: second });
  }

  /** The settings that the colours show. @param {Imagined | null} imagined */
  fillTag(imagined) {
    if (imagined === this.tagged) return;
    this.tagged = imagined;
    const all = laneTagAmong(this.samplers(imagined?.xtc), this.index, this.spec);
    const tag = besideName(all, this.head.name);
    set(this.element, { "data-imagined": imagined ? "" : null });
    setText(this.tag, imagined ? `what if ${tag}` : tag);
  }
}

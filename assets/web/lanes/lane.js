// One lane: its words, one span for each token, under a line of numbers.

import { h, percent, set, setText, token } from "../core/dom.js";
import { laneTag } from "../inspector/words.js";
import { OUTCOMES } from "../session/playback.js";
import { numbers } from "./numbers.js";
import { Thought } from "./thought.js";

/** How strongly a chip is coloured in the modes that show an amount, 0 to 6. */
function level(chip, mode) {
  if (mode === "probability") return Math.min(6, Math.floor((1 - chip.p) * 6.999));
  if (mode === "rank") return Math.min(6, Math.floor(Math.log2(chip.rank)));
  if (mode === "surprisal")
    return Math.min(6, Math.floor(-Math.log2(Math.max(chip.p, 1e-4)) / 1.5));
  if (mode === "entropy") return Math.min(6, Math.floor(chip.entropy * 1.6));
  return 0;
}

function title(chip, i) {
  const parts = [`#${i + 1}`, `p ${percent(chip.p)}`, `rank ${chip.rank}`];
  if (chip.outcome) parts.push(OUTCOMES[chip.outcome]);
  if (chip.changed) parts.push("changed");
  if (chip.forced) parts.push("chosen by you");
  return parts.join(" · ");
}

export class Lane {
  constructor(model, index, spec) {
    this.model = model;
    this.index = index;
    this.knobs = spec.knobs;
    const head = model.run.head.lanes[index];
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
    this.tag = h("span", { class: "tag" }, laneTag(head.sampler, spec.knobs));
    this.copy = h(
      "button",
      { type: "button", class: "quiet", onclick: () => this.toClipboard() },
      "copy",
    );
    set(this.copy, { "aria-label": `Copy the text of ${head.name}` });
    this.tools = h("span", { class: "tools" }, this.copy);
    this.parent = head.branch ? this.origin(head.branch) : null;
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
        h("div", { class: "name" }, this.title, this.tag, this.parent, this.tools),
        this.numbers,
        this.more,
      ),
      this.body,
    );
    this.spans = [];
    this.mark = null;
    this.thought = new Thought(this);
    // Whether the end is in view, and is to stay there while tokens come.
    this.follow = true;
    const { body } = this;
    body.addEventListener(
      "scroll",
      () => {
        this.follow = body.scrollHeight - body.scrollTop - body.clientHeight < 80;
      },
      { passive: true },
    );
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
    const { prompt, pieces } = this.model.run.head;
    this.prompt.replaceChildren(...(this.model.pieces ? pieces.map(token) : [prompt]));
  }

  origin([lane, position]) {
    const { name } = this.model.run.head.lanes[lane];
    return h("span", { class: "tag" }, `from ${name}, token ${position + 1}`);
  }

  async toClipboard() {
    const { head, lanes } = this.model.run;
    const text = head.prompt + lanes[this.index].chips.map((chip) => chip.text).join("");
    await navigator.clipboard.writeText(text);
    setText(this.copy, "copied");
    setTimeout(() => setText(this.copy, "copy"), 1500);
  }

  className(chip, i) {
    const { mode } = this.model;
    const shown = this.model.outcome(this.index, i);
    let name = `t o${shown.outcome}`;
    if (shown.changed) name += " changed";
    if (shown.imagined) name += " imagined";
    if (chip.forced) name += " forced";
    if (!chip.text) name += " void";
    else if (/^\s+$/.test(chip.text)) name += " blank";
    if (chip.text.includes("\n")) name += " nl";
    if (mode === "difference") {
      const other = this.model.run.lanes[this.index ? 0 : 1]?.chips[i];
      if (!other || other.id !== chip.id) name += " other";
    } else if (mode !== "outcome") name += ` v${level(chip, mode)}`;
    return name;
  }

  append() {
    const { chips, splits } = this.model.run.lanes[this.index];
    const until = this.model.shown(this.index);
    const grown = this.spans.length < until;
    for (let i = this.spans.length; i < until; i++) {
      const chip = chips[i];
      const span = document.createElement("span");
      span.className = this.className(chip, i);
      span.dataset.i = i;
      span.id = `t${this.index}-${i}`;
      span.setAttribute("role", "option");
      span.title = title(chip, i);
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
      this.paragraph(i).append(span);
      this.spans.push(span);
    }
    // With dice of their own, lanes that part at once had nothing but the prompt in common.
    const apart = splits === 0 && !this.model.run.head.shared;
    this.split(splits < until && !apart ? splits : -1);
    if (grown && this.follow && this.model.busy) this.toEnd();
    this.count();
  }

  /** Where token i goes: each paragraph is a box of its own, laid out apart from the others. */
  paragraph(i) {
    const { lastChild } = this.tokens;
    const fresh = this.thought.ends(i) || this.spans[i - 1]?.textContent.endsWith("\n");
    if (lastChild && !fresh) return lastChild;
    const name = i < this.thought.steps ? "para thought" : "para";
    const made = h("span", { class: name, role: "presentation" });
    this.tokens.append(made);
    return made;
  }

  /** Step-by-step goes back: take away what is no longer shown. */
  shrink() {
    const until = this.model.shown(this.index);
    while (this.spans.length > until) this.spans.pop().remove();
    for (const empty of this.tokens.querySelectorAll(".para:empty")) empty.remove();
    const active = this.tokens.getAttribute("aria-activedescendant");
    if (active && !document.getElementById(active)) {
      set(this.tokens, { "aria-activedescendant": null });
    }
    if (this.mark && this.mark.at >= until) this.split(-1);
    this.count();
  }

  split(at) {
    if (this.mark?.at === at || (at < 0 && !this.mark)) return;
    this.mark?.node.remove();
    this.mark = null;
    if (at < 0 || !this.spans[at]) return;
    const node = h("span", { class: "split", role: "presentation", "aria-hidden": "true" });
    node.title = "Identical up to here";
    this.spans[at].before(node);
    // At the end of a line the words stand on the other side.
    if (node.offsetLeft + 130 > this.body.clientWidth) node.classList.add("late");
    this.mark = { at, node };
  }

  recolour() {
    const { chips } = this.model.run.lanes[this.index];
    for (const [i, span] of this.spans.entries()) {
      const name = this.className(chips[i], i) + (span.classList.contains("sel") ? " sel" : "");
      if (span.className !== name) span.className = name;
    }
    this.count();
  }

  count() {
    const lane = this.model.run.lanes[this.index];
    this.thought.update();
    if (!lane.stats) return setText(this.numbers, "\u00a0");
    const { sampler } = this.model.run.head.lanes[this.index];
    const xtc = { ...sampler.xtc, ...lane.imagined?.xtc };
    const tag = laneTag({ ...sampler, xtc }, this.knobs);
    setText(this.tag, lane.imagined ? `what if ${tag}` : tag);
    const [first, second] = numbers(lane, this.spans.length, xtc.rho === 0);
    setText(this.numbers, first);
    setText(this.more, second);
  }
}

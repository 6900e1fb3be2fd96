// The lanes side by side, or as panes to swipe between, and which of their words is selected.

import { button, h, set } from "../core/dom.js";
import { Lane } from "./lane.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { LaneActions } from "./lanemenu.js" */

export class Lanes {
  /** @param {Playback} playback @param {Spec} spec @param {LaneActions | null} actions */
  constructor(playback, spec, actions) {
    this.playback = playback;
    this.spec = spec;
    this.actions = actions;
    /** @type {Lane[]} */
    this.lanes = [];
    /** @type {HTMLElement[]} The words that are marked as selected. */
    this.marked = [];
    this.element = h("div", { class: "lanes" });
    this.element.addEventListener("click", (event) => this.pick(event.target));
    this.tabs = h("div", { class: "lane-tabs", "aria-label": "Lanes", role: "group" });
    this.element.addEventListener("scroll", () => this.swiped(), { passive: true });
    // Whether the lanes are panes to swipe between.
    this.narrow = false;
    new ResizeObserver(() => {
      const narrow = this.element.scrollWidth > this.element.clientWidth + 1;
      if (narrow && !this.narrow && playback.selected) this.show(playback.selected.lane, "instant");
      this.narrow = narrow;
      this.swiped();
    }).observe(this.element);
    // A lane gets its size only when its numbers and the timeline have theirs.
    this.sizes = new ResizeObserver(() => this.hold());
    playback.on("run", () => this.build());
    playback.on("chips", () => this.each((lane) => lane.append()));
    playback.on("state", () => this.status());
    playback.on("pieces", () => this.each((lane) => lane.fillPrompt()));
    playback.on("mode imagine", () => this.each((lane) => lane.recolour()));
    playback.on("reveal", () => {
      for (const lane of this.lanes) {
        lane.shrink();
        lane.append();
      }
    });
    playback.on("select", ({ origin }) => this.select(origin));
  }

  /** @param {(lane: Lane) => void} action */
  each(action) {
    for (const lane of this.lanes) action(lane);
  }

  build() {
    const { playback, spec, actions } = this;
    const { run } = playback;
    if (!run) return;
    this.marked = [];
    this.lanes = run.lanes.map((_, k) => new Lane(playback, run, k, spec, actions));
    this.element.replaceChildren(...this.lanes.map((lane) => lane.element));
    set(this.element, { "data-count": this.lanes.length });
    this.sizes.disconnect();
    for (const { body } of this.lanes) this.sizes.observe(body);
    this.tabs.replaceChildren(
      ...run.head.lanes.map((lane, k) => button(lane.name, () => this.turnTo(k))),
    );
    this.status();
    this.swiped();
  }

  status() {
    for (const lane of this.lanes) {
      const writing = this.playback.busy && !lane.state.finish;
      set(lane.element, { "data-writing": writing ? "" : null });
      if (!writing) lane.fitSplit();
      lane.count();
    }
  }

  /**
   * Bring a lane into view where they are panes; a run that has just come is there at once.
   * @param {number} index
   * @param {ScrollBehavior} behavior
   */
  show(index, behavior = "auto") {
    const lane = this.lanes[index]?.element;
    const left = lane ? lane.offsetLeft - this.element.offsetLeft : 0;
    if (lane) this.element.scrollTo({ left, behavior });
  }

  /** A lane's tab was chosen: it is the one to look at. @param {number} index */
  turnTo(index) {
    this.show(index);
    this.playback.look(index, "step");
  }

  swiped() {
    const width = this.element.clientWidth || 1;
    const now = Math.round(this.element.scrollLeft / width);
    for (const [i, tab] of [...this.tabs.children].entries()) {
      set(tab, { "aria-pressed": i === now ? "true" : "false" });
    }
  }

  /** A word was chosen. @param {EventTarget | null} target */
  pick(target) {
    const span = target instanceof Element ? target.closest(".t") : null;
    const lane = this.lanes.find(({ element }) => element.contains(span));
    if (!lane || !(span instanceof HTMLElement)) return;
    this.playback.select(lane.index, Number(span.dataset.i), "pointer");
  }

  /** Another word is looked at. Sizes are read before marks are moved: that saves a layout. */
  select(/** @type {Cause} */ origin) {
    const at = this.playback.focus;
    if (at) this.bringIntoView(at, origin);
    this.unmark();
    if (at) this.mark(at, origin);
  }

  /** @param {Place} at @param {Cause} origin */
  bringIntoView(at, origin) {
    const { narrow, playback } = this;
    if (narrow && playback.pending && !playback.preview) this.show(at.lane);
    /** @type {[HTMLElement, HTMLElement][]} */
    const reached = [];
    for (const lane of this.lanes) {
      const span = lane.spans[at.i];
      if (!span) continue;
      const own = lane.index === at.lane;
      if (own && origin !== "hover") lane.thought.show(at.i);
      if (origin !== "hover") lane.held = own && lane.head.branch?.[1] === at.i;
      if ((origin === "pointer" && own) || lane.thought.hides(at.i)) continue;
      lane.leaveEnd();
      reached.push([lane.body, span]);
    }
    reach(reached);
    const there = this.lanes[at.lane]?.spans[at.i];
    if (there && narrow && origin !== "pointer" && origin !== "hover") {
      this.show(at.lane, origin ? "auto" : "instant");
    }
  }

  /**
   * The chosen word stays in view when its box gets another size, and so do the words where the texts
   * part; while a run is written, only the word that a branch begins with.
   */
  hold() {
    this.each((lane) => lane.fitSplit());
    const { selected, busy } = this.playback;
    if (!selected) return;
    const { i } = selected;
    const held = this.lanes.filter(
      (lane) => (lane.held || !busy) && lane.spans[i] && !lane.thought.hides(i),
    );
    reach(held.map(({ body, spans }) => [body, spans[i]]));
  }

  unmark() {
    for (const span of this.marked) {
      span.classList.remove("sel", "mate");
      span.removeAttribute("aria-selected");
    }
    this.marked = [];
  }

  /** @param {Place} at @param {Cause} origin */
  mark(at, origin) {
    for (const lane of this.lanes) {
      const span = lane.spans[at.i];
      if (!span) continue;
      const own = lane.index === at.lane;
      span.classList.add(own ? "sel" : "mate");
      this.marked.push(span);
      if (!own) continue;
      span.setAttribute("aria-selected", "true");
      set(lane.tokens, { "aria-activedescendant": span.id });
      if (origin === "key" && document.activeElement !== lane.tokens) {
        lane.tokens.focus({ preventScroll: true });
      }
    }
  }
}

const NEAR = 120; // pixels, about four lines

/**
 * Scroll each box, and only it, so that its span can be seen. Looks at all before moving any.
 * @param {[HTMLElement, HTMLElement][]} pairs
 */
function reach(pairs) {
  /** @type {[HTMLElement, number][]} */
  const moves = [];
  for (const [box, span] of pairs) {
    const outer = box.getBoundingClientRect();
    const inner = span.getBoundingClientRect();
    // Near the beginning, all of it is shown from there.
    const near = inner.bottom + box.scrollTop < outer.bottom - 8;
    if (near && box.scrollTop < NEAR) moves.push([box, -box.scrollTop]);
    else if (inner.top < outer.top + 8) moves.push([box, inner.top - outer.top - 24]);
    else if (inner.bottom > outer.bottom - 8) moves.push([box, inner.bottom - outer.bottom + 24]);
  }
  for (const [box, by] of moves) box.scrollTop += by;
}

// The lanes side by side, or as panes to swipe between, and which of their words is selected.

import { h, set } from "../core/dom.js";
import { Lane } from "./lane.js";

export class Lanes {
  constructor(model, spec) {
    this.model = model;
    this.spec = spec;
    this.lanes = [];
    this.element = h("div", { class: "lanes" });
    this.element.addEventListener("click", (event) => this.pick(event));
    this.tabs = h("div", { class: "lane-tabs", "aria-label": "Lanes", role: "group" });
    this.element.addEventListener("scroll", () => this.swiped(), { passive: true });
    // Whether the lanes are panes to swipe between.
    this.narrow = false;
    new ResizeObserver(() => {
      const narrow = this.element.scrollWidth > this.element.clientWidth + 1;
      if (narrow && !this.narrow && model.selected) this.show(model.selected.lane, "instant");
      this.narrow = narrow;
      this.swiped();
    }).observe(this.element);
    model.on("run", () => this.build());
    model.on("chips", () => this.each((lane) => lane.append()));
    model.on("state", () => this.status());
    model.on("pieces", () => this.each((lane) => lane.fillPrompt()));
    model.on("mode imagine", () => this.each((lane) => lane.recolour()));
    model.on("reveal", () => {
      for (const lane of this.lanes) {
        lane.shrink();
        lane.append();
      }
    });
    model.on("select", ({ origin }) => this.select(origin));
  }

  each(action) {
    for (const lane of this.lanes) action(lane);
  }

  build() {
    this.marked = [];
    this.lanes = this.model.run.head.lanes.map((_, i) => new Lane(this.model, i, this.spec));
    this.element.replaceChildren(...this.lanes.map((lane) => lane.element));
    set(this.element, { "data-count": this.lanes.length });
    this.tabs.replaceChildren(
      ...this.model.run.head.lanes.map((lane, i) =>
        h("button", { type: "button", onclick: () => this.turnTo(i) }, lane.name),
      ),
    );
    this.status();
    this.swiped();
  }

  status() {
    for (const lane of this.lanes) {
      const finished = this.model.run.lanes[lane.index].finish;
      set(lane.element, { "data-writing": this.model.busy && !finished ? "" : null });
      lane.count();
    }
  }

  /** Bring a lane into view where they are panes; a run that has just come is there at once. */
  show(index, behavior = "auto") {
    const lane = this.lanes[index]?.element;
    const left = lane ? lane.offsetLeft - this.element.offsetLeft : 0;
    if (lane) this.element.scrollTo({ left, behavior });
  }

  /** A lane's tab was chosen: it is the one to look at. */
  turnTo(index) {
    this.show(index);
    this.model.look(index, "step");
  }

  swiped() {
    const width = this.element.clientWidth || 1;
    const now = Math.round(this.element.scrollLeft / width);
    for (const [i, tab] of [...this.tabs.children].entries()) {
      set(tab, { "aria-pressed": i === now ? "true" : "false" });
    }
  }

  pick(event) {
    const span = event.target.closest(".t");
    if (!span) return;
    const lane = Number(span.closest(".lane").dataset.lane);
    this.model.select(lane, Number(span.dataset.i), "pointer");
  }

  select(origin) {
    for (const span of this.marked ?? []) {
      span.classList.remove("sel", "mate");
      span.removeAttribute("aria-selected");
    }
    this.marked = [];
    const at = this.model.focus;
    if (!at) return;
    if (this.narrow && this.model.pending && !this.model.preview) this.show(at.lane);
    const reached = [];
    for (const lane of this.lanes) {
      const span = lane.spans[at.i];
      if (!span) continue;
      const own = lane.index === at.lane;
      if (own && origin !== "hover") lane.thought.show(at.i);
      if ((origin !== "pointer" || !own) && !lane.thought.hides(at.i)) {
        lane.leaveEnd();
        reached.push([lane.body, span]);
      }
      span.classList.add(own ? "sel" : "mate");
      this.marked.push(span);
      if (!own) continue;
      span.setAttribute("aria-selected", "true");
      set(lane.tokens, { "aria-activedescendant": span.id });
      if (origin === "key" && document.activeElement !== lane.tokens) {
        lane.tokens.focus({ preventScroll: true });
      }
      if (origin !== "pointer" && origin !== "hover" && this.narrow) {
        this.show(lane.index, origin ? "auto" : "instant");
      }
    }
    reach(reached);
  }
}

/** Scroll each box, and only it, so that its span can be seen. Looks at all before moving any. */
function reach(pairs) {
  const moves = [];
  for (const [box, span] of pairs) {
    const outer = box.getBoundingClientRect();
    const inner = span.getBoundingClientRect();
    if (inner.top < outer.top + 8) moves.push([box, inner.top - outer.top - 24]);
    else if (inner.bottom > outer.bottom - 8) moves.push([box, inner.bottom - outer.bottom + 24]);
  }
  for (const [box, by] of moves) box.scrollTop += by;
}

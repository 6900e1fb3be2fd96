// "See it in a minute": a card beside the real parts of the page, stop by stop through one step.

import { button, h, sentence, set, setText } from "../core/dom.js";
import { recall, remember } from "./memory.js";
import { besidePart } from "./place.js";
import { firedStep, STOPS, stopWords, TARGETS, unveiled } from "./stops.js";

/** @import { Inspector } from "../inspector/inspector.js" */
/** @import { Sheet } from "../page/sheet.js" */
/** @import { Playback } from "../session/playback.js" */
/** @import { Stop } from "./stops.js" */

const KEY = "tour";
const DONE = "done";
const FIELDS = "input, textarea, select, dialog";

export class Tour {
  /**
   * @param {HTMLElement} root
   * @param {Playback} playback
   * @param {Inspector} inspector
   * @param {Sheet} sheet the inspector stands in it on a phone
   */
  constructor(root, playback, inspector, sheet) {
    this.root = root;
    this.playback = playback;
    this.inspector = inspector;
    this.sheet = sheet;
    /** @type {Place | null} The step that it goes through, null while it is closed. */
    this.at = null;
    this.place = 0;
    this.frame = 0;
    this.where = h("p", { class: "tag" });
    this.words = h("p", { class: "words-of-stop", "aria-live": "polite" });
    this.back = button("Back", () => this.go(-1), { class: "quiet" });
    this.next = button("Next", () => this.go(1), { class: "primary" });
    this.skip = button("Skip", () => this.leave(), { class: "quiet" });
    this.element = h(
      "section",
      {
        class: "tour",
        role: "dialog",
        "aria-label": "See it in a minute",
        hidden: true,
        "data-testid": "tour",
      },
      this.where,
      this.words,
      h("p", { class: "actions" }, this.skip, this.back, this.next),
    );
    window.addEventListener("keydown", (event) => this.key(event), { capture: true });
    for (const name of ["resize", "scroll"]) {
      window.addEventListener(name, () => this.settle(), { capture: true, passive: true });
    }
    playback.on("block", () => this.at && this.fill());
    playback.on("run", () => this.at && this.leave());
    playback.on("select", () => {
      if (this.at && !this.looksAt(playback.selected)) this.leave();
    });
  }

  /** Whether that is the step that it goes through. @param {Place | null} place */
  looksAt(place) {
    return place?.lane === this.at?.lane && place?.i === this.at?.i;
  }

  /** The stops that this page has: a replay has no settings to move. @returns {Stop[]} */
  get stops() {
    return STOPS.filter((stop) => stop !== "yours" || this.target(stop));
  }

  get stop() {
    return this.stops[this.place];
  }

  /** Begin, or go on where it was left. */
  start() {
    const { run } = this.playback;
    const at = run && firedStep(run, this.playback.selected);
    if (this.playback.stepping) this.playback.setReveal(Number.POSITIVE_INFINITY, false);
    const kept = recall(KEY);
    this.element.hidden = false;
    if (!at) return this.excuse();
    this.playback.select(at.lane, at.i);
    this.at = at;
    this.place = Math.max(0, this.stops.map(String).indexOf(kept ?? ""));
    if (this.inspector.beside.on) this.inspector.turnBeside();
    this.show();
  }

  /** Open what a stop speaks of, as a person would: on a phone much is folded away. */
  unfold() {
    const { root, sheet, stop } = this;
    if (stop !== "yours") {
      if (!sheet.isOpen) sheet.open();
      return;
    }
    sheet.close();
    const fold = root.querySelector(".composer .fold[aria-expanded=false]");
    if (fold instanceof HTMLElement && fold.getClientRects().length) fold.click();
  }

  /** There is nothing to go through. */
  excuse() {
    setText(this.where, "");
    setText(
      this.words,
      "XTC has not fired in this run. Press Generate with ρ above 0, then come back.",
    );
    this.back.hidden = this.next.hidden = true;
    setText(this.skip, "Close");
    this.settle();
    this.skip.focus();
  }

  /** @param {number} by */
  go(by) {
    const place = this.place + by;
    if (place >= this.stops.length) return this.finish();
    this.place = Math.max(0, place);
    this.show();
  }

  show() {
    const { stop, stops, place, inspector } = this;
    remember(KEY, stop);
    inspector.lens = (view) => (this.looksAt(this.playback.focus) ? unveiled(view, stop) : view);
    set(inspector.element, { "data-stop": stop });
    inspector.update();
    this.unfold();
    const last = place + 1 === stops.length;
    setText(this.where, `${place + 1} of ${stops.length}`);
    setText(this.next, last ? "Done" : "Next");
    setText(this.skip, "Skip");
    this.skip.hidden = last;
    this.back.hidden = place === 0;
    this.next.hidden = false;
    this.fill();
    this.point();
    this.next.focus({ preventScroll: true });
  }

  fill() {
    const record = this.at && this.playback.step(this.at);
    if (!record) return;
    this.words.replaceChildren(...sentence(stopWords(this.stop, record.step), record.texts));
    this.settle();
  }

  /** The part that a stop speaks of. @param {Stop} stop @returns {Element | undefined} */
  target(stop) {
    return TARGETS[stop]
      .flatMap((selector) => [...this.root.querySelectorAll(selector)])
      .find((node) => node.getClientRects().length > 0);
  }

  /** Outline the part, and bring it into view. */
  point() {
    const target = this.target(this.stop);
    for (const node of this.root.querySelectorAll("[data-tour]")) set(node, { "data-tour": null });
    if (!target) return;
    set(target, { "data-tour": "" });
    target.scrollIntoView({ block: "nearest", behavior: "instant" });
    this.settle();
  }

  /** Once a frame: the card stands beside the part, where there is room. */
  settle() {
    if (this.element.hidden || this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const card = this.element.getBoundingClientRect();
      // What moving ρ does is said right below it: the card keeps out of the way.
      const near = this.stop === "yours" ? null : this.root.querySelector("[data-tour]");
      const part = near?.getBoundingClientRect();
      const { x, y } = besidePart(part, card, window.innerWidth, window.innerHeight);
      this.element.style.left = `${x}px`;
      this.element.style.top = `${y}px`;
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { target, key } = event;
    if (this.element.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    const node = target instanceof Element ? target : document.body;
    if (key !== "Escape" && node.closest(FIELDS)) return;
    const pressed = key === "Enter" && node.closest("button, summary, a");
    /** @type {Record<string, () => void>} */
    const meanings = {
      ArrowRight: () => this.go(1),
      ArrowLeft: () => this.go(-1),
      Enter: () => this.go(1),
      Escape: () => this.leave(),
    };
    const meaning = meanings[key];
    if (!meaning || pressed || this.root.querySelector("dialog[open]")) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.at || key === "Escape") meaning();
  }

  finish() {
    remember(KEY, DONE);
    this.leave();
  }

  /** Close; the place is remembered. */
  leave() {
    const { inspector, at } = this;
    this.at = null;
    this.element.hidden = true;
    inspector.lens = null;
    set(inspector.element, { "data-stop": null });
    for (const node of this.root.querySelectorAll("[data-tour]")) set(node, { "data-tour": null });
    inspector.update();
    const lane = at && this.root.querySelector(`#lane-${at.lane}`);
    if (lane instanceof HTMLElement) lane.focus({ preventScroll: true });
  }
}

// What was on show in this tab, kept over a reload: the run, the selected step, the runs before it,
// what was being written, how far one had scrolled. Where there is no storage, nothing is kept.

/** @import { Playback } from "../session/playback.js" */
/** @import { Kept, Session } from "../session/session.js" */
/** @import { ShelfView } from "../shelf/view.js" */
/** @typedef {{ knobs: string, time: number, hash: string, lane: number, scroll: Record<string, number>, kept: Kept }} View */

const KEY = "xtc_viz-view";
const PAUSE = 300; // milliseconds after the last change
const ONWARD = 600_000; // for so long a run that was being written goes on by itself
const SCROLLING = [".lanes", ".lane .text", ".decision"];

/** @returns {Storage | null} */
function storage() {
  try {
    return sessionStorage;
  } catch {
    return null; // blocked
  }
}

export class KeptView {
  /**
   * `knobs` names the settings that this version of the page knows.
   * @param {string} knobs
   * @param {HTMLElement} root
   * @param {Session} session
   * @param {Playback} playback
   * @param {ShelfView} shelf
   * @param {NonNullable<Transport["open"]>} open
   */
  constructor(knobs, root, session, playback, shelf, open) {
    this.knobs = knobs;
    this.root = root;
    this.session = session;
    this.playback = playback;
    this.shelf = shelf;
    this.open = open;
    this.place = storage();
    this.last = this.read();
    this.cleared = false;
    let soon = 0;
    const later = () => {
      clearTimeout(soon);
      soon = setTimeout(() => this.keep(), PAUSE);
    };
    session.on("phase origin come", later);
    playback.on("run", () => {
      this.cleared = false;
    });
    playback.on("run select", later);
    root.addEventListener("scroll", later, { capture: true, passive: true });
    window.addEventListener("scroll", later, { passive: true });
    const now = () => {
      this.keep();
      shelf.jotter.jot();
    };
    window.addEventListener("pagehide", now);
    document.addEventListener("visibilitychange", now);
  }

  /** The boxes that can be scrolled, by name. */
  get boxes() {
    /** @type {[string, Element][]} */
    const boxes = [["page", document.scrollingElement ?? this.root]];
    for (const name of SCROLLING) {
      for (const [k, box] of this.root.querySelectorAll(name).entries())
        boxes.push([name + k, box]);
    }
    return boxes;
  }

  keep() {
    const { run } = this.playback;
    if (!run || this.cleared) return;
    const own = run.state !== "recorded";
    // Where nothing is asked for either, there is nothing to keep.
    if (!own && this.session.idle) return this.remove();
    const scroll = Object.fromEntries(
      this.boxes.filter(([, box]) => box.scrollTop > 0).map(([name, box]) => [name, box.scrollTop]),
    );
    /** @type {View} */
    const view = {
      knobs: this.knobs,
      time: Date.now(),
      hash: location.hash,
      lane: this.playback.lane,
      scroll,
      kept: { ...this.session.memory, ...(own ? {} : { here: null }) },
    };
    try {
      this.place?.setItem(KEY, JSON.stringify(view));
    } catch {
      // Full or blocked: the run is on the shelf.
    }
  }

  /** Keep nothing, until another run is on show. */
  forget() {
    this.cleared = true;
    this.remove();
  }

  remove() {
    try {
      this.place?.removeItem(KEY);
    } catch {
      // Blocked.
    }
  }

  /** @returns {View | null} */
  read() {
    try {
      const view = JSON.parse(this.place?.getItem(KEY) ?? "null");
      const { here, asked } = view?.kept ?? {};
      const ours = typeof here?.id === "string" || typeof asked?.request?.kind === "string";
      // Settings of another version of the page mean nothing here.
      return ours && view.knobs === this.knobs ? view : null;
    } catch {
      return null; // not ours
    }
  }

  /** Whether there is something to restore for the address of this page. */
  get any() {
    return this.last?.hash === location.hash;
  }

  /** Whether what was being written goes on by itself. */
  get recent() {
    return this.last !== null && Date.now() - this.last.time < ONWARD;
  }

  /** What was asked for while there was no run but the recorded one; null without. */
  get waiting() {
    const kept = this.any && this.recent ? this.last?.kept : null;
    return kept?.asked && !kept.here ? kept : null;
  }

  /** Be where one was. Returns whether that is so. */
  async restore() {
    const view = this.any ? this.last : null;
    const here = view?.kept.here;
    if (!view || !here) return false;
    const found = await this.find(here.id);
    if (!found) return false;
    const { message, place } = found;
    if (place) this.shelf.jotter.begin(place);
    const { kept } = view;
    const asked = this.recent ? kept.asked : null;
    if (found.cut && !asked) here.origin = { kind: "cut", name: "" };
    this.session.restore(kept, message, Boolean(asked));
    if (!here.selected) this.playback.look(view.lane, "");
    requestAnimationFrame(() => this.scroll(view.scroll));
    // It came to its end while nobody listened.
    if (place && !asked && !found.cut) this.shelf.keep();
    return true;
  }

  /** @param {Record<string, number>} scroll */
  scroll(scroll) {
    for (const [name, box] of this.boxes) {
      if (name in scroll) box.scrollTo({ top: scroll[name], behavior: "instant" });
    }
  }

  /**
   * A run as the server has it, else as this browser has kept its texts; null without either.
   * @param {string} run
   */
  async find(run) {
    const entry = await this.shelf.shelf.find(run).catch(() => null);
    const place = entry?.cut ? entry.id : null;
    try {
      const message = await this.open(run, []);
      if (entry && !entry.cut) this.shelf.shelf.shown(entry, run);
      return message && { message, place, cut: false };
    } catch {
      if (!place) return null;
      const texts = await this.shelf.shelf.texts(place).catch(() => null);
      return texts && { message: { ...texts, run }, place, cut: true };
    }
  }
}

// What was typed and not run yet, kept over a reload: in this tab's storage, and for a tab of
// tomorrow in that of the browser. Where there is none, nothing is kept.

const KEY = "xtc_viz-draft";
const PAUSE = 400; // milliseconds after the last change

/** @typedef {{ knobs: string, draft: Draft }} Kept */

/** @param {"sessionStorage" | "localStorage"} name @returns {Storage | null} */
function storage(name) {
  try {
    return globalThis[name];
  } catch {
    return null; // blocked
  }
}

export class KeptDraft {
  /**
   * @param {Pick<Spec, "knobs">} spec
   * @param {(Storage | null)[]} places this tab's first; the first that has a draft is asked for it
   */
  constructor({ knobs }, places = [storage("sessionStorage"), storage("localStorage")]) {
    this.knobs = Object.keys(knobs).join();
    this.places = places;
    /** What this page has written last, "" for nothing. */
    this.last = "";
  }

  /**
   * Keep what `draft()` gives, null for nothing, whenever something may have changed, and when the
   * page is left.
   * @param {Node} root
   * @param {() => Draft | null} draft
   */
  watch(root, draft) {
    let soon = 0;
    const later = () => {
      clearTimeout(soon);
      soon = setTimeout(() => this.keep(draft()), PAUSE);
    };
    for (const name of ["input", "change", "click"]) root.addEventListener(name, later);
    window.addEventListener("pagehide", () => this.keep(draft()));
  }

  /**
   * Forget every draft, those of other tabs too; what is on the page is kept again when it changes.
   * @param {Draft} draft
   */
  forget(draft) {
    this.last = this.written(draft);
    for (const place of this.places) {
      try {
        place?.removeItem(KEY);
      } catch {
        // Blocked.
      }
    }
  }

  /** @param {Draft} draft */
  written(draft) {
    return JSON.stringify({ knobs: this.knobs, draft });
  }

  /** Keep a draft, or none: only this page's own is then forgotten. @param {Draft | null} draft */
  keep(draft) {
    const text = draft ? this.written(draft) : "";
    if (text === this.last) return;
    for (const place of this.places) {
      try {
        if (text) place?.setItem(KEY, text);
        else if (place?.getItem(KEY) === this.last) place.removeItem(KEY);
      } catch {
        // Full or blocked: the draft is still on the page.
      }
    }
    this.last = text;
  }

  /**
   * The draft that was kept, over the one that is there; of a version with other settings only the
   * prompt is taken. `own` asks for a draft of this very tab: another tab's has no place beside the
   * run that this one shows. Null without one.
   * @param {Draft} now
   * @param {{ own?: boolean }} which
   * @returns {Draft | null}
   */
  read(now, { own = false } = {}) {
    for (const place of own ? this.places.slice(0, 1) : this.places) {
      const text = place?.getItem(KEY);
      if (!text) continue;
      try {
        const { knobs, draft } = /** @type {Kept} */ (JSON.parse(text));
        if (typeof draft.prompt !== "string") continue;
        this.last = text;
        return knobs === this.knobs ? draft : { ...now, prompt: draft.prompt };
      } catch {
        // Not ours.
      }
    }
    return null;
  }
}

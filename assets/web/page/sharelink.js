// A link to the run on show, or to what is to be asked next; and a link that was opened.

import { setText } from "../core/dom.js";
import { draftOf, placeOf } from "../session/draft.js";
import { fromLink, toLink } from "../session/link.js";
import { quiet } from "./head.js";

/** @import { Playback } from "../session/playback.js" */

export class ShareLink {
  /**
   * `draft()` is what the composer asks for, `presenting()` whether it opens as in the classroom.
   * @param {Playback} playback
   * @param {Spec} spec
   * @param {{ draft: () => Draft, presenting: () => boolean }} page
   */
  constructor(playback, spec, { draft, presenting }) {
    this.playback = playback;
    this.spec = spec;
    this.draft = draft;
    this.presenting = presenting;
    this.button = quiet("Link", "Copy a link to this run", () => this.copy());
  }

  async copy() {
    const { run, selected } = this.playback;
    const draft = this.draft();
    const page = `${location.origin}${location.pathname}${location.search}`;
    const link = run
      ? toLink(page, draftOf(run.head, draft), placeOf(run.head, selected), this.presenting())
      : toLink(page, draft, null, this.presenting());
    history.replaceState(null, "", link);
    await navigator.clipboard?.writeText(link).catch(() => {});
    const branches = run?.head.lanes.some((lane) => lane.branch);
    setText(this.button, branches ? "Link copied, without the branch" : "Link copied");
    setTimeout(() => setText(this.button, "Link"), 1800);
  }

  /** What the page's own address asks for, null where it asks for nothing (`fromLink`). */
  get opened() {
    return fromLink(location.hash, this.spec);
  }
}

// What the page shows at first: what a link asks for, what was there before it was loaded anew, or
// the recorded run.

import { wordsOf } from "../core/errors.js";
import { touched } from "../session/draft.js";
import { cellsIn } from "../session/link.js";
import { KeptDraft } from "../shelf/drafts.js";
import { KeptView } from "./keptview.js";

/** @import { Page } from "./page.js" */
/** @typedef {{ draft: Draft, selected: Place | null, presenting: boolean }} LinkRequest */

export class Opening {
  /** @param {Page} page @param {NonNullable<Transport["open"]>} open */
  constructor(page, open) {
    const { root, session, playback, composer, shelf } = page;
    this.page = page;
    this.draft = new KeptDraft(page.spec);
    this.draft.watch(root, () => (touched(composer.draft, session.base) ? composer.draft : null));
    const knobs = Object.keys(page.spec.knobs).join();
    this.view = shelf && new KeptView(knobs, root, session, playback, shelf, open);
    this.#followLater();
    if (shelf) {
      shelf.onclear = () => {
        this.draft.forget(composer.draft);
        this.view?.forget();
        page.seeds?.kept.forget();
      };
    }
  }

  /** A link that is opened in this tab changes nothing but the address. */
  #followLater() {
    window.addEventListener("hashchange", () => {
      const { session, shareLink, composer } = this.page;
      const { opened } = shareLink;
      if (cellsIn(location.hash).length && session.idle) return void this.showCells(null);
      if (!opened) return;
      if (!session.idle)
        composer.fail("A run is being written: stop it, then open the link again.");
      else if (opened.request) this.follow(opened.request, opened.words);
      else composer.fail(opened.words);
    });
  }

  /** @param {Message | null} recorded the run that is shown where there is no other */
  async begin(recorded) {
    const { page } = this;
    if (cellsIn(location.hash).length) return this.showCells(recorded);
    const { opened } = page.shareLink;
    const again = this.view?.any && (await this.view.restore());
    if (!again) await page.session.receive(recorded);
    const waiting = this.view?.waiting;
    if (!again && !waiting && opened?.request) return this.follow(opened.request, opened.words);
    this.takeDraft(Boolean(again || waiting));
    if (waiting) page.session.restore(waiting, null, true);
    if (again || waiting) return page.session.mend();
    if (opened) page.composer.fail(opened.words);
    await this.offerLast();
  }

  /**
   * Texts of the laboratory, which the address names; loaded anew, the page keeps them by itself.
   * @param {Message | null} recorded
   */
  async showCells(recorded) {
    const { session, composer } = this.page;
    const names = cellsIn(location.hash);
    history.replaceState(null, "", location.pathname + location.search);
    try {
      if (!this.page.spec.lab)
        throw new Error("This link is to a text of a laboratory, which this page does not have.");
      await session.showCells(names);
    } catch (error) {
      if (!this.page.playback.run) await session.receive(recorded);
      composer.fail(wordsOf(error));
    }
  }

  /**
   * Take the settings of a link, write, and look at its step; where something of it cannot be, that
   * is said and nothing is written.
   * @param {LinkRequest} request
   * @param {string} words
   */
  follow({ draft, presenting, selected }, words) {
    const { composer, requests, sheet } = this.page;
    composer.take(draft);
    this.page.present(presenting);
    if (words) return composer.fail(words);
    sheet.expect(selected);
    requests.generate({ goal: selected });
  }

  /** What was typed before the page was left; `own` in this very tab. @param {boolean} own */
  takeDraft(own) {
    const { composer } = this.page;
    const draft = this.draft.read(composer.draft, { own });
    if (draft) composer.take(draft);
  }

  /** The way back to the run that was kept last. */
  async offerLast() {
    const { shelf, playback, statusLine } = this.page;
    const open = await shelf?.latest();
    if (open && playback.run?.state === "recorded") statusLine.offer(open);
  }
}

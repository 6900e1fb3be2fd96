// The part of the page that writes many seeds: the button beside Generate, the dialog with what they
// show, and the way from one of them to the inspector.

import { wordsOf } from "../core/errors.js";
import { draftOf } from "../session/draft.js";
import { OWN } from "../session/shown.js";
import { SpreadDialog } from "../spread/dialog.js";
import { KeptSpread } from "../spread/kept.js";
import { alike, covers, Spread } from "../spread/spread.js";
import { isGone } from "../wire/errors.js";

/** @import { Page } from "./page.js" */
/** @import { Result } from "../spread/spread.js" */

const WRITTEN = "Seeds are being written.";
const BUSY = "A run is being written: stop it, or wait for its end.";
const AWAY = "The server is away.";

export class Seeds {
  /** @param {Page} page @param {Transport} transport */
  constructor(page, transport) {
    this.page = page;
    this.transport = transport;
    this.spread = new Spread(transport);
    this.kept = new KeptSpread(this.spread, Object.keys(page.spec.knobs).join());
    this.dialog = new SpreadDialog(this.spread, page.spec, {
      onwrite: () => this.write(),
      onopen: (row, draft) => this.open(row, draft),
      oncount: () => this.name(),
      shown: (result) => this.shown(result),
      lab: page.spec.lab ? `${location.pathname.replace(/\/?$/, "/")}lab` : "",
    });
    this.spread.on("phase", () => page.drawTools());
    this.spread.on("refused", ({ problem }) => this.refuse(problem));
    this.name();
  }

  /** Why no run can be begun; "" where one can. */
  get why() {
    return this.spread.idle ? "" : WRITTEN;
  }

  name() {
    const { count } = this.dialog;
    this.page.composer.nameSeeds(typeof count === "number" ? count : null);
  }

  /** Which seed of a spread is on show as a run; null for none. @param {Result} result */
  shown({ head, draft }) {
    const { run } = this.page.playback;
    const its = run && head.seeds.includes(run.head.seed) ? run.head.seed : null;
    return run && its !== null && alike(draftOf(run.head, draft), draft, true) ? its : null;
  }

  /** The button beside Generate: what is there already is shown, all else is written. */
  press() {
    const { spread, dialog, page } = this;
    dialog.clear();
    dialog.open();
    if (!spread.idle || covers(spread.result, page.composer.draft, dialog.count)) return;
    this.write();
  }

  /** With what the composer holds now. */
  write() {
    const { page, dialog, spread } = this;
    dialog.clear();
    page.composer.clear();
    if (!page.session.idle) return dialog.wrong({ message: BUSY });
    if (page.away && !page.away.ask()) return dialog.wrong({ message: AWAY });
    spread.ask(page.composer.draft, dialog.count);
  }

  /**
   * What is wrong with a setting is said at that setting, which the dialog would cover.
   * @param {Problem} problem
   */
  refuse(problem) {
    const { composer } = this.page;
    if (!problem.field || problem.field === "seeds") return;
    this.dialog.element.close();
    composer.wrong(problem);
  }

  /**
   * A seed as a run. One that the server keeps no more is written anew: the same seed and settings
   * give the same texts.
   * @param {SpreadRow} row
   * @param {Draft} draft
   */
  async open({ run, seed }, draft) {
    const { session, requests, shelf, playback } = this.page;
    const { dialog } = this;
    dialog.clear();
    if (!session.idle || !this.spread.idle || playback.stepping)
      return dialog.wrong({ message: BUSY });
    try {
      const message = await this.transport.open?.(run, []);
      if (message) session.show(message, OWN);
      dialog.element.close();
      if (playback.run) shelf?.shelf.keep(playback.run, null);
    } catch (error) {
      if (!isGone(error)) return dialog.wrong({ message: wordsOf(error) });
      dialog.element.close();
      const own = structuredClone(draft);
      own.settings.seed = seed;
      requests.ask({ kind: "run", ...own }, { draft: own });
    }
    this.page.drawTools();
  }
}

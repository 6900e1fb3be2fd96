// The shelf on the page: runs go there when they have ended, and come back from there.

import { Run } from "../session/run.js";
import { titleOf } from "./entry.js";
import { Jotter } from "./jotter.js";
import { ShelfPanel } from "./panel.js";
import { Shelf } from "./shelf.js";
import { SideBySide } from "./sidebyside.js";

/** @import { Names } from "../core/lanetag.js" */
/** @import { Playback } from "../session/playback.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Entry } from "./entry.js" */

/** A channel to the other tabs, null where the browser gives none. */
function otherTabs() {
  try {
    return new BroadcastChannel("xtc_viz-shelf");
  } catch {
    return null;
  }
}

export class ShelfView {
  /**
   * @param {Transport} transport
   * @param {Session} session
   * @param {Playback} playback
   * @param {Names} spec
   */
  constructor(transport, session, playback, spec) {
    this.transport = transport;
    this.session = session;
    this.playback = playback;
    this.shelf = new Shelf(transport.export, spec, { others: otherTabs() });
    this.panel = new ShelfPanel(this.shelf, {
      onopen: (entry) => this.open(entry),
      oncompare: (a, b) => this.compare(a, b),
      onclear: () => this.onclear(),
    });
    this.spec = spec;
    /** What else is to be forgotten with the runs. */
    this.onclear = () => {};
    /** @type {SideBySide | null} Made when two runs are first compared. */
    this.pair = null;
    this.jotter = new Jotter(this.shelf, session, playback);
    session.on("phase", () => session.idle && this.keep());
  }

  /** The run on show has come to its end. */
  async keep() {
    const { run } = this.playback;
    if (run) await this.jotter.end(await this.shelf.keep(run, this.session.parent));
  }

  /** What opens the run that was kept last; null where there is none. */
  async latest() {
    const { entries } = await this.shelf.read();
    const [entry] = entries.toSorted((a, b) => b.time - a.time);
    return entry ? () => this.panel.actions.open(entry) : null;
  }

  /** @param {Entry} entry */
  async open(entry) {
    if (!this.session.idle)
      throw new Error("A run is being written: stop it, or wait for its end.");
    if (entry.cut) {
      const texts = await this.shelf.texts(entry.id);
      return this.session.show({ ...texts, state: "stopped" }, { kind: "cut", name: "" });
    }
    await this.session.load(await this.shelf.text(entry.id), titleOf(entry), "shelf");
    if (this.playback.run) this.shelf.shown(entry, this.playback.run.id);
  }

  /** @param {Entry} a @param {Entry} b */
  async compare(a, b) {
    const runs = await Promise.all([a, b].map((entry) => this.read(entry)));
    if (!this.pair) {
      this.pair = new SideBySide(this.spec, (entry) => this.panel.actions.open(entry));
      this.panel.dialog.after(this.pair.dialog);
    }
    this.pair.show([
      [a, runs[0]],
      [b, runs[1]],
    ]);
  }

  /** A run of the shelf, which stays off the page. @param {Entry} entry */
  async read(entry) {
    const message = entry.cut
      ? await this.shelf.texts(entry.id)
      : await this.transport.load?.(await this.shelf.text(entry.id));
    if (!message?.head || !message.run) throw new Error("This run could not be read.");
    const run = new Run(message.run, message.head);
    run.grow(message);
    return run;
  }
}

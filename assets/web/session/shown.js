// Which run is on show, where it comes from, what it was asked for; and the way back to those before
// it, and forth again. No document.

import { Emitter } from "../core/emitter.js";
import { isGone } from "../wire/errors.js";
import { FormerRuns } from "./former.js";
import { sameWeights } from "./weights.js";

/** @import { Direction, FormerRun } from "./former.js" */
/** @import { Playback } from "./playback.js" */
/**
 * Where the run on show comes from: from this page, recorded, from a file, from the shelf, from a
 * model that was loaded meanwhile, from what this browser kept of one that was cut off, or from the
 * laboratory.
 * @typedef {{ kind: "own" | "recorded" | "file" | "shelf" | "elsewhere" | "cut" | "lab", name: string,
 *   unknown?: string[] }} Origin
 */
/**
 * What is on show, as it is kept over a reload of the page.
 * @typedef {{ here: FormerRun | null, back: FormerRun[], forth: FormerRun[] }} Memory
 */

/** @type {Origin} */
export const OWN = { kind: "own", name: "" };

/**
 * Its events: `origin`, `come` (another run is on show, not written for a request of this page; its
 * `head`, or its `draft`).
 */
export class Shown extends Emitter {
  #former = new FormerRuns();
  /** @type {Draft | null} */
  #base = null;
  #origin = OWN;
  /** @type {ModelLine | null} */
  #model = null;

  /** @param {Transport} transport @param {Playback} playback */
  constructor(transport, playback) {
    super();
    /** @protected */
    this.transport = transport;
    /** @protected */
    this.playback = playback;
  }

  get origin() {
    return this.#origin;
  }

  /** What the run on show was asked for. */
  get base() {
    return this.#base;
  }

  /** The run on show was asked for by this draft. @param {Draft} draft */
  setBase(draft) {
    this.#base = structuredClone(draft);
  }

  /** Whether there is a run to go back to. */
  get canUndo() {
    return this.#former.any("back");
  }

  /** Whether there is one to go forth to again. */
  get canRedo() {
    return this.#former.any("forth");
  }

  /** The model in use, null while it is not known. */
  get model() {
    return this.#model;
  }

  /** Whether it is known which model is in use. */
  get hasModel() {
    return Boolean(this.#model);
  }

  /** Another model is in use; null while that is not known. @param {ModelLine | null} model */
  use(model) {
    this.#model = model;
  }

  /** Whether the model in use wrote the run on show, and the server has its steps. */
  get ours() {
    return this.origin.kind !== "cut" && sameWeights(this.#model, this.playback.run?.head.model);
  }

  /** Whether its lanes can go on: a server's own dice cannot be taken up in the middle. */
  get goesOn() {
    return this.ours && !this.playback.run?.head.server;
  }

  /** What has to be kept to be here again. @returns {Memory} */
  get memory() {
    return { here: this.#here(), ...this.#former.all };
  }

  /** @returns {FormerRun | null} */
  #here() {
    const { run, selected } = this.playback;
    const { origin, base } = this;
    return run && { id: run.id, selected, origin, base };
  }

  /** @protected @param {Origin} origin */
  comesFrom(origin) {
    this.#origin = origin;
    this.emit("origin");
  }

  /** Another run is about to take the place of this one. @protected */
  remember() {
    const here = this.#here();
    if (here) this.#former.push(here);
  }

  /** @protected */
  selectTelling() {
    const at = this.playback.run?.telling();
    if (at) this.playback.select(at.lane, at.i);
  }

  undo() {
    return this.#go("back");
  }

  redo() {
    return this.#go("forth");
  }

  /**
   * To another run of those that were on show. Throws where it cannot be had; one that nobody has
   * any more is then left out.
   * @param {Direction} direction
   */
  async #go(direction) {
    const there = this.#former.next(direction);
    if (!there) return;
    /** @type {Message | null | undefined} */
    let message;
    try {
      message = await this.transport.open?.(there.id, []);
    } catch (error) {
      if (isGone(error)) this.#former.drop(direction);
      throw error;
    }
    if (!message) return;
    this.#former.go(direction, this.#here());
    this.#show(message, there);
  }

  /**
   * What was on show before the page was loaded anew.
   * @protected
   * @param {Memory} memory
   * @param {Message} message its run
   */
  showAgain({ here, ...former }, message) {
    this.#former.take(former);
    if (here) this.#show(message, here);
  }

  /** @param {Message} message @param {FormerRun} run */
  #show(message, { origin, base, selected }) {
    this.playback.take(message);
    this.comesFrom(origin);
    this.emit("come", base ? { draft: base } : { head: message.head });
    if (selected && origin.kind !== "cut") this.playback.select(selected.lane, selected.i);
  }

  /**
   * Show the run of a trace file in the place of the one on show. Throws where it is none.
   * @param {string} text
   * @param {string} name
   * @param {"file" | "shelf"} kind where the file was
   */
  async load(text, name, kind = "file") {
    const message = await this.transport.load?.(text);
    if (message) this.show(message, { kind, name, unknown: message.unknown ?? [] });
  }

  /** Show stored texts of the laboratory. Throws where there are none. @param {string[]} names */
  async showCells(names) {
    const message = await this.transport.cell?.(names);
    if (message)
      this.show(message, { kind: "lab", name: names.length > 1 ? "Two texts" : "A text" });
  }

  /** Show a run that nobody has just asked for. @param {Message} message @param {Origin} origin */
  show(message, origin) {
    this.remember();
    this.playback.take(message);
    this.emit("come", { head: message.head });
    this.comesFrom(origin);
    if (origin.kind !== "cut") this.selectTelling();
  }
}

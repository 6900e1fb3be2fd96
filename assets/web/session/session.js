// The life of a run: asked for, waiting, writing, stopped, lost and healed, failed; and the runs
// before it. It takes the server's messages and asks the server, and knows nothing of the document.

import { Emitter } from "../core/emitter.js";
import { wordsOf } from "../core/errors.js";
import { FormerRuns } from "./former.js";
import { next } from "./phases.js";
import { sameWeights } from "./weights.js";

/** @import { Phase, Happening } from "./phases.js" */
/** @import { Playback } from "./playback.js" */
/**
 * Where the run on show comes from: from this page, recorded, from a file, from the shelf, or from
 * a model that was loaded meanwhile.
 * @typedef {{ kind: "own" | "recorded" | "file" | "shelf" | "elsewhere", name: string, unknown?: string[] }} Origin
 */

/** @type {Origin} */
const OWN = { kind: "own", name: "" };

/**
 * Its events: `phase`, `origin`, `come` (another run is on show, not written for a request of this
 * page; its `head`, or its `draft`), `replace` (it will take the place of another), `written` (by
 * this `model`), `refused` (with a `problem`).
 */
export class Session extends Emitter {
  #transport;
  #playback;
  /** @type {Phase} */
  #phase = "idle";
  #number = 0;
  /** @type {string | null} The server's name of the run that is being written. */
  #current = null;
  #place = 0;
  #note = "";
  /** @type {RunState} How the last run ended. */
  #ending = "";
  /** @type {Place | null} What is selected at the end of this run. */
  #goal = null;
  /** @type {Draft | null} What was asked for, until it is on show. */
  #sent = null;
  /** @type {Draft | null} */
  #base = null;
  /** @type {string | null} */
  #parent = null;
  #origin = OWN;
  #former = new FormerRuns();
  /** @type {ModelLine | null} */
  #model = null;
  /** @type {Message[]} */
  #inbox = [];
  #reading = false;

  /** @param {Transport} transport @param {Playback} playback */
  constructor(transport, playback) {
    super();
    this.#transport = transport;
    this.#playback = playback;
  }

  /** Whether there is a server to ask. */
  get live() {
    return Boolean(this.#transport.run);
  }

  get phase() {
    return this.#phase;
  }

  get idle() {
    return this.#phase === "idle";
  }

  /** The number of the last request; messages about an earlier one are dropped. */
  get number() {
    return this.#number;
  }

  /** How many runs are ahead of one that waits. */
  get place() {
    return this.#place;
  }

  /** What the server has to say of a run that waits or begins; mostly empty. */
  get note() {
    return this.#note;
  }

  get ending() {
    return this.#ending;
  }

  get origin() {
    return this.#origin;
  }

  /** What the run on show was asked for. */
  get base() {
    return this.#base;
  }

  /** The run that the last one asked for goes on from, and then holds whole; null without one. */
  get parent() {
    return this.#parent;
  }

  /** Whether there is a run to go back to. */
  get canUndo() {
    return this.#former.any;
  }

  /** Whether it is known which model is in use. */
  get hasModel() {
    return Boolean(this.#model);
  }

  /** Whether the model in use wrote the run on show. */
  get ours() {
    return sameWeights(this.#model, this.#playback.run?.head.model);
  }

  /** Another model is in use. @param {ModelLine} model */
  use(model) {
    this.#model = model;
  }

  /** The run on show was asked for by this draft. @param {Draft} draft */
  setBase(draft) {
    this.#base = structuredClone(draft);
  }

  /**
   * Ask for a run, unless one is on its way. `draft` is what it is asked for with, if it is; `goal`
   * what to look at when it is there.
   * @param {RunRequest} request
   * @param {{ draft?: Draft | null, goal?: Place | null, stepping?: boolean }} more
   */
  ask(request, { draft = null, goal = null, stepping = false } = {}) {
    if (!this.idle) return false;
    this.#number += 1;
    this.#sent = draft;
    this.#goal = goal;
    this.#parent = request.kind === "continue" || request.kind === "branch" ? request.run : null;
    this.#ending = "";
    this.#playback.expect(stepping);
    this.#happen("ask");
    this.#transport.run?.({ ...request, req: this.#number });
    return true;
  }

  stop() {
    if (this.idle) return;
    if (this.#current) this.#transport.stop?.(this.#current);
    this.#happen("stop");
  }

  /**
   * Take a message of the server, after those before it.
   * @param {Message | null} message
   */
  async receive(message) {
    if (!message) return;
    this.#inbox.push(message);
    if (this.#reading) return;
    this.#reading = true;
    try {
      for (let first = this.#inbox.shift(); first; first = this.#inbox.shift()) {
        // Without a gap nothing is awaited: the page is drawn at once.
        const healing = this.#read(first);
        if (healing) await healing;
      }
    } finally {
      this.#reading = false;
    }
  }

  /** Returns a promise where something was missed. @param {Message} message */
  #read(message) {
    const { req, run, error } = message;
    if (req !== undefined && req !== this.#number) return;
    if (run && req !== undefined && this.#current !== run) {
      this.#current = run;
      if (this.#phase === "stopping") this.#transport.stop?.(run);
    }
    if (error) return this.#fail(error, run);
    if (!message.add && !message.head) {
      if (run && this.#shows(run) && message.state) this.#playback.setState(message.state);
      return this.#announce(message);
    }
    if (this.#playback.run && !this.#shows(run)) {
      this.#remember();
      this.emit("replace");
    }
    if (!this.#playback.take(message)) return this.#heal(message);
    this.#settle(message);
  }

  /** @param {string | undefined} run */
  #shows(run) {
    return this.#playback.run?.id === run;
  }

  /** @param {Problem} problem @param {string | undefined} run */
  #fail(problem, run) {
    this.emit("refused", { problem });
    if (run && this.#shows(run)) this.#playback.setState("failed");
    this.#end("failed");
  }

  /** Something was missed: ask for all that is not here yet. @param {Message} message */
  async #heal(message) {
    this.#happen("miss");
    const { state } = message;
    const { run } = this.#playback;
    const at = run && this.#shows(message.run) ? run.lengths : [];
    try {
      const whole = message.run && (await this.#transport.open?.(message.run, at));
      if (whole) this.#playback.take(whole);
      this.#happen("heal");
    } catch (error) {
      // It stays lost until a later message can be healed, or the run has its end.
      const message = `A part of this run is missing: ${wordsOf(error)}`;
      this.emit("refused", { problem: { message } });
      if (state === "running") return;
    }
    this.#settle(message);
  }

  /** A message has been taken. @param {Message} message */
  #settle(message) {
    if (this.#sent && this.#shows(message.run)) {
      this.#base = this.#sent;
      this.#sent = null;
    }
    this.#announce(message);
    this.#reach();
  }

  /** Look at what the run was asked for as soon as it is written. */
  #reach() {
    const { run, stepping } = this.#playback;
    if (!this.#goal || stepping || !run?.chip(this.#goal)) return;
    this.#playback.select(this.#goal.lane, this.#goal.i);
    this.#goal = null;
  }

  /** @param {Message} message */
  #announce({ state, head, select, place = 0, note = "" }) {
    if (state === "recorded") {
      this.#setOrigin({ kind: "recorded", name: "" });
      this.emit("come", { head });
      if (select) this.#playback.select(...select);
      return;
    }
    if (head) this.#written(head.model);
    this.#place = place;
    this.#note = note;
    if (state === "waiting" || state === "starting" || state === "running") this.#happen(state);
    else if (state) this.#end(state);
  }

  /** A run comes from this model; another session may have loaded it in the meantime. */
  #written(/** @type {ModelLine} */ model) {
    const other = this.#model && !sameWeights(this.#model, model);
    this.#setOrigin(other ? { kind: "elsewhere", name: model.name } : OWN);
    this.emit("written", { model });
  }

  /** @param {RunState} ending */
  #end(ending) {
    this.#current = null;
    this.#ending = ending;
    this.#happen("end");
    if (ending === "failed" || this.#playback.stepping) return;
    if (this.#goal) this.#playback.select(this.#goal.lane, this.#goal.i);
    else if (!this.#playback.selected) this.#selectTelling();
    this.#goal = null;
  }

  #selectTelling() {
    const at = this.#playback.run?.telling();
    if (at) this.#playback.select(at.lane, at.i);
  }

  /** @param {Happening} happening */
  #happen(happening) {
    const before = this.#phase;
    this.#phase = next(before, happening);
    // What is said of one that waits may change while it waits.
    if (this.#phase !== before || happening === "waiting") this.emit("phase");
  }

  /** @param {Origin} origin */
  #setOrigin(origin) {
    this.#origin = origin;
    this.emit("origin");
  }

  #remember() {
    const { run, selected } = this.#playback;
    const { origin, base } = this;
    if (run) this.#former.push({ id: run.id, selected, origin, base });
  }

  /** Back to the run that was on show before. Throws where the server has it no more. */
  async undo() {
    const former = this.#former.pop();
    const message = former && (await this.#transport.open?.(former.id, []));
    if (!message) return;
    this.#playback.take(message);
    this.#setOrigin(former.origin);
    this.emit("come", { draft: former.base });
    if (former.selected) this.#playback.select(former.selected.lane, former.selected.i);
  }

  /**
   * Show the run of a trace file in the place of the one on show. Throws where it is none.
   * @param {string} text
   * @param {string} name
   * @param {"file" | "shelf"} kind where the file was
   */
  async load(text, name, kind = "file") {
    const message = await this.#transport.load?.(text);
    if (!message) return;
    this.#remember();
    this.#playback.take(message);
    this.emit("come", { head: message.head });
    this.#setOrigin({ kind, name, unknown: message.unknown ?? [] });
    this.#selectTelling();
  }
}

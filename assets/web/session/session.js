// The life of a run: asked for, waiting, writing, stopped, lost and healed, cut off and gone on with,
// failed. It takes the server's messages and asks the server, and knows nothing of the document.

import { wordsOf } from "../core/errors.js";
import { Inbox } from "./inbox.js";
import { Mending } from "./mending.js";
import { next } from "./phases.js";
import { OWN, Shown } from "./shown.js";
import { sameWeights } from "./weights.js";

/** @import { Phase, Happening } from "./phases.js" */
/** @import { Playback } from "./playback.js" */
/** @import { Asked } from "./rest.js" */
/** @import { Memory } from "./shown.js" */
/**
 * What is kept over a reload: what is on show, what was asked for and is not there yet, and whether
 * that is what is on show.
 * @typedef {Memory & { asked: Asked | null, began: boolean }} Kept
 */

const BREAKS = "The connection broke off again and again. Generate asks once more.";

/**
 * Its events, beside those of `Shown`: `phase`, `replace` (a run will take the place of another),
 * `written` (by this `model`), `refused` (with a `problem`).
 */
export class Session extends Shown {
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
  /** @type {string | null} */
  #parent = null;
  #mending;
  #inbox = new Inbox((/** @type {Message} */ message) => this.#read(message));

  /** @param {Transport} transport @param {Playback} playback */
  constructor(transport, playback) {
    super(transport, playback);
    this.#mending = new Mending(transport, playback);
  }

  /** Whether there is a server to ask. */
  get live() {
    return Boolean(this.transport.run);
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

  /** The run that the last one asked for goes on from, and then holds whole; null without one. */
  get parent() {
    return this.#parent;
  }

  /** What has to be kept to be here again. @returns {Kept} */
  get memory() {
    const asked = this.idle ? null : this.#mending.asked;
    return { ...super.memory, asked, began: this.#began };
  }

  /**
   * Ask for a run, unless one is on its way. `draft` is what it is asked for with, if it is; `goal`
   * what to look at when it is there.
   * @param {RunRequest} request
   * @param {{ draft?: Draft | null, goal?: Place | null, stepping?: boolean }} more
   */
  ask(request, { draft = null, goal = null, stepping = false } = {}) {
    if (!this.idle) return false;
    const before = this.playback.run?.lengths ?? [];
    this.#mending.begin();
    this.#send({ request, draft, goal, stepping, before }, "ask");
    return true;
  }

  /** @param {Asked} asked @param {Happening} how */
  #send(asked, how) {
    const { request, draft, goal, stepping } = asked;
    this.#mending.asked = asked;
    this.#number += 1;
    this.#current = null;
    this.#sent = draft;
    this.#goal = goal;
    this.#parent = request.kind === "continue" || request.kind === "branch" ? request.run : null;
    this.#ending = "";
    this.playback.expect(stepping);
    this.#happen(how);
    this.transport.run?.({ ...request, req: this.#number });
  }

  stop() {
    if (this.idle) return;
    if (this.#phase === "cut") return this.#giveUp();
    if (this.#current) this.transport.stop?.(this.#current);
    this.#happen("stop");
  }

  /** Take a message of the server, after those before it. @param {Message | null} message */
  async receive(message) {
    if (message) await this.#inbox.receive(message);
  }

  /** Returns a promise where something was missed. @param {Message} message */
  #read(message) {
    const { req, run, error } = message;
    if (req !== undefined && req !== this.#number) return;
    if (run && req !== undefined && this.#current !== run) {
      this.#current = run;
      if (this.#phase === "stopping") this.transport.stop?.(run);
    }
    if (error) return this.#fail(error, run);
    if (!message.add && !message.head) {
      if (run && this.#shows(run) && message.state) this.playback.setState(message.state);
      return this.#announce(message);
    }
    if (this.playback.run && !this.#shows(run)) {
      // One that was cut off is the same text, as far as it came.
      const { broken } = this.#mending;
      if (!broken || !this.#shows(broken)) this.remember();
      this.emit("replace");
    }
    if (!this.playback.take(message)) return this.#heal(message);
    this.#settle(message);
  }

  /** @param {string | null | undefined} run */
  #shows(run) {
    return this.playback.run?.id === run;
  }

  /** Whether the run that was asked for is on show. */
  get #began() {
    return this.#current !== null && this.#shows(this.#current);
  }

  /** @param {Problem} problem @param {string | undefined} run */
  #fail(problem, run) {
    this.emit("refused", { problem });
    if (run && this.#shows(run)) this.playback.setState("failed");
    else if (this.playback.busy) this.playback.setState("stopped");
    this.#end("failed");
  }

  /** Something was missed: ask for all that is not here yet. @param {Message} message */
  async #heal(message) {
    this.#happen("miss");
    const { state } = message;
    const { run } = this.playback;
    const at = run && this.#shows(message.run) ? run.lengths : [];
    try {
      const whole = message.run && (await this.transport.open?.(message.run, at));
      if (whole) this.playback.take(whole);
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
    this.#mending.came();
    if (this.#sent && this.#shows(message.run)) {
      this.setBase(this.#sent);
      this.#sent = null;
    }
    this.#announce(message);
    this.#reach();
  }

  /** Look at what the run was asked for as soon as it is written. */
  #reach() {
    const { run, stepping } = this.playback;
    if (!this.#goal || stepping || !run?.chip(this.#goal)) return;
    this.playback.select(this.#goal.lane, this.#goal.i);
    this.#goal = null;
  }

  /** @param {Message} message */
  #announce({ state, head, select, place = 0, note = "" }) {
    if (state === "recorded") {
      this.comesFrom({ kind: "recorded", name: "" });
      this.emit("come", { head });
      if (select) this.playback.select(...select);
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
    const other = this.model && !sameWeights(this.model, model);
    this.comesFrom(other ? { kind: "elsewhere", name: model.name } : OWN);
    this.emit("written", { model });
  }

  /** @param {RunState} ending */
  #end(ending) {
    this.#current = null;
    this.#mending.broken = null;
    this.#ending = ending;
    this.#happen("end");
    if (ending === "failed" || this.playback.stepping) return;
    if (this.#goal) this.playback.select(this.#goal.lane, this.#goal.i);
    else if (!this.playback.selected) this.selectTelling();
    this.#goal = null;
  }

  /** @param {Happening} happening */
  #happen(happening) {
    const before = this.#phase;
    this.#phase = next(before, happening);
    // What is said of one that waits may change while it waits.
    if (this.#phase !== before || happening === "waiting") this.emit("phase");
  }

  /** The server has left in the middle of what was asked for by this number. @param {number} req */
  cut(req) {
    if (req !== this.#number || this.idle) return;
    const often = this.#mending.breaks();
    if (often) this.emit("refused", { problem: { message: BREAKS } });
    if (often || this.#phase === "stopping") this.#giveUp();
    else this.#happen("cut");
  }

  /** What was cut off stays as it is. */
  #giveUp() {
    if (this.playback.busy) this.playback.setState("stopped");
    this.#end("stopped");
  }

  /** The server is there, and its model may be known: go on with what was cut off. */
  async mend() {
    if (this.#phase !== "cut") return;
    const { model } = this;
    const way = await this.#mending.next({ began: this.#began, model, goal: this.#goal });
    if (!way || this.phase !== "cut") return; // stopped meanwhile
    if ("again" in way) return this.#send(way.again, "again");
    if ("left" in way) this.comesFrom({ kind: "cut", name: way.left });
    if ("left" in way || way.over === "running") this.#giveUp();
    else this.#end(way.over);
  }

  /**
   * What was on show before the page was loaded anew, and, with `onward`, what was being written.
   * @param {Kept} kept
   * @param {Message | null} message the run as the server has it, or as this browser has kept it
   * @param {boolean} onward
   */
  restore({ asked, began, ...memory }, message, onward) {
    if (message) this.showAgain(memory, message);
    if (!asked || !onward) {
      if (this.playback.busy) this.playback.setState("stopped");
      return;
    }
    this.#mending.asked = asked;
    this.#current = began ? (memory.here?.id ?? null) : null;
    this.#happen("cut");
  }
}

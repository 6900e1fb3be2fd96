// What is on show of a run: how far, which step is looked at, coloured by what. Views listen to it
// and ask it for changes; it knows nothing of the document.

import { Emitter } from "../core/emitter.js";
import { Blocks } from "./blocks.js";
import { Run } from "./run.js";

export const MODES = ["outcome", "probability", "rank", "surprisal", "entropy", "difference"];

/**
 * Its events: `run` (another one is on show), `chips` (it has grown), `state` (of the run),
 * `select`, `reveal`, `mode`, `pieces`, `imagine`, `marks`, `block`, `problem`.
 */
export class Playback extends Emitter {
  /** @type {Run | null} */
  #run = null;
  #lane = 0;
  /** @type {Place | null} */
  #selected = null;
  /** @type {Place | null} */
  #preview = null;
  /** @type {Marks | null} */
  #marks = null;
  #mode = MODES[0];
  #pieces = false;
  #reveal = Number.POSITIVE_INFINITY;
  #pending = false;
  #fromFirst = false; // show the next run step by step
  #candidates = 10;
  #deep = 0;
  #blocks;

  /** @param {Pick<Transport, "block">} transport */
  constructor(transport) {
    super();
    this.#blocks = new Blocks((...question) => transport.block(...question), {
      onblock: () => this.emit("block"),
      onproblem: (message) => this.emit("problem", { message }),
    });
  }

  get run() {
    return this.#run;
  }

  /** The lane that is looked at. */
  get lane() {
    return this.#lane;
  }

  get selected() {
    return this.#selected;
  }

  /** What the pointer rests on. */
  get preview() {
    return this.#preview;
  }

  /** Steps that are marked on the timeline, null for none. */
  get marks() {
    return this.#marks;
  }

  get mode() {
    return this.#mode;
  }

  /** Whether the prompt is shown token by token. */
  get pieces() {
    return this.#pieces;
  }

  /** How many tokens of each lane are shown. */
  get reveal() {
    return this.#reveal;
  }

  /** Whether the run is shown step by step. */
  get stepping() {
    return Number.isFinite(this.#reveal);
  }

  /** Whether the next token is looked at before it is drawn. */
  get pending() {
    return this.#pending;
  }

  get candidates() {
    return this.#candidates;
  }

  get busy() {
    return Boolean(this.#run?.busy);
  }

  /** What the inspector shows: what the pointer rests on, else what is selected. */
  get focus() {
    if (this.#preview) return this.#preview;
    if (!this.#pending || !this.#run) return this.#selected;
    return { lane: this.#lane, i: this.#reveal };
  }

  /**
   * Take one message of a run; returns false when something before it is missing.
   * @param {Message} message
   */
  take(message) {
    if (!this.#run || this.#run.id !== message.run) {
      if (!message.head || !message.run) return false;
      this.#open(new Run(message.run, message.head));
    }
    const run = /** @type {Run} */ (this.#run);
    const grown = run.grow(message);
    if (grown === null) return false;
    if (grown) this.emit("chips");
    this.setState(message.state ?? run.state);
    return true;
  }

  /** @param {Run} run */
  #open(run) {
    this.#run = run;
    this.#reveal = this.#fromFirst ? 0 : Number.POSITIVE_INFINITY;
    this.#pending = this.#fromFirst;
    this.#fromFirst = false;
    this.#selected = null;
    this.#preview = null;
    const on = run.head.lanes.findIndex((lane) => lane.sampler.xtc.rho > 0);
    this.#lane = on < 0 ? run.lanes.length - 1 : on;
    this.#blocks.begin(run);
    this.setMarks(null);
    this.emit("run");
    this.emit("select");
  }

  /** @param {RunState} state */
  setState(state) {
    if (this.#run?.enter(state)) this.emit("state", { state });
  }

  /** Whether the next run is to be shown step by step. @param {boolean} stepping */
  expect(stepping) {
    this.#fromFirst = stepping;
  }

  /** @param {number} lane */
  shown(lane) {
    return Math.min(this.#run?.lanes[lane]?.chips.length ?? 0, this.#reveal);
  }

  /**
   * Step by step: show so many tokens; `pending` looks at the next one before it is drawn.
   * @param {number} reveal
   * @param {boolean} pending
   */
  setReveal(reveal, pending) {
    const seen = this.#pending ? this.#reveal : reveal - 1;
    this.#reveal = Math.max(0, reveal);
    this.#pending = pending;
    this.emit("reveal");
    if (pending) this.emit("select", { origin: "step" });
    else if (Number.isFinite(seen)) this.select(this.#lane, seen, "step");
    else this.emit("select", { origin: "step" });
  }

  /** @param {number} lane @param {number} i @param {Cause} origin */
  select(lane, i, origin = "") {
    if (!this.#run?.lanes[lane]) return;
    const last = this.shown(lane) - 1;
    if (last < 0) return;
    this.#pending = false;
    this.#lane = lane;
    this.#selected = { lane, i: Math.max(0, Math.min(i, last)) };
    this.#preview = null;
    this.emit("select", { origin });
  }

  /** Look at another lane, at the same place. @param {number} lane @param {Cause} origin */
  look(lane, origin) {
    if (!this.#run?.lanes[lane]) return;
    this.#lane = lane;
    this.#preview = null;
    if (this.#pending) this.emit("select", { origin: "step" });
    else if (this.#selected) this.select(lane, this.#selected.i, origin);
  }

  /** @param {Place | null} at */
  hover(at) {
    if (at?.lane === this.#preview?.lane && at?.i === this.#preview?.i) return;
    this.#preview = at;
    this.emit("select", { origin: "hover" });
  }

  /**
   * Go to the next (or the previous) step of the lane for which `test` holds.
   * @param {1 | -1} direction
   * @param {(chip: ChipOutcome) => boolean} test
   */
  seek(direction, test) {
    const at = this.#selected ?? { lane: this.#lane, i: -1 };
    for (let i = at.i + direction; i >= 0 && i < this.shown(at.lane); i += direction) {
      if (this.#run && test(this.#run.outcome(at.lane, i))) return this.select(at.lane, i, "key");
    }
  }

  /** @param {Marks | null} marks */
  setMarks(marks) {
    if (!marks && !this.#marks) return;
    this.#marks = marks;
    this.emit("marks");
  }

  /** @param {string} mode */
  setMode(mode) {
    this.#mode = mode;
    this.emit("mode");
  }

  /** @param {boolean} pieces */
  setPieces(pieces) {
    this.#pieces = pieces;
    this.emit("pieces");
  }

  /** How many candidates of a step are shown. @param {number} candidates */
  setCandidates(candidates) {
    this.#candidates = candidates;
  }

  /** Fetch so many candidates, however few are shown. @param {number} deep */
  setDeep(deep) {
    this.#deep = deep;
  }

  /**
   * What each lane would be under other settings, null for a lane that stays as it is.
   * @param {(Imagined | null)[]} lanes
   */
  imagine(lanes) {
    for (const [k, imagined] of lanes.entries()) this.#run?.imagine(k, imagined);
    this.emit("imagine");
  }

  /** The full record of a step, undefined while it is on its way. @param {Place} at */
  step(at) {
    return this.#blocks.step(at, this.#depth);
  }

  /** @param {Place} at */
  prefetch(at) {
    this.#blocks.prefetch(at, this.#depth);
  }

  /** Look again at what is looked at: what could not be loaded may be there now. */
  seen() {
    this.emit("block");
  }

  /** Load the whole run, for when the server is away. */
  hold() {
    return this.#blocks.hold(this.#depth);
  }

  get #depth() {
    return Math.max(this.#candidates, this.#deep);
  }
}

// The same request with many seeds: asked for, waiting, growing seed by seed, done or stopped. It holds
// the spread on show and the one before it. No document.

import { Emitter } from "../core/emitter.js";
import { same } from "../session/draft.js";

/** @typedef {"idle" | "asked" | "waiting" | "writing" | "stopping"} SpreadPhase */
/**
 * A spread as far as the page has it. `ended` is "" while it grows.
 * @typedef {{ draft: Draft, count: number, head: SpreadHead, rows: SpreadRow[], tokens: number,
 *   summary: SpreadSummary | null, said: string[], ended: "" | "done" | "stopped" | "failed" }} Result
 */
/** @typedef {{ here: Result | null, former: Result | null }} SpreadMemory */

const CUT = "The server has left in the middle. The seeds that were there are kept.";

/**
 * Whether two drafts ask for the same but for the seed and, with `ofAnyLength`, the length.
 * @param {Draft} a
 * @param {Draft} b
 */
export function alike(a, b, ofAnyLength = false) {
  const bare = (/** @type {Draft} */ { settings, ...rest }) => {
    const { seed, max_new_tokens, ...others } = settings;
    return { ...rest, settings: { ...others, ...(ofAnyLength ? {} : { max_new_tokens }) } };
  };
  return same(bare(a), bare(b));
}

/**
 * Whether a result is what a draft and a number of seeds would be written as, or holds its seed.
 * @param {Result | null} result
 * @param {Draft} draft
 * @param {Typed} count
 */
export function covers(result, draft, count) {
  if (!result || result.ended === "failed" || result.count !== count) return false;
  return result.head.seeds.includes(Number(draft.settings.seed)) && alike(result.draft, draft);
}

/** Its events: `change`, `phase`, `refused` (with a `problem`). */
export class Spread extends Emitter {
  /** @type {SpreadPhase} */
  #phase = "idle";
  #number = 0;
  /** @type {string | null} The server's name of what is being written. */
  #current = null;
  /** @type {Result | null} */
  #here = null;
  /** @type {Result | null} */
  #former = null;
  /** @type {{ draft: Draft, count: number } | null} What was asked for, until it is on show. */
  #sent = null;
  #place = 0;
  #note = "";

  /** @param {Pick<Transport, "spread" | "stop">} transport */
  constructor(transport) {
    super();
    this.transport = transport;
  }

  get phase() {
    return this.#phase;
  }

  get idle() {
    return this.#phase === "idle";
  }

  get result() {
    return this.#here;
  }

  get former() {
    return this.#former;
  }

  /** How many runs are ahead of one that waits, and what the server has to say of that. */
  get waiting() {
    return { place: this.#place, note: this.#note };
  }

  /** @returns {SpreadMemory} */
  get memory() {
    return { here: this.#here, former: this.#former };
  }

  /** @param {Draft} draft @param {Typed} count */
  ask(draft, count) {
    const { spread } = this.transport;
    if (!this.idle || !spread) return false;
    const req = ++this.#number;
    this.#current = null;
    this.#sent = { draft: structuredClone(draft), count: Number(count) };
    this.#enter("asked");
    spread(
      { kind: "spread", ...structuredClone(draft), seeds: count, req },
      {
        onmessage: (message) => this.receive(message),
        oncut: () => this.receive({ req, error: { message: CUT } }),
      },
    );
    return true;
  }

  stop() {
    if (this.idle || this.#phase === "stopping") return;
    this.#enter("stopping");
    if (this.#current) this.transport.stop?.(this.#current);
  }

  /** @param {SpreadMessage} message */
  receive(message) {
    const { req, run, state, error, head } = message;
    if (req !== this.#number || this.idle) return;
    if (run && run !== this.#current) {
      this.#current = run;
      if (this.#phase === "stopping") this.transport.stop?.(run);
    }
    if (error) {
      this.emit("refused", { problem: error });
      return this.#end("failed");
    }
    if (head) this.#begin(head);
    this.#grow(message);
    if (state === "done" || state === "stopped") return this.#end(state);
    if (this.#phase === "stopping") return;
    this.#place = message.place ?? 0;
    this.#note = message.note ?? "";
    if (state === "waiting") this.#enter("waiting");
    else if (state === "running") this.#enter("writing");
  }

  /** Its turn has come: it takes the place of the one on show. @param {SpreadHead} head */
  #begin(head) {
    if (!this.#sent) return;
    if (this.#here?.rows.length) this.#former = this.#here;
    const empty = { rows: [], tokens: 0, summary: null, said: [] };
    this.#here = { ...this.#sent, head, ...empty, ended: "" };
    this.#sent = null;
  }

  /** @param {SpreadMessage} message */
  #grow({ head, rows = [], tokens, summary, said }) {
    const here = this.#sent ? null : this.#here;
    if (!here) return;
    this.#here = {
      ...here,
      rows: [...here.rows, ...rows],
      tokens: tokens ?? here.tokens,
      summary: summary ?? here.summary,
      said: said ?? here.said,
    };
    if (head || rows.length || said) this.emit("change");
  }

  /** @param {"done" | "stopped" | "failed"} how */
  #end(how) {
    if (!this.#sent && this.#here) this.#here = { ...this.#here, ended: how };
    this.#sent = null;
    this.#current = null;
    this.emit("change");
    this.#enter("idle");
  }

  /** @param {SpreadPhase} phase */
  #enter(phase) {
    this.#phase = phase;
    this.emit("phase");
  }

  /** Show the one before, which changes places with the one on show. */
  swap() {
    if (!this.idle || !this.#former) return;
    [this.#here, this.#former] = [this.#former, this.#here];
    this.emit("change");
  }

  /** What was here before the page was loaded anew. @param {SpreadMemory} memory */
  restore({ here, former }) {
    const ended = (/** @type {Result | null} */ one) =>
      one && { ...one, ended: one.ended || "stopped" };
    this.#here = ended(here);
    this.#former = ended(former);
    this.emit("change");
  }
}

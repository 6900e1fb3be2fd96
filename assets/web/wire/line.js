// The page's questions and runs over a wire, and what becomes of them when the server leaves and
// comes back. No document.

import { wordsOf } from "../core/errors.js";
import { GoneError, isAway } from "./errors.js";
import { Names } from "./names.js";
import { Presence } from "./presence.js";

/** @import { Wire } from "./wire.js" */

/**
 * `kept(run)` is a run's trace as the browser keeps it, null where it keeps none; `onmessage` takes
 * those of a run, and `oncut` follows where they break off.
 * @typedef {{
 *   kept: (run: string) => Promise<string | null>,
 *   onmessage: (message: Message) => void,
 *   oncut: (req: number) => void,
 * }} Ends
 */

export class Line {
  /** @param {Wire} wire @param {Ends} ends */
  constructor(wire, { kept, onmessage, oncut }) {
    this.wire = wire;
    this.kept = kept;
    this.onmessage = onmessage;
    this.oncut = oncut;
    this.presence = new Presence(wire.token, () => wire.start());
    this.names = new Names(kept, (text) => this.load(text));
    wire.ondoubt = () => this.presence.doubt();
  }

  /**
   * A question about nothing in particular. Throws what the server has to say against it.
   * @param {string} name
   * @param {unknown[]} values
   * @returns {Promise<any>}
   */
  ask(name, ...values) {
    return this.#answered(() => this.wire.ask(name, values));
  }

  /** The message that shows a trace file. @param {string} text */
  load(text) {
    return this.#answered(() => this.wire.load(text));
  }

  /** @param {() => Promise<string>} question @returns {Promise<any>} */
  async #answered(question) {
    try {
      const answer = JSON.parse(await question());
      const problem = answer?.error;
      if (problem) throw new (problem.gone ? GoneError : Error)(problem.message);
      return answer;
    } catch (error) {
      if (isAway(error)) this.presence.lost();
      throw error;
    }
  }

  /**
   * A question about a run. @param {string} name @param {string} run @param {unknown[]} values
   * @returns {Promise<any>}
   */
  about(name, run, ...values) {
    return this.names.ask(run, (known) => this.ask(name, known, ...values));
  }

  /** Write a run. @param {RunRequest & { req: number }} request */
  run(request) {
    return this.#write(request, this);
  }

  /** Write many seeds of a run. @param {SpreadRequest & { req: number }} request @param {SpreadEnds} ends */
  spread(request, ends) {
    return this.#write(request, ends);
  }

  /** Audit the server of the model. @param {AuditRequest & { req: number }} request @param {AuditEnds} ends */
  audit(request, ends) {
    return this.#write(request, ends);
  }

  /**
   * @template {{ req?: number, run?: string, error?: Problem }} M
   * @param {(RunRequest | SpreadRequest | AuditRequest) & { req: number }} request
   * @param {{ onmessage: (message: M) => void, oncut: (req: number) => void }} ends
   * @returns {Promise<void>}
   */
  async #write(request, ends, again = true) {
    const { req } = request;
    const of = "run" in request ? request.run : null;
    const name = of === null ? null : this.names.of(of);
    const asked = name === null ? request : { ...request, run: name };
    try {
      for await (const text of this.wire.run(asked)) {
        const message = /** @type {M} */ (JSON.parse(text));
        if (message.error?.stale && again) {
          if (await this.wire.renew()) return this.#write(request, ends, false);
        } else if (message.error?.gone && of !== null && name !== null && again) {
          if (await this.names.bring(of, name)) return this.#write(request, ends, false);
        }
        ends.onmessage(message);
      }
    } catch (error) {
      if (isAway(error)) {
        this.presence.lost();
        ends.oncut(req);
      } else ends.onmessage(/** @type {M} */ ({ req, error: { message: wordsOf(error) } }));
    }
  }

  /** A run as a file; its trace is in the browser too. @param {string} run @param {string} kind */
  async export(run, kind) {
    try {
      return await this.about("export", run, kind);
    } catch (error) {
      const here = kind === "trace" && isAway(error);
      const text = here ? await this.kept(run) : null;
      if (text === null) throw error;
      return text;
    }
  }

  /** @returns {Transport} */
  get transport() {
    const { names } = this;
    return {
      run: (request) => void this.run(request),
      spread: (request, ends) => void this.spread(request, ends),
      stop: (run) => this.ask("stop", run).catch(() => {}),
      block: (run, lane, index, candidates, xtc) =>
        this.about("block", run, lane, index, candidates, xtc),
      stages: (run, lane, i, candidates) => this.about("stages", run, lane, i, candidates),
      whatIf: (run, lane, xtc) => this.about("what_if", run, lane, xtc),
      engines: (run, lane, i, xtc) => this.about("engines", run, lane, i, xtc),
      engineStages: (run, lane, i, engine, xtc) =>
        this.about("engine_stages", run, lane, i, engine, xtc),
      enginesAlong: (run, lane, xtc) => this.about("engines_along", run, lane, xtc),
      enginesTyped: (numbers) => this.ask("engines_typed", numbers),
      tokens: (protect) => this.ask("tokens", protect),
      becomes: (run, lane, i, text) => this.about("becomes", run, lane, i, text),
      strength: (run, lane, xtc) => this.about("strength", run, lane, xtc),
      dice: (run, lane) => this.about("dice", run, lane),
      export: (run, kind) => this.export(run, kind),
      figure: (run, wanted, xtc) => this.about("figure", run, wanted, xtc),
      takeHome: (lane, form, protect) => this.ask("take_home", lane, form, protect),
      bringHere: (text, form) => this.ask("bring_here", text, form),
      load: (text) => this.load(text),
      cell: (cells) => this.ask("cell", cells),
      open: (run, at) =>
        names.ask(run, async (known) => ({ ...(await this.ask("open", known, at)), run })),
    };
  }

  /** @returns {ModelTransport} */
  get models() {
    return {
      hello: (load) => this.ask("hello", load),
      models: (precision, device) => this.ask("models", precision, device),
      chooseModel: (data) => this.ask("choose_model", data),
      stopModel: (load) => this.ask("stop_model", load),
      putAway: () => this.ask("put_away_model"),
      audit: (request, ends) => void this.audit(request, ends),
      stop: (run) => this.ask("stop", run).catch(() => {}),
    };
  }
}

// What the page says to the server and hears from it, by gradio's own routes. Gradio's client in the
// page would, when a stream breaks, lay a box over the page, take no more requests and load the page
// anew; this one says that the server is away, and goes on when it is back. No document.

import { AwayError } from "./errors.js";
import { edited, queueMessages } from "./events.js";

/**
 * Where the page's component is: `root` is the page's address, `prefix` that of gradio's routes,
 * `component` the component's number and `event` that of its event; `token` is that of the server's
 * start, which shows the server that a request comes from a page of its own.
 * @typedef {{ root: string, prefix: string, component: number, event: number, token: string }} Where
 */
/**
 * What may differ: `ticket()` gives the headers of a run.
 * @typedef {{ fetch?: typeof fetch, ticket?: () => Promise<Record<string, string>> }} Ways
 */

const TOKEN = "x-xtc-viz-token";
const START = "/xtc_viz/start";
const TRACE = "/xtc_viz/trace";
const PATIENCE = 5000; // milliseconds for the answer of a server that is there
const GATEWAY = [502, 504, 520, 521, 522, 523, 524, 530]; // said by a proxy whose server is away

/** A name that nobody can guess: whoever knows it can listen to the run. */
function secret() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Wire {
  /** @param {Where} where @param {Ways} ways */
  constructor({ root, prefix, component, event, token }, ways = {}) {
    this.root = root.replace(/\/+$/, "");
    this.prefix = prefix;
    this.component = component;
    this.event = event;
    this.token = token;
    this.fetch = ways.fetch ?? ((input, init) => fetch(input, init));
    this.ticket = ways.ticket ?? (async () => ({}));
    /** Follows when nothing was heard for a while from a server that owes an answer. */
    this.ondoubt = () => {};
  }

  /**
   * One request. Throws `AwayError` where no server answers.
   * @param {string} path
   * @param {RequestInit} init
   * @returns {Promise<Response>}
   */
  async #send(path, init = {}) {
    const doubt = setTimeout(() => this.ondoubt(), PATIENCE);
    /** @type {Response} */
    let response;
    try {
      response = await this.fetch(`${this.root}${path}`, init);
    } catch (error) {
      throw error instanceof DOMException && error.name === "TimeoutError"
        ? error
        : new AwayError();
    } finally {
      clearTimeout(doubt);
    }
    if (GATEWAY.includes(response.status)) throw new AwayError();
    return response;
  }

  /**
   * Post JSON, by the token of the server's present start.
   * @param {string} path
   * @param {string} body
   * @param {Record<string, string>} more
   * @returns {Promise<Response>}
   */
  async #post(path, body, more = {}, again = true) {
    const headers = { "Content-Type": "application/json", [TOKEN]: this.token, ...more };
    const response = await this.#send(path, { method: "POST", body, headers });
    const stale = response.status === 403 && again && (await this.renew());
    return stale ? this.#post(path, body, more, false) : response;
  }

  /**
   * What a question of the page is answered: JSON text. Throws.
   * @param {string} name
   * @param {unknown[]} values
   * @returns {Promise<string>}
   */
  async ask(name, values) {
    const question = { fn_name: name, component_id: this.component, session_hash: secret() };
    const body = JSON.stringify({ ...question, data: values });
    const response = await this.#post(`${this.prefix}/component_server/`, body);
    if (!response.ok) throw new Error(await refusal(response));
    return spoken(response.json());
  }

  /**
   * What the server says to a trace file: JSON text. Throws.
   * @param {string} text
   * @returns {Promise<string>}
   */
  async load(text) {
    const response = await this.#post(TRACE, text);
    if (!response.ok) throw new Error(await refusal(response));
    return spoken(response.text());
  }

  /**
   * Which start of the server this is: its token. Throws `AwayError`, or a `TimeoutError`.
   * @returns {Promise<string>}
   */
  async start() {
    const response = await this.#send(START, { signal: AbortSignal.timeout(PATIENCE) });
    const { token } = await response.json().catch(() => ({}));
    if (!response.ok || typeof token !== "string") throw new AwayError();
    this.token = token;
    return token;
  }

  /** Learn the token of the present start; whether it is another. Throws. */
  async renew() {
    const before = this.token;
    return (await this.start()) !== before;
  }

  /**
   * The messages of a run as JSON text. Throws `AwayError` where they break off.
   * @param {unknown} request
   * @returns {AsyncGenerator<string, void, void>}
   */
  async *run(request) {
    const session = secret();
    const event = { fn_index: this.event, trigger_id: this.component, event_data: request };
    const body = JSON.stringify({ ...event, data: [], session_hash: session });
    const joined = await this.#post(`${this.prefix}/queue/join`, body, await this.ticket());
    if (!joined.ok) throw new Error(await refusal(joined));
    const stream = await this.#send(`${this.prefix}/queue/data?session_hash=${session}`);
    if (!stream.ok || !stream.body) throw new AwayError();
    yield* this.#heard(stream.body);
  }

  /** @param {ReadableStream<Uint8Array<ArrayBuffer>>} body @returns {AsyncGenerator<string, void, void>} */
  async *#heard(body) {
    /** @type {string | null} */
    let text = null;
    let doubt = 0;
    const listen = () => {
      clearTimeout(doubt);
      doubt = setTimeout(() => this.ondoubt(), PATIENCE);
    };
    listen();
    try {
      for await (const said of queueMessages(body)) {
        listen();
        const [update] = said.output?.data ?? [];
        if (said.msg === "process_generating" && said.success && update !== undefined) {
          text = edited(text, update);
          yield text;
        } else if (said.msg === "process_completed") {
          // Its text is the last one once more.
          if (said.success === false) throw new Error(said.output?.error || BROKEN);
          return;
        } else if (said.msg === "unexpected_error") throw new AwayError();
      }
    } finally {
      clearTimeout(doubt);
    }
    throw new AwayError(); // it broke off
  }
}

const BROKEN = "Something went wrong on the server; its log says what.";

/**
 * An answer; one that breaks off is none. Throws `AwayError`.
 * @template T
 * @param {Promise<T>} answer
 */
async function spoken(answer) {
  try {
    return await answer;
  } catch {
    throw new AwayError(); // the server has left while it spoke
  }
}

/** Why the server refuses, in its own words where it has some. @param {Response} response */
async function refusal(response) {
  const text = await response.text().catch(() => "");
  const words = text.startsWith("{") ? saidIn(text) : text;
  const full = response.status === 503 && String(words).startsWith("Queue is full");
  if (full) return "The server is busy: too many runs wait. Try again soon.";
  const fit = typeof words === "string" && words !== "" && words.length < 300;
  return fit ? words : `The server refused this (${response.status}).`;
}

/** @param {string} json @returns {unknown} */
function saidIn(json) {
  try {
    const { detail, error } = JSON.parse(json);
    return detail ?? error;
  } catch {
    return null;
  }
}

// The page inside gradio's HTML component: its props carry the messages, its events the requests.

import { Page } from "./page/page.js";
import { Token } from "./token.js";

/**
 * What gradio gives to `js_on_load`.
 * @typedef {{
 *   element: HTMLElement,
 *   trigger: (event: string, data: unknown) => void,
 *   props: { value: string },
 *   server: Record<string, (values: unknown[]) => Promise<string>>,
 *   watch: (name: string, listener: () => void) => void,
 * }} Gradio
 */

/** The address of the page's server. */
function home() {
  const { gradio_config: config } = /** @type {{ gradio_config?: { root?: string } }} */ (
    /** @type {unknown} */ (window)
  );
  return new URL(config?.root || ".", location.href).href;
}

/**
 * `start` is the token of the server's start.
 * @param {Gradio} gradio
 * @param {Spec} spec
 * @param {string} start
 */
export function startPage({ element, trigger, props, server, watch }, spec, start) {
  const token = new Token(start, home(), window.fetch.bind(window));
  // gradio makes the requests itself.
  window.fetch = (input, init) => token.fetch(input, init);
  /** @type {(name: string, values: unknown[]) => Promise<string>} */
  const question = async (name, values) => {
    try {
      return await server[name](values);
    } catch (error) {
      // A page that outlived the server it came from asks once more, by the token of the new one.
      if (await token.renew().catch(() => false)) return server[name](values);
      throw error;
    }
  };
  /** @type {(RunRequest & { req: number }) | null} The last run that was asked for. */
  let wish = null;
  const ask = async (/** @type {string} */ name, /** @type {unknown[]} */ ...values) => {
    const answer = JSON.parse(await question(name, values));
    if (answer?.error) throw new Error(answer.error.message);
    return answer;
  };
  /** @type {Transport} */
  const transport = {
    run: (request) => {
      wish = request;
      trigger("run", request);
    },
    stop: (run) => question("stop", [run]),
    block: (run, lane, index, candidates, xtc) => ask("block", run, lane, index, candidates, xtc),
    stages: (run, lane, i, candidates) => ask("stages", run, lane, i, candidates),
    whatIf: (run, lane, xtc) => ask("what_if", run, lane, xtc),
    tokens: (protect) => ask("tokens", protect),
    becomes: (run, lane, i, text) => ask("becomes", run, lane, i, text),
    strength: (run, lane, xtc) => ask("strength", run, lane, xtc),
    export: (run, kind) => ask("export", run, kind),
    figure: (run, wanted, xtc) => ask("figure", run, wanted, xtc),
    load: (text) => ask("load", text),
    open: (run, at) => ask("open", run, at),
  };
  /** @type {ModelTransport} */
  const models = {
    hello: (load) => ask("hello", load),
    models: (precision, device) => ask("models", precision, device),
    chooseModel: (data) => ask("choose_model", data),
    stopModel: (load) => ask("stop_model", load),
    putAway: () => ask("put_away_model"),
  };
  const root = /** @type {HTMLElement} */ (element.querySelector(".xtc"));
  const page = new Page(root, spec, transport, models);
  let last = "";
  const take = async () => {
    if (!props.value || props.value === last) return;
    last = props.value;
    const message = JSON.parse(props.value);
    const stale = message?.error?.stale && wish && message.req === wish.req;
    if (stale && (await token.renew().catch(() => false))) trigger("run", wish);
    else page.session.receive(message);
  };
  watch("value", take);
  take();
  page.picker?.greet();
  page.follow();
  return page;
}

// The page inside gradio's HTML component: its props carry the messages, its events the requests.

import { Page } from "./page/page.js";

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

/**
 * @param {Gradio} gradio
 * @param {Spec} spec
 */
export function startPage({ element, trigger, props, server, watch }, spec) {
  const ask = async (/** @type {string} */ name, /** @type {unknown[]} */ ...values) => {
    const answer = JSON.parse(await server[name](values));
    if (answer?.error) throw new Error(answer.error.message);
    return answer;
  };
  /** @type {Transport} */
  const transport = {
    run: (request) => trigger("run", request),
    stop: (run) => server.stop([run]),
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
  const take = () => {
    if (!props.value || props.value === last) return;
    last = props.value;
    page.session.receive(JSON.parse(props.value));
  };
  watch("value", take);
  take();
  page.picker?.greet();
  page.follow();
  return page;
}

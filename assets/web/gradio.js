// The page inside gradio's HTML component: its props carry the messages, its events the requests.

import { Page } from "./page/page.js";

/** `gradio` holds what gradio gives to `js_on_load`: element, trigger, props, server, watch. */
export function startPage({ element, trigger, props, server, watch }, spec) {
  const ask = async (name, ...values) => {
    const answer = JSON.parse(await server[name](values));
    if (answer?.error) throw new Error(answer.error.message);
    return answer;
  };
  const transport = {
    run: (request) => trigger("run", request),
    stop: (run) => server.stop([run]),
    block: (run, lane, index, candidates, xtc) => ask("block", run, lane, index, candidates, xtc),
    stages: (run, lane, i, candidates) => ask("stages", run, lane, i, candidates),
    whatIf: (run, lane, xtc) => ask("what_if", run, lane, xtc),
    tokens: (protect) => ask("tokens", protect),
    strength: (run, lane, xtc) => ask("strength", run, lane, xtc),
    export: (run, kind) => ask("export", run, kind),
    load: (text) => ask("load", text),
    open: (run, at) => ask("open", run, at),
    hello: (load) => ask("hello", load),
    models: (precision, device) => ask("models", precision, device),
    chooseModel: (data) => ask("choose_model", data),
    stopModel: (load) => ask("stop_model", load),
    putAway: () => ask("put_away_model"),
  };
  const page = new Page(element.querySelector(".xtc"), spec, transport);
  let last = "";
  const take = () => {
    if (!props.value || props.value === last) return;
    last = props.value;
    page.message(JSON.parse(props.value));
  };
  watch("value", take);
  take();
  page.models.greet();
  page.follow();
  return page;
}

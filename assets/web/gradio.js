// The page inside gradio's HTML component: gradio says where it is and gives the first run; all else
// goes over a line of the page's own.

import { Page } from "./page/page.js";
import { Line } from "./wire/line.js";
import { gradioConfig, whereIs } from "./wire/where.js";
import { Wire } from "./wire/wire.js";

/**
 * What gradio gives to `js_on_load`.
 * @typedef {{ element: HTMLElement, props: { value: string } }} Gradio
 */

const HUB = "https://huggingface.co";

/** On a Space with borrowed GPUs: whose share of them a run takes, as the page around says it. */
function ticket() {
  const supported = /** @type {{ supports_zerogpu_headers?: boolean }} */ (window);
  const framed = window.parent !== window && location.hostname.endsWith(".hf.space");
  if (!framed || !supported.supports_zerogpu_headers) return Promise.resolve({});
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => {
      port1.close();
      resolve(data ?? {});
    };
    window.parent.postMessage("zerogpu-headers", HUB, [port2]);
  });
}

/**
 * `token` is that of the server's start.
 * @param {Gradio} gradio
 * @param {Spec} spec
 * @param {string} token
 */
export function startPage({ element, props }, spec, token) {
  const where = whereIs(gradioConfig(), "xtc-viz", "run", token);
  const root = /** @type {HTMLElement} */ (element.querySelector(".xtc"));
  const line = new Line(new Wire(where, { ticket }), {
    kept: async (run) => (await page.shelf?.shelf.trace(run)) ?? null,
    onmessage: (message) => page.session.receive(message),
    oncut: (req) => page.session.cut(req),
  });
  const page = new Page(root, spec, line.transport, line.models, line.presence);
  page.picker?.greet();
  page.opening?.begin(JSON.parse(props.value));
  return page;
}

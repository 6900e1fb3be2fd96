// The page of the laboratory inside gradio's HTML component. It asks over the same wire as the
// playground; only the figure, a plot of gradio's, is asked for by gradio's own event.

import { h } from "./core/dom.js";
import { LabPage } from "./lab/page.js";
import { Line } from "./wire/line.js";
import { gradioConfig, whereIs } from "./wire/where.js";
import { Wire } from "./wire/wire.js";

/**
 * What gradio gives to `js_on_load`.
 * @typedef {{ element: HTMLElement, trigger: (name: string, data: LabDraw) => void }} Gradio
 */

// Gradio writes names of its own before the rules of the page's sheet, which would beat these.
const OVER = ".gradio-container".repeat(6);

/**
 * `token` is that of the server's start, `style` the style sheet of this route.
 * @param {Gradio} gradio
 * @param {string} token
 * @param {string} style
 */
export function startLab({ element, trigger }, token, style) {
  document.head.append(h("style", {}, `${OVER} {\n${style}\n}`));
  const wire = new Wire(whereIs(gradioConfig(), "xtc-lab", "draw", token));
  const line = new Line(wire, { kept: async () => null, onmessage: () => {}, oncut: () => {} });
  const root = /** @type {HTMLElement} */ (element.querySelector(".xtc"));
  const page = new LabPage(root, {
    ask: (name, ...values) => line.ask(name, ...values),
    draw: (wanted) => trigger("draw", { ...wanted, token: wire.token }),
  });
  page.begin();
  return page;
}

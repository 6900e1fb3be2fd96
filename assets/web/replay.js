// A page of its own that shows one run offline: lanes, timeline and inspector, no server.

import { setText } from "./core/dom.js";
import { Page } from "./page/page.js";

/**
 * `blocks` are by lane and number, `kept` is the day.
 * @param {HTMLElement} root
 * @param {{ spec: Spec, message: Message & { head: RunHead }, blocks: Record<string, Block>,
 *   kept: string }} replay
 */
export function startReplay(root, { spec, message, blocks, kept }) {
  if (matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");
  /** @type {Transport} */
  const transport = {
    block: async (_run, lane, index) =>
      blocks[`${lane}/${index}`] ?? { first: 0, steps: [], texts: {} },
  };
  const page = new Page(root, spec, transport);
  page.session.receive(message);
  const { model, seed } = message.head;
  const line = root.querySelector(".model");
  if (line) setText(line, `${model.name} · seed ${seed} · kept on ${kept}`);
  return page;
}

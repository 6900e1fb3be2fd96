// A page of its own that shows one run offline: lanes, timeline and inspector, no server.

import { setText } from "./core/dom.js";
import { Page } from "./page/page.js";

export function startReplay(root, { spec, message, blocks, kept }) {
  if (matchMedia("(prefers-color-scheme: dark)").matches) document.body.classList.add("dark");
  const transport = {
    block: async (_run, lane, index) =>
      blocks[`${lane}/${index}`] ?? { first: 0, steps: [], texts: {} },
  };
  const page = new Page(root, spec, transport);
  page.message(message);
  const { model, seed } = message.head;
  setText(root.querySelector(".model"), `${model.name} · seed ${seed} · kept on ${kept}`);
  return page;
}

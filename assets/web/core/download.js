// A file that the browser saves.

import { h } from "./dom.js";

/** @param {string} name @param {string | Blob} content @param {string} type */
export function download(name, content, type) {
  const url = URL.createObjectURL(
    content instanceof Blob ? content : new Blob([content], { type }),
  );
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

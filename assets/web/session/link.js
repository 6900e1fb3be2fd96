// A link that holds a whole request: prompt, seed, lanes, the step to look at, and whether the page
// opens as for a classroom. Pure.

import { readDraft, readPlace } from "./linkdraft.js";

const KEY = "#run=";
const NAMED = 3; // of the values that are wrong

/**
 * @param {string} page the address without what stands behind `#`
 * @param {Draft} draft
 * @param {Place | null} selected
 * @param {boolean} presenting
 */
export function toLink(page, draft, selected, presenting = false) {
  const request = { v: 1, draft, selected, ...(presenting ? { presenting } : {}) };
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  // One by one: a call takes no hundred thousand arguments.
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return `${page}${KEY}${text}`;
}

/**
 * What a link asks for, in values that this page can run with; null for an address without a
 * request. `words` say what of it cannot be: values that have their defaults now, or, without a
 * `request`, all of it.
 * @param {string} hash
 * @param {Spec} spec
 * @returns {{ request: { draft: Draft, selected: Place | null, presenting: boolean } | null,
 *   words: string } | null}
 */
export function fromLink(hash, spec) {
  if (!hash.startsWith(KEY)) return null;
  const data = decoded(hash.slice(KEY.length));
  if (!data) return { request: null, words: "This link is broken or cut short." };
  if (data.v !== 1 || typeof data.draft !== "object" || !data.draft) {
    return { request: null, words: "This link holds no request that this page knows." };
  }
  const { draft, wrong } = readDraft(data.draft, spec);
  const selected = readPlace(data.selected, draft);
  const request = { draft, selected, presenting: data.presenting === true };
  return { request, words: replaced(wrong) };
}

/**
 * The stored texts of the laboratory that a link asks for, by their names: one, or two of the same
 * dice side by side; none for any other address.
 * @param {string} hash
 * @returns {string[]}
 */
export function cellsIn(hash) {
  return /^#cell=[0-9a-f]+(,[0-9a-f]+)?$/.test(hash) ? hash.slice("#cell=".length).split(",") : [];
}

/** @param {string} text @returns {Record<string, unknown> | null} */
function decoded(text) {
  try {
    const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(plain, (c) => c.charCodeAt(0));
    const data = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return typeof data === "object" ? data : null;
  } catch {
    return null;
  }
}

/** @param {string[]} wrong */
function replaced(wrong) {
  if (!wrong.length) return "";
  const more = wrong.length > NAMED ? `; and ${wrong.length - NAMED} more` : "";
  return (
    "This link has values that cannot be. Their defaults are in their place, and nothing runs by " +
    `itself: ${wrong.slice(0, NAMED).join("; ")}${more}.`
  );
}

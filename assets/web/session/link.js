// A link that holds a whole request: prompt, seed, lanes, the step to look at, and whether the page
// opens as for a classroom. Pure.

const KEY = "#run=";

/**
 * @param {string} page the address without what stands behind `#`
 * @param {Draft} draft
 * @param {Place | null} selected
 * @param {boolean} presenting
 */
export function toLink(page, draft, selected, presenting = false) {
  const request = { v: 1, draft, selected, ...(presenting ? { presenting } : {}) };
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return `${page}${KEY}${text}`;
}

/**
 * What a link asks for, or null; a broken link asks for nothing.
 * @param {string} hash
 * @returns {{ draft: Draft, selected: Place | null, presenting: boolean } | null}
 */
export function fromLink(hash) {
  if (!hash.startsWith(KEY)) return null;
  try {
    const text = hash.slice(KEY.length).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const request = JSON.parse(new TextDecoder().decode(bytes));
    const fits = request.v === 1 && typeof request.draft?.prompt === "string";
    if (!fits || !Array.isArray(request.draft.settings?.lanes)) return null;
    return { ...request, presenting: Boolean(request.presenting) };
  } catch {
    return null;
  }
}

// A link that holds a whole request: prompt, seed, lanes, and the step to look at. Pure.

const KEY = "#run=";

/**
 * @param {string} page the address without what stands behind `#`
 * @param {Draft} draft
 * @param {Place | null} selected
 */
export function toLink(page, draft, selected) {
  const bytes = new TextEncoder().encode(JSON.stringify({ v: 1, draft, selected }));
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return `${page}${KEY}${text}`;
}

/**
 * What a link asks for, or null; a broken link asks for nothing.
 * @param {string} hash
 * @returns {{ draft: Draft, selected: Place | null } | null}
 */
export function fromLink(hash) {
  if (!hash.startsWith(KEY)) return null;
  try {
    const text = hash.slice(KEY.length).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const request = JSON.parse(new TextDecoder().decode(bytes));
    const fits = request.v === 1 && typeof request.draft?.prompt === "string";
    return fits && Array.isArray(request.draft.settings?.lanes) ? request : null;
  } catch {
    return null;
  }
}

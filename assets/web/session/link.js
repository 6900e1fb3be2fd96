// A link that holds a whole request: prompt, seed, lanes, and the step to look at.

const KEY = "#run=";

export function toLink(draft, selected) {
  const bytes = new TextEncoder().encode(JSON.stringify({ v: 1, draft, selected }));
  const text = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return `${location.origin}${location.pathname}${location.search}${KEY}${text}`;
}

/** What a link asks for, or null; a broken link asks for nothing. */
export function fromLink(hash) {
  if (!hash.startsWith(KEY)) return null;
  try {
    const text = hash.slice(KEY.length).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const found = JSON.parse(new TextDecoder().decode(bytes));
    const fits = found.v === 1 && typeof found.draft?.prompt === "string";
    return fits && Array.isArray(found.draft.settings?.lanes) ? found : null;
  } catch {
    return null;
  }
}

// The choice of protected tokens. Pure.

/**
 * A draft's choice in full; links of older pages say yes or no for the line breaks.
 * @param {{ eos?: boolean, newline?: string | boolean, texts?: string[] }} choice
 * @returns {Protection}
 */
export function protection({ eos = true, newline = true, texts = [] } = {}) {
  const named = typeof newline === "string" ? newline : newline ? "all" : "none";
  return { eos, newline: named, texts: [...texts] };
}

/** @param {Protection} a @param {Protection} b */
export function sameProtection(a, b) {
  return a.eos === b.eos && a.newline === b.newline && a.texts.join("\n") === b.texts.join("\n");
}

// What went wrong, in words. Pure.

/**
 * A text as a message may quote it: short, and without what turns or breaks a line.
 * @param {string} text
 * @param {number} most characters
 */
export function quoted(text, most) {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

/** @param {unknown} error */
export function wordsOf(error) {
  return error instanceof Error ? error.message : String(error);
}

// Numbers and texts as people read them. Pure.

/** @type {Record<string, string>} */
const SIGNS = { " ": "·", "\u00a0": "·", "\n": "↵", "\t": "⇥", "\r": "↵" };

const TURN = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069";
const SILENT = new RegExp(`([ \\u00a0\\n\\t\\r]+|[${TURN}]+)`);
const TURNS = new RegExp(`[${TURN}]`);

/**
 * Whether a text holds marks that turn the direction of writing, also of what follows it.
 * @param {string} text
 */
export function turns(text) {
  return TURNS.test(text);
}

/** What stands for a character that does not show. @param {string} c */
function sign(c) {
  const code = c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return SIGNS[c] ?? `U+${code}`;
}

/**
 * A token's text in visible parts: [text, whether it is a sign for what does not show].
 * @param {string} text
 * @returns {[string, boolean][]}
 */
export function visible(text) {
  /** @type {[string, boolean][]} */
  const parts = [];
  for (const piece of text.split(SILENT)) {
    if (!piece) continue;
    if (SILENT.test(piece[0])) parts.push([[...piece].map(sign).join(""), true]);
    else parts.push([piece, false]);
  }
  if (!parts.length) parts.push(["∅", true]);
  // White space between words needs no sign; it shows by itself.
  return parts.map((part, i) =>
    part[1] && i && i < parts.length - 1 && /^·$/.test(part[0]) ? [" ", false] : part,
  );
}

/**
 * The same as one text.
 * @param {string} text
 */
export function shown(text) {
  return visible(text)
    .map(([part]) => part)
    .join("");
}

/**
 * A probability in two digits, never parted from its sign by the end of a line; `least` is the
 * smallest percentage that is written out.
 * @param {number} p
 */
export function percent(p, least = 0.01) {
  const value = 100 * p;
  if (value >= 9.95 || value === 0) return `${value.toFixed(0)}\u00a0%`;
  if (value >= 0.95 * least) return `${Number(value.toPrecision(2))}\u00a0%`;
  return `<\u00a0${least}\u00a0%`;
}

/** @param {number} value */
export function decimal(value, digits = 2) {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

/**
 * A setting as people write it: .5 → "0.50", 160 → "160", 0.0003 → "0.0003"; no number is "?".
 * @param {unknown} value
 */
export function setting(value) {
  if (typeof value !== "number") return "?";
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) < 0.01 ? String(value) : value.toFixed(3).replace(/0$/, "");
}

/**
 * A draw beside the threshold it was compared with: digits enough to tell them apart.
 * @param {number} value
 * @param {number} threshold
 */
export function besideThreshold(value, threshold) {
  const digits = value.toFixed(2) === threshold.toFixed(2) ? 4 : 2;
  return value.toFixed(digits);
}

/** @param {number} n @param {string} one */
export function count(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

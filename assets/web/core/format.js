// Numbers and texts as people read them. Pure.

/** @type {Record<string, string>} */
const SIGNS = { " ": "·", "\u00a0": "·", "\n": "↵", "\t": "⇥", "\r": "↵" };

/**
 * A token's text in visible parts: [text, whether it is a sign for white space].
 * @param {string} text
 * @returns {[string, boolean][]}
 */
export function visible(text) {
  /** @type {[string, boolean][]} */
  const parts = [];
  for (const piece of text.split(/([ \u00a0\n\t\r]+)/)) {
    if (!piece) continue;
    if (SIGNS[piece[0]]) parts.push([[...piece].map((c) => SIGNS[c]).join(""), true]);
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
 * A probability in two digits; `least` is the smallest percentage that is written out.
 * @param {number} p
 */
export function percent(p, least = 0.01) {
  const value = 100 * p;
  if (value >= 9.95 || value === 0) return `${value.toFixed(0)} %`;
  if (value >= 0.95 * least) return `${Number(value.toPrecision(2))} %`;
  return `< ${least} %`;
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

// What was typed into a setting, and what is wrong with it. Pure.

/**
 * What was typed: a number where it is one, with a point or a comma ("0,2"), else the text. In a
 * whole number a comma may stand for thousands, so there it is no number.
 * @param {string} text
 * @returns {Typed}
 */
export function typed(text, whole = false) {
  const trimmed = text.trim();
  const plain = !whole && /^[+-]?\d*,\d+$/.test(trimmed) ? trimmed.replace(",", ".") : trimmed;
  return plain !== "" && Number.isFinite(Number(plain)) ? Number(plain) : trimmed;
}

/**
 * What is wrong with a value, in the words of the server; empty when nothing is.
 * @param {Pick<KnobSpec, "label" | "interval" | "min" | "max" | "open" | "integer">} knob
 * @param {Typed} value
 */
export function fault({ label, interval, min, max, open, integer }, value) {
  const words = `${label} must be ${interval}, but is `;
  if (typeof value !== "number") return words + (value === "" ? "empty" : `“${value}”`);
  const low = open[0] ? value > min : value >= min;
  const high = max === null || (open[1] ? value < max : value <= max);
  return low && high && (!integer || Number.isInteger(value)) ? "" : words + value;
}

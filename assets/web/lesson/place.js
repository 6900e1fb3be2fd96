// Where the card of the tour stands: beside the part that it speaks of, within the window. Pure.

const GAP = 14; // pixels between the card and anything else
const PHONE = 640;

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

/**
 * Without a part in the corner below. To the left of the part, else below, above or to the right of
 * it, else at the end of the window that is farther from it. On a phone at that end always: the
 * part stands in a sheet.
 * @param {Box | undefined} part
 * @param {{ width: number, height: number }} card
 * @param {number} wide of the window
 * @param {number} high
 */
export function besidePart(part, { width, height }, wide, high) {
  const [most, least] = [wide - GAP - width, high - GAP - height];
  if (!part) return { x: GAP, y: Math.max(GAP, least) };
  const within = (/** @type {number} */ at, /** @type {number} */ end) =>
    Math.max(GAP, Math.min(at, end));
  const [x, y] = [within(part.left, most), within(part.top, least)];
  const far = (part.top + part.bottom) / 2 > high / 2 ? GAP : Math.max(GAP, least);
  if (wide <= PHONE) return { x: GAP, y: far };
  const left = part.left - GAP - width;
  if (left >= GAP) return { x: left, y };
  if (part.bottom + GAP <= least) return { x, y: part.bottom + GAP };
  if (part.top - GAP - height >= GAP) return { x, y: part.top - GAP - height };
  if (part.right + GAP <= most) return { x: part.right + GAP, y };
  return { x, y: far };
}

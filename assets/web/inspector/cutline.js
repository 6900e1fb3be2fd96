// The line of a threshold among bars: it leaves out the numbers, so that both can be read. Pure.

/**
 * About the width of a text of this size in pixels, rather too much than too little.
 * @param {string} text
 */
export function extent(text, size = 13) {
  return text.length * size * 0.6;
}

/**
 * An upright path at `x` from `top` to `bottom` without what `gaps`, [from, to] downwards, cover.
 * @param {number} x
 * @param {number} top
 * @param {number} bottom
 * @param {[number, number][]} gaps
 */
export function cutLine(x, top, bottom, gaps) {
  let path = "";
  let y = top;
  for (const [from, to] of [...gaps, [bottom, bottom]]) {
    const end = Math.min(from, bottom);
    if (end > y) path += `M${x} ${y}V${end}`;
    y = Math.max(y, to);
  }
  return path;
}

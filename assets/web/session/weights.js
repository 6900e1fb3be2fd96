// Whether two models are the same one. Pure.

/**
 * Whether a text of one can be gone on with by the other; device and dtype may differ.
 * @param {ModelLine | null | undefined} one
 * @param {ModelLine | null | undefined} other
 */
export function sameWeights(one, other) {
  if (!one || !other) return false;
  return (
    one.name === other.name &&
    one.revision === other.revision &&
    one.parameters === other.parameters
  );
}

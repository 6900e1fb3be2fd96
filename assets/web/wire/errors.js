// What may be wrong with a server, so that the page knows it apart. Pure.

/** The server was not reached, or has left in the middle. */
export class AwayError extends Error {
  name = "AwayError";

  constructor() {
    super("The server is away.");
  }
}

/** There is no such run (any more). */
export class GoneError extends Error {
  name = "GoneError";
}

/** @param {unknown} error */
export function isAway(error) {
  return error instanceof AwayError;
}

/** @param {unknown} error */
export function isGone(error) {
  return error instanceof GoneError;
}

// Whose rule a lane's XTC follows: an engine's by its name, the paper's without one. Pure.

export const PAPER = "paper";

/** @param {{ dialect?: string }} xtc */
export function dialectOf({ dialect }) {
  return dialect ?? PAPER;
}

/**
 * What a question about other XTC settings says of a lane's own: all but what is protected. The
 * dialect is always named, so that the paper's is none of what was left out.
 * @param {{ rho: Typed, tau: Typed, strategy: string, dialect?: string }} xtc
 */
export function ruleOf({ rho, tau, strategy, dialect }) {
  return { rho, tau, strategy, dialect: dialect ?? PAPER };
}

/**
 * The same XTC settings with the rule of an engine.
 * @param {Xtc<Typed>} xtc
 * @param {string} engine
 * @returns {Xtc<Typed>}
 */
export function withDialect({ dialect, ...others }, engine) {
  return engine === PAPER ? others : { ...others, dialect: engine };
}

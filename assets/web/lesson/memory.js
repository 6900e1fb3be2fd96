// What the browser remembers of the lesson, and nothing where it may not.

const PREFIX = "xtc_viz.lesson.";

/** @param {string} name */
export function recall(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // A browser that keeps nothing: the lesson begins anew.
  }
}

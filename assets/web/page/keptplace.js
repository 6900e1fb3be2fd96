// A run takes the place of another: what is below keeps its place until the new one is there.

/** @param {HTMLElement[]} elements */
export function holdHeights(elements) {
  for (const element of elements) {
    element.style.minHeight = `${element.getBoundingClientRect().height}px`;
  }
}

/** @param {HTMLElement} element */
export function releaseHeight(element) {
  if (element.style.minHeight) element.style.minHeight = "";
}

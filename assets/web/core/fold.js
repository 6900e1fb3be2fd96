// A part that unfolds: what one has asked for comes into sight.

/**
 * Have `fill` fill a part whenever it folds or unfolds. Where somebody unfolds it, as much of it as
 * fits is brought into sight then, its head first.
 * @param {HTMLDetailsElement} part
 * @param {() => unknown} fill may be a promise of its end
 */
export function unfolds(part, fill) {
  let byHand = false;
  part.querySelector("summary")?.addEventListener("click", () => {
    byHand = true;
  });
  part.addEventListener("toggle", async () => {
    const scrolls = byHand && part.open;
    byHand = false;
    await fill();
    if (scrolls && part.open) part.scrollIntoView({ block: "nearest" });
  });
}

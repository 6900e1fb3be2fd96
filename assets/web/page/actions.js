// What keys do on the page.

/** @import { Actions } from "./keys.js" */
/** @import { Page } from "./page.js" */

/** @param {Page} page @returns {Actions} */
export function actionsOf(page) {
  const { requests, stepper } = page;
  return {
    generate: () => requests.generate(),
    escape: () => leave(page),
    beside: () => page.inspector.turnBeside(),
    colour: () => page.colours.next(),
    step: () => stepper.next(),
    play: () => stepper.toggle(),
    help: () => page.lesson.openHelp(),
    present: () => page.present(!page.presenting),
    undo: () => requests.undo(),
    redo: () => requests.redo(),
  };
}

/** Esc closes the sheet, else pauses Play, stops a run, leaves step by step, leaves the stage. */
function leave(/** @type {Page} */ page) {
  const { root, sheet, stepper, playback } = page;
  if (root.querySelector("dialog[open]")) return false;
  if (sheet.isOpen && !playback.stepping) sheet.close();
  else if (stepper.playing) stepper.pause();
  else if (page.busy) page.stop();
  else if (playback.stepping) stepper.end();
  else if (page.presenting) page.present(false);
  else return false;
  return true;
}

// Where everything stands: the head, the composer, and the desk with the texts and the decision.

import { h } from "../core/dom.js";
import { foot } from "./foot.js";
import { labLink, pageHead } from "./head.js";

/** @import { Page } from "./page.js" */

/**
 * The nodes of the page, from above to below.
 * @param {Page} page
 * @returns {Node[]}
 */
export function arrangement(page) {
  const { composer, session, picker, lesson, shelf, lanes, colours } = page;
  const only = (/** @type {Node[]} */ ...nodes) => (session.live ? nodes : []);
  return [
    pageHead({
      ways: [
        ...lesson.ways,
        ...(page.numbers ? [page.numbers.button] : []),
        ...(page.spec.lab ? only(labLink()) : []),
      ],
      offer: lesson.offer,
      model: picker?.button ?? null,
      tools: only(
        page.shareLink.button,
        ...(shelf ? [shelf.panel.button] : []),
        page.saveMenu.element,
      ),
      present: () => page.present(!page.presenting),
      turn: () => document.body.classList.toggle("dark"),
      help: () => lesson.openHelp(),
    }),
    ...only(composer.element, composer.dialog),
    h(
      "div",
      { class: "desk" },
      h(
        "section",
        { class: "writing", "aria-label": "The texts" },
        h(
          "div",
          { class: "above" },
          page.statusLine.element,
          h("div", { class: "run-tools" }, only(...page.tools.buttons), page.stepper.element),
          page.whatIf.element,
        ),
        lanes.tabs,
        lanes.element,
        colours.element,
        page.timeline.element,
        page.markKey.element,
        foot(colours.piecesLabel),
      ),
      page.sheet.element,
    ),
    lesson.element,
    ...(shelf ? [shelf.panel.dialog] : []),
    ...(picker ? [picker.dialog] : []),
    ...(page.seeds ? [page.seeds.dialog.element] : []),
    ...(page.takeHome ? [page.takeHome.element] : []),
    ...(page.bringHere ? [page.bringHere.element] : []),
  ];
}

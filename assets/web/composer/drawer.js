// Who draws the tokens: this page, or a server of the model that has an XTC of its own.

import { set } from "../core/dom.js";
import { choice } from "../core/fields.js";

/** @import { NextRun } from "./nextrun.js" */

const HELP =
  "The page: it takes the server's probabilities and draws with its own XTC, so that lanes share " +
  "their dice. The server: it draws by itself, with the XTC that it has, and the page explains " +
  "each token.";

export class Drawer {
  /** @param {NextRun} run @param {() => void} onchange */
  constructor(run, onchange) {
    this.run = run;
    /** @type {boolean | null} Whether there is a choice; null while the model is not known. */
    this.open = null;
    const { select, element } = choice(
      "Drawn by",
      [
        ["page", "this page"],
        ["server", "the server"],
      ],
      (value) => {
        run.setRun("server_draws", value === "server");
        onchange();
      },
    );
    this.select = select;
    this.element = element;
    set(element, { title: HELP });
    this.fill();
  }

  /** Another model is in use. @param {ModelLine} model */
  model({ draws }) {
    this.open = draws;
    this.fill();
  }

  fill() {
    // A run of another model may have been drawn by its server; this one has none that could.
    if (this.open === false) this.run.setRun("server_draws", false);
    this.element.hidden = !this.open;
    this.select.value = this.run.settings.server_draws ? "server" : "page";
  }
}

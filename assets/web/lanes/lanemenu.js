// What can be done with one lane: go on with it, edit it, take its text away.

import { setText } from "../core/dom.js";
import { download } from "../core/download.js";
import { Menu } from "../core/menu.js";
import { fileName, markdown, plainText } from "./lanetext.js";

/** @import { Run } from "../session/run.js" */
/** @import { Item } from "../core/menu.js" */
/**
 * What the page does for a lane: write more of it, go on after its text as it was edited, take a
 * text as the next prompt, say its settings in another program's words. `can` says whether lane k could be written now, and whether it has not
 * come to its end.
 * @typedef {{
 *   goOn: (k: number) => void,
 *   rewrite: (k: number, text: string) => void,
 *   prompt: (text: string) => void,
 *   elsewhere: (k: number) => void,
 *   can: (k: number) => { write: boolean, goOn: boolean },
 * }} LaneActions
 */

const SIGN = "⋯";

export class LaneMenu {
  /**
   * `actions` are null where there is no server to ask; `onedit()` opens the editor.
   * @param {Run} run
   * @param {number} k
   * @param {Spec} spec
   * @param {LaneActions | null} actions
   * @param {() => void} onedit
   */
  constructor(run, k, spec, actions, onedit) {
    const { name } = run.head.lanes[k];
    const plain = () => plainText(run, k);
    const marked = () => markdown(run, k, spec);
    const save = (/** @type {string} */ ending, /** @type {string} */ text) =>
      download(
        fileName(run.head, k, ending),
        text,
        `text/${ending === "md" ? "markdown" : "plain"}`,
      );
    /** @type {Item[]} */
    const live = actions
      ? [
          ["Continue this lane", () => actions.goOn(k), () => actions.can(k).goOn],
          ["Edit the text …", onedit, () => actions.can(k).write],
          ["Keep as prompt", () => actions.prompt(plain())],
          ["Use in another program …", () => actions.elsewhere(k)],
        ]
      : [];
    const menu = new Menu(
      SIGN,
      [
        ...live,
        ["Copy text", () => this.copy(plain())],
        ["Copy as Markdown", () => this.copy(marked())],
        ["Save as text", () => save("txt", plain())],
        ["Save as Markdown", () => save("md", marked())],
      ],
      `${name}: continue, edit, copy`,
    );
    this.summary = menu.summary;
    this.element = menu.element;
  }

  /** @param {string} text */
  async copy(text) {
    const done = await navigator.clipboard.writeText(text).then(
      () => "copied",
      () => "not copied",
    );
    setText(this.summary, done);
    setTimeout(() => setText(this.summary, SIGN), 1500);
  }
}

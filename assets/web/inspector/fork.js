// Going on from a step with another word: by a click on a row of the bars, or with a word of one's
// own. One line says what a click does, and takes the last one back.

import { button, h, set, setText, token } from "../core/dom.js";
import { OwnWord } from "./ownword.js";

/** @import { Playback } from "../session/playback.js" */
/**
 * What a branch begins with: a token, or a text.
 * @typedef {{ token: number } | { text: string }} Chosen
 * `begin` begins a branch, `undo` takes the last one back, `becomes` answers which tokens a text
 * becomes at a place, null where the model that wrote the run is not in memory.
 * @typedef {{ begin: (at: Place, chosen: Chosen) => void, undo: () => void,
 *   becomes: Transport["becomes"] }} Branching
 * How things stand: why nobody can go on from here, if nobody can; whether a run is being written;
 * whether the run on show is a branch that can be taken back.
 * @typedef {{ why: string, idle: boolean, undoable: boolean }} Standing
 */

/**
 * What a click on a token does in a lane on show, in two parts around its name; null for nothing: the
 * text has this very token. `beside` says that another lane is on show too.
 * @param {Pick<Look, "name" | "step" | "imagined">} look
 * @param {number} id
 * @param {boolean} beside
 * @returns {[string, string] | null}
 */
export function deedOf({ name, step, imagined }, id, beside) {
  if (id < 0 || id === step.token) return null;
  const where = beside ? ` in ${name}` : "";
  // A what-if only imagines that a word is gone.
  if (step.removed.includes(id) && !imagined) return ["Restore ", ` and continue with it${where}`];
  return ["Continue with ", ` instead${where}`];
}

export class Fork {
  /** @param {Playback} playback @param {Branching | null} branching null where there is no server */
  constructor(playback, branching) {
    this.branching = branching;
    /** @type {Look[]} */
    this.looks = [];
    this.own = 0;
    /** @type {Standing} */
    this.standing = { why: "", idle: true, undoable: false };
    /** What is pointed at: a row, -1 for none, and the lane it is of, undefined for the selected. */
    this.pointed = { id: -1, side: /** @type {number | undefined} */ (undefined) };
    this.said = "";
    this.hint = h("span", { class: "hint" });
    this.undo = button("Undo the branch", () => branching?.undo(), { hidden: true });
    this.word = new OwnWord(playback, branching?.becomes, {
      onword: (text) => this.take({ text }),
      ontype: () => this.say(),
    });
    this.element = h(
      "div",
      { class: "fork", "data-testid": "fork", hidden: !branching },
      h("p", {}, this.hint, this.word.line, this.undo),
      this.word.element,
    );
  }

  /** Whether one can go on from here. */
  get open() {
    return Boolean(this.branching) && !this.standing.why;
  }

  /** @param {Standing} standing */
  stand(standing) {
    this.standing = standing;
    this.word.element.hidden = !this.open;
    this.word.again();
    this.say();
  }

  /** One or two lanes are on show, `own` is which of them is selected. @param {Look[]} looks */
  draw(looks, own = 0) {
    const same = looks.map(({ at }) => `${at.lane} ${at.i}`).join();
    if (same !== this.looks.map(({ at }) => `${at.lane} ${at.i}`).join()) this.pointed.id = -1;
    this.looks = looks;
    this.own = own;
    this.word.draw(looks[own]);
    this.say();
  }

  /** Whether one can go on with what XTC removed: a what-if only imagines that. */
  restores(/** @type {Look} */ { imagined }) {
    return this.open && !imagined;
  }

  /** @param {number} id @param {number} side */
  deed(id, side) {
    const look = this.looks[side];
    return this.open && look ? deedOf(look, id, this.looks.length > 1) : null;
  }

  /** The same of the selected lane, to be read out. @param {number} id @param {string} text */
  label(id, text) {
    const deed = this.deed(id, this.own);
    return deed && `${deed[0]}${text}${deed[1]}`;
  }

  /** A row was pressed. @param {number} id @param {number} side */
  pick(id, side = this.own) {
    if (this.deed(id, side)) this.take({ token: id }, side);
  }

  /** @param {Chosen} chosen @param {number} side */
  take(chosen, side = this.own) {
    const look = this.looks[side];
    if (this.open && this.standing.idle && look) this.branching?.begin(look.at, chosen);
  }

  /** A row is pointed at, or none any more. @param {number} id @param {number} [side] */
  point(id, side) {
    this.pointed = { id, side };
    this.say();
  }

  /** Say what a click on the row that is pointed at does, or on any. */
  say() {
    const { id, side = this.own } = this.pointed;
    const { why, idle, undoable } = this.standing;
    const began = undoable && this.looks[this.own]?.step.forced;
    this.undo.hidden = !began;
    this.undo.disabled = !idle;
    const deed = this.deed(id, side);
    const typed = !deed && !why && Boolean(this.word.input.value);
    this.hint.hidden = typed;
    this.word.line.hidden = !typed;
    const key = `${why} ${id} ${deed} ${began}`;
    if (this.said === key) return;
    this.said = key;
    if (deed) this.hint.replaceChildren(deed[0], token(this.text(id)), deed[1]);
    else if (why) setText(this.hint, why);
    else if (began) setText(this.hint, "A branch begins with your word.");
    else setText(this.hint, "Click a word to continue the text with it.");
    set(this.element, { "data-deed": deed ? "" : null });
  }

  /** A token that one of the lanes on show recorded. @param {number} id */
  text(id) {
    return this.looks.map(({ texts }) => texts[id]).find((text) => text) ?? "?";
  }
}

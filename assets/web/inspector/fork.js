// A candidate was chosen: offer to go on from there with its token, in each lane that has it.

import { button, h, token } from "../core/dom.js";

export class Fork {
  /**
   * `onbranch(at, token)` is called when someone wants to go on, null where nobody can.
   * @param {((at: Place, token: number) => void) | null} onbranch
   */
  constructor(onbranch) {
    this.onbranch = onbranch;
    /** @type {Look[]} */
    this.looks = [];
    this.hint = h("span", { class: "hint" }, "Click a word to continue the text with it.");
    this.element = h("p", { class: "fork", "data-testid": "fork", hidden: !onbranch }, this.hint);
  }

  /** One or two lanes are on show. @param {Look[]} looks */
  draw(looks) {
    this.looks = looks;
    if (this.element.firstChild !== this.hint) this.element.replaceChildren(this.hint);
  }

  /** Whether one can go on from here with what XTC removed: a what-if only imagines that. */
  restores(/** @type {Look} */ { imagined }) {
    return Boolean(this.onbranch) && !imagined;
  }

  /** A row of the bars was chosen. @param {EventTarget | null} target */
  pick(target) {
    const node = target instanceof Element ? target : null;
    const row = node?.closest(".row, .words");
    const id = Number(row?.getAttribute("data-id") ?? -1);
    if (id < 0 || !this.onbranch || !this.looks.length) return;
    const link = node?.closest(".restore");
    if (link) {
      const side = Number(link.getAttribute("data-side"));
      const { at } = this.looks[Math.min(side, this.looks.length - 1)];
      return this.onbranch(at, id);
    }
    const places = this.looks.filter((look) => look.step.ids.includes(id));
    const buttons = places.map((look) => this.button(id, look));
    const which = this.looks.length > 1 ? ["Continue with ", this.word(id), " in"] : [];
    this.element.replaceChildren(...which, ...buttons);
  }

  /** A token that one of the lanes on show recorded. @param {number} id */
  word(id) {
    return token(this.looks.map(({ texts }) => texts[id]).find((text) => text) ?? "?");
  }

  /** @param {number} id @param {Look} look */
  button(id, { at, name, step, texts, imagined }) {
    const single = this.looks.length === 1;
    const restores = step.removed.includes(id) && !imagined;
    const verb = restores ? "Restore and continue" : "Continue";
    const words = restores ? "Restore and continue with " : "Continue from here with ";
    const label = single ? null : `${verb} ${name} with ${texts[id] ?? "?"}`;
    return button(single ? [words, this.word(id)] : name, () => this.onbranch?.(at, id), {
      "aria-label": label,
    });
  }
}

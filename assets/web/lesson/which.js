// "Which lane is XTC?": two unmarked texts, a guess, and the marks.

import { button, h, set, setText, token } from "../core/dom.js";
import { count } from "../core/format.js";
import { pieces, roundOf, trail } from "./blind.js";
import { recordedRun } from "./deck.js";
import { LessonDialog } from "./dialog.js";
import { recall, remember } from "./memory.js";
import { after, readScore, scoreWords } from "./score.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { Run } from "../session/run.js" */
/** @import { Round } from "./blind.js" */

const KEY = "which";
const NAMES = ["A", "B"];

export class Which {
  /**
   * `anew` writes the run on show once more with another seed; null where nobody can.
   * @param {Playback} playback
   * @param {Transport} transport
   * @param {(() => void) | null} anew
   */
  constructor(playback, transport, anew) {
    this.playback = playback;
    this.transport = transport;
    this.anew = anew;
    this.score = readScore(recall(KEY));
    /** @type {Set<string>} Runs that were guessed at. */
    this.seen = new Set();
    /** @type {{ run: Run, round: Round } | null} */
    this.pair = null;
    this.awaits = false; // a new run, which this game asked for
    this.dialog = new LessonDialog("Which lane is XTC?", "which");
    this.element = this.dialog.element;
    this.standing = h("p", { class: "standing", "data-testid": "which-score" });
    this.ask = h(
      "p",
      {},
      "One of these texts was written with XTC, the other without, with the same dice. Which one is it?",
    );
    this.texts = h("div", { class: "two-texts" });
    this.result = h("div", { class: "result", role: "status", "data-testid": "which-result" });
    this.other = button("Another pair", () => this.next(), { class: "primary" });
    this.dialog.body.append(
      ...[this.standing, this.ask, this.texts, this.result],
      h("p", { class: "actions" }, this.other),
    );
    this.playback.on("state", () => this.arrive());
  }

  async open() {
    this.dialog.open();
    if (!this.pair && !this.awaits) await this.next();
  }

  /** A pair of the run on show, of the recorded one, or of a new run. */
  async next() {
    const { run } = this.playback;
    const fresh = (/** @type {Run | null} */ one) => Boolean(one && !this.seen.has(one.id));
    if (run && !run.busy && fresh(run) && this.take(run)) return;
    const recorded = await recordedRun(this.transport);
    if (recorded && fresh(recorded) && this.take(recorded)) return;
    if (!this.anew) return this.say("There is no other pair in this file.");
    if (run?.busy) return this.wait();
    const able = run?.head.lanes.some(({ sampler }) => sampler.xtc.rho > 0);
    if (!able)
      return this.say("Press Generate with one lane without XTC and one with it, then come back.");
    this.anew();
    this.wait();
  }

  wait() {
    this.awaits = true;
    this.texts.replaceChildren();
    this.say("Writing a new pair …");
  }

  /** The run on show has come to another state. */
  arrive() {
    const { run } = this.playback;
    if (!this.awaits || !run || run.busy) return;
    this.awaits = false;
    if (!this.take(run)) this.say("XTC changed no word in that run. Try another one.");
  }

  /** @param {string} words */
  say(words) {
    this.pair = null;
    this.ask.hidden = true;
    this.texts.replaceChildren();
    this.result.replaceChildren(h("p", {}, words));
    this.other.hidden = this.awaits || !this.anew;
    if (!this.awaits) (this.anew ? this.other : this.dialog.close).focus();
  }

  /** Show a run's pair; returns whether it has one. @param {Run} run */
  take(run) {
    this.seen.add(run.id);
    const round = roundOf(run, Math.random);
    if (!round) return false;
    this.pair = { run, round };
    this.ask.hidden = false;
    this.other.hidden = true;
    this.result.replaceChildren();
    this.fillStanding();
    const cards = round.lanes.map((lane, k) => this.card(run, lane, k));
    this.texts.replaceChildren(...cards);
    this.texts.querySelector("button")?.focus();
    return true;
  }

  fillStanding() {
    setText(this.standing, scoreWords(this.score));
    this.standing.hidden = !this.score.asked;
  }

  /** @param {Run} run @param {number} lane @param {number} k */
  card(run, lane, k) {
    const words = pieces(run.lanes[lane].chips)
      .map(({ text }) => text)
      .join("");
    const name = `Text ${NAMES[k]}`;
    return h(
      "section",
      { "aria-label": name },
      h("h3", {}, name),
      h(
        "p",
        { class: "blind", tabindex: "0" },
        h("span", { class: "prompt" }, run.head.prompt),
        h("span", { class: "own" }, words),
      ),
      button(`${NAMES[k]} is XTC`, () => this.guess(k)),
    );
  }

  /** @param {number} k */
  guess(k) {
    if (!this.pair) return;
    const { run, round } = this.pair;
    const right = k === round.xtc;
    this.score = after(this.score, right);
    remember(KEY, JSON.stringify(this.score));
    this.fillStanding();
    const cards = [...this.texts.children];
    round.lanes.forEach((lane, place) => {
      this.reveal(cards[place], run, lane, place === round.xtc);
    });
    const on = round.lanes[round.xtc];
    const { fired, changed, word, at } = trail(run, on);
    this.result.replaceChildren(
      h(
        "p",
        {},
        h("b", {}, right ? "Right. " : "Not this time. "),
        `XTC wrote ${NAMES[round.xtc]}: it fired ${count(fired, "time")} and changed ${count(changed, "word")}, `,
        `first at token ${at + 1}: `,
        token(word),
        ".",
      ),
    );
    this.other.hidden = !this.anew && !this.transport.open;
    (this.other.hidden ? this.dialog.close : this.other).focus();
  }

  /** A text with its marks and its name. @param {Element} card @param {Run} run @param {number} lane @param {boolean} xtc */
  reveal(card, run, lane, xtc) {
    set(card, { "data-xtc": xtc ? "" : null });
    const title = card.querySelector("h3");
    if (title) setText(title, `${title.textContent}: ${run.head.lanes[lane].name}`);
    const own = card.querySelector(".own");
    own?.replaceChildren(
      ...pieces(run.lanes[lane].chips).map(({ text, fired, changed }) => {
        const space = text.slice(0, text.length - text.trimStart().length);
        const name = changed ? "changed" : "fired";
        const word = text.slice(space.length);
        return xtc && fired ? h("span", {}, space, h("span", { class: `w ${name}` }, word)) : text;
      }),
    );
    card.querySelector("button")?.remove();
  }
}

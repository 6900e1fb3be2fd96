// "Guess what survives": the words of a real step, a guess, the coin, and why.

import { button, h, sentence, set, setText, token } from "../core/dom.js";
import { percent, setting, shown } from "../core/format.js";
import { layout } from "../inspector/barparts.js";
import { Bars } from "../inspector/bars.js";
import { Coin } from "../inspector/coin.js";
import { Deck } from "./deck.js";
import { LessonDialog } from "./dialog.js";
import { answered, asked } from "./guessbars.js";
import { LEVELS } from "./levels.js";
import { recall, remember } from "./memory.js";
import { coinWords, judge } from "./question.js";
import { after, readScore, START, scoreWords, skip } from "./score.js";

/** @import { BarView } from "../inspector/barparts.js" */
/** @import { Playback } from "../session/playback.js" */
/** @import { Question } from "./question.js" */

const KEY = "guess";

export class Guess {
  /**
   * `explain(key)` opens the glossary at a word.
   * @param {Playback} playback
   * @param {Transport} transport
   * @param {(key: string) => void} explain
   */
  constructor(playback, transport, explain) {
    this.playback = playback;
    this.deck = new Deck(transport);
    this.score = readScore(recall(KEY));
    /** @type {Question | null} */
    this.question = null;
    /** @type {Set<number>} What is thought to survive. */
    this.marked = new Set();
    this.dialog = new LessonDialog("Guess what survives", "guess");
    this.element = this.dialog.element;
    this.standing = h("p", { class: "standing", "data-testid": "score" });
    this.passed = h("p", { class: "hint" });
    this.text = h("p", { class: "before-step" });
    this.gap = h("span", { class: "gap" });
    this.note = h("p", { class: "given" });
    this.ask = h("p");
    this.words = button("What are τ and ρ?", () => explain("tau"), { class: "quiet" });
    this.bars = new Bars();
    // The page has bars of its own, with a pattern of that name.
    this.bars.svg.querySelector("pattern")?.setAttribute("id", "hatch-guess");
    this.bars.element.addEventListener("click", ({ target }) => this.pick(target));
    this.boxes = h("fieldset", { class: "boxes" });
    this.coin = new Coin();
    this.coinBox = h("figure", { class: "coin-box" }, this.coin.element);
    this.result = h("div", { class: "result", role: "status", "data-testid": "result" });
    this.toss = button("Toss the coin", () => this.answer(), { class: "primary" });
    this.onward = button("Next", () => this.next(), { class: "primary" });
    this.again = button("Start over", () => this.restart(), { class: "quiet" });
    this.board = h("div", { class: "board" }, this.boxes, this.bars.element);
    this.play = h("div", {}, this.text, this.note, this.ask, this.board);
    this.dialog.body.append(
      ...[this.standing, this.passed, this.play, this.coinBox, this.result],
      h("p", { class: "actions" }, this.toss, this.onward, this.again, this.words),
    );
  }

  async open() {
    this.dialog.open();
    if (!this.question) await this.next();
  }

  async restart() {
    this.keep(START);
    await this.next();
  }

  /** @param {typeof START} score */
  keep(score) {
    this.score = score;
    remember(KEY, JSON.stringify(score));
  }

  /** The next question, over levels that nobody can play here. */
  async next() {
    const { run } = this.playback;
    const passed = [];
    this.question = null;
    for (; this.score.level < LEVELS.length; this.keep(skip(this.score))) {
      const level = LEVELS[this.score.level];
      this.question = await this.deck.next(level, run).catch(() => null);
      if (this.question) break;
      passed.push(level.title);
    }
    const none = "has no step of this kind, so that level is left out";
    setText(this.passed, passed.length ? `${passed.join(", ")}: this run ${none}.` : "");
    this.passed.hidden = !passed.length;
    this.begin();
  }

  /** Show the question, or that there is no more. */
  begin() {
    const { question } = this;
    this.marked.clear();
    this.fillStanding();
    this.result.replaceChildren();
    this.play.hidden = this.toss.hidden = this.words.hidden = !question;
    this.coinBox.hidden = this.onward.hidden = true;
    this.again.hidden = !this.score.asked;
    if (!question) return this.end();
    const { step, texts, note, before } = question;
    this.gap.replaceChildren("?");
    this.text.replaceChildren(before, this.gap);
    this.note.replaceChildren(...sentence(note, texts));
    this.note.hidden = !note.length;
    const xtc = `τ = ${setting(step.tau)}, ρ = ${setting(step.rho)}. `;
    this.ask.replaceChildren(
      h("b", {}, xtc),
      "Suppose the coin says yes. Mark every word that can still be drawn.",
    );
    this.fillBoxes();
    this.draw();
    this.boxes.querySelector("input")?.focus();
  }

  end() {
    const { asked } = this.score;
    const words = asked
      ? `That was the last level: ${scoreWords(this.score)}.`
      : "No step of this run can be asked about. Press Generate with XTC on, then come back.";
    this.result.replaceChildren(h("p", {}, words));
    (asked ? this.again : this.dialog.close).focus();
  }

  fillStanding() {
    const { level } = this.score;
    const which = LEVELS[level];
    const words = which ? [`Level ${level + 1} of ${LEVELS.length}: ${which.title}`] : ["Done"];
    const hint = which?.hint ? `. ${which.hint}` : "";
    const sum = scoreWords(this.score);
    setText(this.standing, words.join("") + hint + (sum ? ` · ${sum}` : ""));
  }

  /** A box for each word, in the line of its bar. */
  fillBoxes() {
    const list = (this.question?.list ?? []).filter(({ id }) => id >= 0);
    const boxes = list.map(({ id, text, p }) => {
      const name = `${shown(text)}, ${percent(p)}: can still be drawn`;
      const box = h("input", { type: "checkbox", "aria-label": name, "data-id": id });
      box.addEventListener("change", () => this.mark(id, box.checked));
      return h("span", {}, box);
    });
    const legend = h("legend", { class: "visually-hidden" }, "Words that can still be drawn");
    this.boxes.disabled = false;
    this.boxes.replaceChildren(legend, ...boxes);
  }

  /** @param {number} id @param {boolean} on */
  mark(id, on) {
    if (on) this.marked.add(id);
    else this.marked.delete(id);
    this.draw();
  }

  /** A bar was clicked: its box turns. @param {EventTarget | null} target */
  pick(target) {
    const row = target instanceof Element ? target.closest(".row, .words") : null;
    const id = row?.getAttribute("data-id");
    if (!this.boxes.disabled) this.box(id ?? "")?.click();
  }

  /** @param {string | number} id @returns {HTMLInputElement | null} */
  box(id) {
    return this.boxes.querySelector(`input[data-id="${id}"]`);
  }

  draw() {
    if (this.question) this.drawBars(asked(this.question, this.marked));
  }

  /** The bars, and the boxes in their lines. @param {BarView} view */
  drawBars(view) {
    this.bars.draw(view);
    const { top, high } = layout(this.bars.width, false);
    this.boxes.style.setProperty("--top", `${top}px`);
    this.boxes.style.setProperty("--row", `${high}px`);
  }

  /** The coin falls. */
  answer() {
    const { question } = this;
    if (!question) return;
    const { step, texts, fates } = question;
    const verdict = judge(question, this.marked);
    this.keep(after(this.score, verdict.all));
    this.boxes.disabled = true;
    this.drawBars(answered(question));
    const wrong = new Set(verdict.wrong.flatMap(({ ids }) => ids));
    for (const id of fates.keys()) {
      const sign = wrong.has(id) ? "✗" : "✓";
      set(this.box(id)?.parentElement ?? this.boxes, { "data-sign": sign });
    }
    this.coinBox.hidden = step.eligible < 2;
    if (step.eligible >= 2) this.coin.draw(step);
    const sum = verdict.all ? "All right." : `${verdict.right} of ${verdict.of} words right.`;
    const reasons = verdict.wrong.map(({ ids, why }) =>
      h(
        "li",
        {},
        ids.flatMap((id) => [token(texts[id] ?? "?"), " "]),
        `${why}.`,
      ),
    );
    const drawn = !question.imagined && texts[step.token];
    if (drawn) this.gap.replaceChildren(token(drawn));
    this.result.replaceChildren(
      h("p", {}, h("b", {}, sum), ` ${coinWords(step)}`),
      reasons.length ? h("ul", {}, reasons) : h("p", {}, this.reason(question)),
    );
    const sums = scoreWords(this.score);
    const place = LEVELS.indexOf(question.level) + 1;
    setText(this.standing, `Level ${place} of ${LEVELS.length}: ${question.level.title} · ${sums}`);
    this.toss.hidden = true;
    this.onward.hidden = this.again.hidden = false;
    this.onward.focus();
  }

  /** Why a guess was right. @param {Question} question */
  reason({ step, fates, texts }) {
    const fate = [...fates.values()];
    if (fate.includes("alone")) return ["It needs two such words."];
    if (fate.includes("held")) return ["A protected word would have to go, so all words stay."];
    const kept = texts[step.underdog] ?? "?";
    return [
      "Of those that clear τ only the least likely stays: ",
      token(kept),
      ". What is below τ stays too.",
    ];
  }
}

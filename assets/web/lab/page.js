// The page of the laboratory: what it knows of the server, and its parts.

import { button, h, set, setText } from "../core/dom.js";
import { download } from "../core/download.js";
import { wordsOf } from "../core/errors.js";
import { quiet } from "../page/head.js";
import { Behind } from "./behind.js";
import { comparison } from "./compare.js";
import { Figures } from "./figures.js";
import { Going } from "./going.js";
import { Runs } from "./runs.js";
import { Setup } from "./setup.js";
import { NumbersTable } from "./table.js";

/** @import { Ask } from "./setup.js" */

const GOING = 700; // milliseconds between two looks at a run that goes,
const RESTING = 4000; // and at whether one does: another window may begin one
const HASH = "#run=";

export class LabPage {
  /**
   * @param {HTMLElement} root
   * @param {{ ask: Ask, draw: (wanted: Omit<LabDraw, "token">) => void }} server
   */
  constructor(root, { ask, draw }) {
    this.root = root;
    this.ask = ask;
    const home = location.pathname.replace(/lab\/?$/, "");
    /** @type {LabStatus | null} */
    this.status = null;
    /** @type {LabRun[]} */
    this.runs = [];
    /** The run whose numbers are on show. */
    this.shown = "";
    /** @type {string | null} */
    this.baseline = null;
    this.have = 0;
    this.setup = new Setup(ask, async (choice) => {
      this.take(await ask("lab_start", choice), true);
    });
    const show = (/** @type {string} */ run) => this.show(run);
    const goOn = (/** @type {string} */ run) => this.goOn(run);
    this.going = new Going({ stop: () => this.stop(), goOn, show });
    this.stored = new Runs({ show, goOn, compare: (one, other) => this.compare(one, other) });
    this.table = new NumbersTable({
      pick: (metric, condition) =>
        this.behind.show(this.shown, this.table.table?.baseline ?? "", metric, condition),
      baseline: (name) => this.show(this.shown, name),
    });
    this.behind = new Behind(ask, home);
    this.figures = new Figures(ask, draw);
    this.title = h("h2", { "data-testid": "shown" }, "What it found");
    this.state = h("p", { class: "tag", role: "status", "data-testid": "state" });
    this.report = button("Save the report", () => this.save(), { class: "quiet" });
    this.report.hidden = true;
    this.pair = h("section", { class: "two", "aria-label": "Two runs" });
    this.pair.hidden = true;
    this.note = h("p", { class: "problem", role: "alert", "data-testid": "note" });
    root.replaceChildren(head(home), ...this.parts());
  }

  parts() {
    return [
      this.note,
      h(
        "div",
        { class: "bench" },
        h("div", { class: "asking" }, this.setup.element, this.stored.element),
        h(
          "div",
          { class: "found" },
          this.going.element,
          this.pair,
          h(
            "section",
            { class: "results", "aria-label": "What it found" },
            h("div", { class: "lab-row" }, this.title, this.report),
            this.state,
            this.table.element,
            this.behind.element,
            this.figures.element,
          ),
        ),
      ),
    ];
  }

  async begin() {
    try {
      this.setup.offer(await this.ask("lab_choices"));
      const [status, runs] = await Promise.all([this.ask("lab_status"), this.ask("lab_runs")]);
      this.runs = runs;
      this.take(status);
    } catch (error) {
      return this.say(wordsOf(error));
    }
    const named = location.hash.startsWith(HASH) ? location.hash.slice(HASH.length) : "";
    const [latest] = this.runs;
    const first = named || this.status?.run || latest?.run;
    if (first) this.show(first);
    else setText(this.state, "Nothing yet. A small run takes a minute or two on two cores.");
    this.later();
  }

  later() {
    setTimeout(() => this.look(), this.status?.going ? GOING : RESTING);
  }

  /** How things stand now, unless nobody looks. */
  async look() {
    if (!document.hidden) {
      try {
        this.take(await this.ask("lab_status"));
        if (this.shown) await this.measure();
        this.say("");
      } catch (error) {
        this.say(wordsOf(error));
      }
    }
    this.later();
  }

  /** @param {LabStatus} status @param {boolean} [own] whether it was begun here just now */
  take(status, own = false) {
    const before = this.status;
    this.status = status;
    const came = status.run && status.run !== before?.run;
    const ended = before?.going && !status.going;
    if (own) this.follow = true;
    if (came && this.follow) {
      this.follow = false;
      this.show(status.run);
    }
    if (came || ended) this.list();
    if (ended) this.setup.refresh();
    this.draw();
  }

  draw() {
    const { status } = this;
    if (!status) return;
    this.going.draw(status, this.shown);
    this.setup.stand(status.going);
    this.stored.draw(this.runs, this.shown, status.going);
    set(this.root, { "data-phase": status.phase });
  }

  async list() {
    this.runs = await this.ask("lab_runs");
    this.draw();
  }

  /** Look at the numbers of a run. @param {string} run @param {string | null} baseline */
  show(run, baseline = null) {
    const same = run === this.shown;
    this.shown = run;
    this.baseline = baseline;
    this.have = 0;
    this.pair.hidden = true;
    history.replaceState(null, "", `${location.pathname}${location.search}${HASH}${run}`);
    if (!same) {
      this.table.element.hidden = true;
      this.report.hidden = true;
      this.table.picked = null;
      this.figures.clear();
    }
    this.behind.clear();
    setText(this.state, "Measuring …");
    this.draw();
    this.measure().catch((error) => setText(this.state, wordsOf(error)));
  }

  /** The latest numbers of the run on show, where there are newer ones. */
  async measure() {
    const { shown, baseline } = this;
    /** @type {LabNumbers} */
    const numbers = await this.ask("lab_numbers", shown, baseline, this.have);
    if (shown !== this.shown || baseline !== this.baseline || numbers.words === null) return;
    const about = this.runs.find(({ run }) => run === shown);
    if (about) setText(this.title, `${about.question || about.experiment}`);
    this.have = numbers.number;
    const model = about ? `${about.experiment} · “${about.suite}” on ${about.model}` : "";
    setText(this.state, [model, numbers.words].filter(Boolean).join(": "));
    if (!numbers.table) return this.soon(numbers.number === 0);
    this.table.draw(numbers.table);
    this.report.hidden = false;
    await this.figures.show(shown, baseline);
  }

  /** Take the run away as one file, with its figures and texts. */
  async save() {
    this.report.disabled = true;
    setText(this.report, "Writing the report …");
    try {
      const file = await this.ask("lab_report", this.shown, this.baseline);
      download(`xtc-viz-lab-${this.shown}.html`, file, "text/html");
      this.say("");
    } catch (error) {
      this.say(wordsOf(error));
    }
    this.report.disabled = false;
    setText(this.report, "Save the report");
  }

  /** Numbers that are being measured are asked for again. @param {boolean} coming */
  soon(coming) {
    clearTimeout(this.again);
    if (coming) this.again = setTimeout(() => this.measure().catch(() => {}), GOING);
  }

  /** @param {string} run */
  async goOn(run) {
    try {
      this.take(await this.ask("lab_go_on", run), true);
      this.say("");
    } catch (error) {
      this.say(wordsOf(error));
    }
  }

  async stop() {
    this.take(await this.ask("lab_stop"));
  }

  /** @param {string} first @param {string} second */
  async compare(first, second) {
    this.pair.hidden = false;
    this.pair.replaceChildren(h("p", { role: "status" }, "Comparing …"));
    try {
      this.pair.replaceChildren(...comparison(await this.ask("lab_compare", first, second)));
    } catch (error) {
      this.pair.replaceChildren(h("p", { class: "problem" }, wordsOf(error)));
    }
  }

  /** @param {string} words */
  say(words) {
    setText(this.note, words);
  }
}

/** @param {string} home */
function head(home) {
  const turn = () => document.body.classList.toggle("dark");
  return h(
    "header",
    { class: "top" },
    h("h1", {}, h("a", { href: home, title: "Back to the page" }, "xtc_viz"), " Lab"),
    h("p", { class: "way-back" }, h("a", { href: home }, "← Back to the page")),
    h(
      "p",
      { class: "lead" },
      "XTC now and then strikes out the likeliest next words. One text shows how; many show whether ",
      "that helps. Choose a question: the Lab writes the same prompts under several settings, with ",
      "the same dice, and holds each setting against a baseline. Every number leads to its texts, ",
      "and every text to the decision behind each word.",
    ),
    h("div", { class: "tools" }, quiet("◐", "Light or dark", turn)),
  );
}

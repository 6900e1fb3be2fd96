// Why one would want XTC, and at what cost: the idea, what the paper found, where to be careful,
// and every word of the page.

import { button, h } from "../core/dom.js";
import { LessonDialog } from "./dialog.js";
import { CAREFUL, FOUND, here, LINKS, PAPER } from "./findings.js";
import { glossary } from "./glossary.js";

/** @import { Finding } from "./findings.js" */

const IDEA = [
  "A language model writes token by token. At each step it gives every token a probability, and one is drawn. Often several are plausible, but most of the probability sits on the most expected one, and so texts take the same turns again and again.",
  "Most samplers cut away unlikely tokens, or flatten all probabilities at once. XTC (exclude top choices) works at the other end, and only where there is a choice: it takes the most expected tokens away and leaves a plausible one.",
];
const RULE = [
  "Collect all tokens with a probability of at least τ. If there are fewer than two, do nothing.",
  "Toss a coin that says yes with probability ρ. If it says no, do nothing.",
  "Keep the least likely of the collected tokens and remove the others. If one of these is protected, do nothing.",
  "Scale what is left up to 100 % and draw the next token from it.",
];
const COST =
  "Tokens below τ are never removed. When XTC fires, they grow with all that is left, so an odd word comes up more often. A little min-p before XTC cuts away what is hardly plausible; XTC then chooses among good words only.";

/** @param {Finding[]} findings */
function table(findings) {
  return h(
    "dl",
    { class: "findings" },
    findings.map(({ figure, words, source }) =>
      h("div", {}, h("dt", {}, figure), h("dd", {}, `${words} `, h("cite", {}, `(${source})`))),
    ),
  );
}

/** @param {ReturnType<typeof here>} figures */
function measured({ heads, rows }) {
  const [head, ...rest] = heads;
  return h(
    "table",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("td", {}, head),
        rest.map((name) => h("th", { scope: "col" }, name)),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map(([name, ...values]) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, name),
          values.map((value) => h("td", {}, value)),
        ),
      ),
    ),
  );
}

/** @param {string} id @param {string} heading @param {Child[]} children */
function section(id, heading, ...children) {
  return h(
    "section",
    { id: `why-${id}`, "aria-labelledby": `why-${id}-head` },
    h("h3", { id: `why-${id}-head`, tabindex: "-1" }, heading),
    ...children,
  );
}

export class Why {
  /** @param {Spec} spec */
  constructor(spec) {
    this.dialog = new LessonDialog("What is XTC?", "why");
    this.element = this.dialog.element;
    const sections = [
      section(
        "idea",
        "The idea",
        IDEA.map((words) => h("p", {}, words)),
        h(
          "ol",
          {},
          RULE.map((words) => h("li", {}, words)),
        ),
      ),
      section(
        "found",
        "What the paper found",
        h(
          "p",
          { class: "hint" },
          "Its own figures, for its models and prompts; not measured here.",
        ),
        table(FOUND),
      ),
      section(
        "cost",
        "What it costs, measured here",
        h("p", {}, COST),
        h("p", {}, here(spec.case).words),
        measured(here(spec.case)),
      ),
      section("care", "Where to be careful", table(CAREFUL)),
      section("links", "Where it comes from", this.links()),
      section("words", "The words of this page", this.words(spec)),
    ];
    const names = ["Idea", "Findings", "Cost", "Care", "Sources", "Words"];
    const ways = sections.map((part, k) =>
      button(names[k], () => this.go(part), { class: "quiet" }),
    );
    this.dialog.body.append(h("nav", { "aria-label": "On this page" }, ways), ...sections);
  }

  links() {
    const outside = { target: "_blank", rel: "noopener noreferrer" };
    return h(
      "ul",
      {},
      h("li", {}, "The paper: ", PAPER, "."),
      LINKS.map(([label, href, words]) =>
        h("li", {}, h("a", { href, ...outside }, label), `: ${words}.`),
      ),
    );
  }

  /** @param {Spec} spec */
  words(spec) {
    return glossary(spec).map(([heading, entries]) =>
      h(
        "div",
        {},
        h("h4", {}, heading),
        h(
          "dl",
          { class: "glossary" },
          entries.map(({ key, term, words }) =>
            h("div", { "data-word": key }, h("dt", { tabindex: "-1" }, term), h("dd", {}, words)),
          ),
        ),
      ),
    );
  }

  /** @param {HTMLElement} part */
  go(part) {
    part.scrollIntoView({ block: "start" });
    part.querySelector("h3")?.focus({ preventScroll: true });
  }

  open() {
    this.dialog.open();
    this.dialog.body.scrollTop = 0;
  }

  /** Open at a word of the page, by its key. @param {string} key */
  explain(key) {
    this.open();
    const entry = this.element.querySelector(`[data-word="${key}"]`);
    entry?.scrollIntoView({ block: "center" });
    entry?.querySelector("dt")?.focus({ preventScroll: true });
  }
}

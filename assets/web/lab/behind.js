// What stands behind a number: what it says in whole, the prompts that it is the mean of, and the
// texts of each, which open in the inspector.

import { button, h, set } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { count } from "../core/format.js";

/** @import { Ask } from "./setup.js" */

/** @param {number | null} value */
const short = (value) => (value === null ? "–" : Number(value.toPrecision(3)).toString());

export class Behind {
  /** @param {Ask} ask @param {string} home the address of the page with the inspector */
  constructor(ask, home) {
    this.ask = ask;
    this.home = home;
    this.asked = 0;
    this.run = "";
    this.said = h("div", { class: "lab-said", "data-testid": "said" });
    this.texts = h("div", { class: "texts", "data-testid": "texts", "aria-live": "polite" });
    this.element = h("div", { class: "behind" }, this.said, this.texts);
    this.element.hidden = true;
  }

  clear() {
    this.element.hidden = true;
    this.asked += 1;
  }

  /**
   * @param {string} run
   * @param {string} baseline
   * @param {LabColumn} metric
   * @param {string} condition
   */
  async show(run, baseline, metric, condition) {
    this.run = run;
    this.element.hidden = false;
    this.asked += 1;
    const { asked } = this;
    const one = metric.cells[condition];
    const base = condition === baseline;
    const beside = base ? "" : baseline;
    try {
      /** @type {LabPromptValue[]} */
      const prompts = await this.ask("lab_prompts", run, baseline, metric.name, condition);
      if (asked !== this.asked) return;
      const open = (/** @type {string} */ prompt) => this.open(condition, prompt, beside);
      this.said.replaceChildren(
        h("h3", {}, `${metric.label} · ${condition}`),
        h("p", {}, `${metric.meaning} ${one.interval}.`),
        ...(base ? [] : [h("p", {}, against(baseline, one))]),
        h(
          "p",
          { class: "tag" },
          `By prompt, ${base ? "" : "the greatest differences first; "}each leads to its texts.`,
        ),
        h(
          "div",
          { class: "by-prompt" },
          prompts.map((own) => promptButton(own, base, open)),
        ),
      );
      const [first] = prompts;
      if (first) await open(first.prompt);
      else this.texts.replaceChildren();
    } catch (error) {
      this.said.replaceChildren(h("p", { class: "problem" }, wordsOf(error)));
    }
  }

  /** @param {string} condition @param {string} prompt @param {string} beside */
  async open(condition, prompt, beside) {
    this.asked += 1;
    const { asked } = this;
    for (const each of this.said.querySelectorAll(".by-prompt button"))
      set(each, { "aria-pressed": String(each.getAttribute("data-prompt") === prompt) });
    try {
      /** @type {LabSamples} */
      const samples = await this.ask("lab_samples", this.run, condition, prompt, beside);
      if (asked === this.asked) this.texts.replaceChildren(...this.drawn(samples));
    } catch (error) {
      if (asked === this.asked)
        this.texts.replaceChildren(h("p", { class: "problem" }, wordsOf(error)));
    }
  }

  /** @param {LabSamples} samples */
  drawn({ text, prompt, rows, condition, beside, missing }) {
    const names = beside ? [beside, condition] : [condition];
    return [
      h("h3", {}, `Texts of ${prompt}`),
      h("p", { class: "lab-prompt" }, text),
      h(
        "div",
        { class: beside ? "samples lab-pair" : "samples" },
        names.map((name) => h("p", { class: "tag lab-name" }, name)),
        rows.map(({ own, beside: other }) =>
          (beside ? [other, own] : [own]).map((one, k) => this.sample(one, names[k])),
        ),
      ),
      ...(beside ? [this.both(rows)] : []),
      ...(missing ? [h("p", { class: "tag" }, `${count(missing, "text")} more to come.`)] : []),
    ];
  }

  /** @param {LabText | null} one @param {string} condition */
  sample(one, condition) {
    if (!one) return h("p", { class: "sample tag" }, "not written yet");
    const link = h(
      "a",
      {
        href: `${this.home}#cell=${one.cell}`,
        target: "_blank",
        rel: "noopener",
        "aria-label": `inspect this text of ${condition}`,
      },
      "inspect",
    );
    const about = `sample ${one.sample + 1}, ${count(one.tokens, "token")} `;
    return h(
      "div",
      { class: "sample" },
      h("p", { class: "lab-words" }, one.text || "(empty)"),
      h("p", { class: "tag" }, about, link),
    );
  }

  /** A link to each pair of the same dice, side by side. @param {LabSamples["rows"]} rows */
  both(rows) {
    const pairs = rows.flatMap(({ own, beside }) => (own && beside ? [[own, beside]] : []));
    const links = pairs.map(([own, beside]) =>
      h(
        "a",
        { href: `${this.home}#cell=${beside.cell},${own.cell}`, target: "_blank", rel: "noopener" },
        `sample ${own.sample + 1}`,
      ),
    );
    return h(
      "p",
      { class: "tag both" },
      "The same dice wrote both texts of a row. Both in the inspector: ",
      links.map((link, k) => (k ? [", ", link] : [link])),
      ".",
    );
  }
}

/** @param {string} baseline @param {LabNumber} one */
function against(baseline, { difference, p, prompts, says }) {
  return (
    `Against ${baseline}: ${difference}; ${says}. ` +
    `${prompts} prompts better, the same, worse; p = ${p} (sign-flip test, Holm).`
  );
}

/** @param {LabPromptValue} own @param {boolean} base @param {(prompt: string) => unknown} open */
function promptButton({ prompt, genre, baseline, value }, base, open) {
  const words = base ? short(value) : `${short(baseline)} → ${short(value)}`;
  return button([`${prompt} `, h("span", { class: "tag" }, words)], () => open(prompt), {
    class: "quiet",
    title: genre,
    "data-prompt": prompt,
    "aria-pressed": "false",
  });
}

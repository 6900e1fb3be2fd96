// The numbers of a run: a row a condition, a column a metric. Each number leads to what it is the
// mean of.

import { button, h, set, setText } from "../core/dom.js";
import { count } from "../core/format.js";

/** What a number's sign says. @param {LabNumber | LabPair} one */
function mark({ better, differs }) {
  if (!differs) return "";
  return { 1: "better", [-1]: "worse", 0: "other" }[Math.sign(better)] ?? "";
}

const FIRM = /** @type {Record<string, string>} */ ({ better: "▲", worse: "▼", other: "◆" });
const ALONE = /** @type {Record<string, string>} */ ({ better: "△", worse: "▽", other: "◇" });

/** @param {LabNumber | LabPair} one */
export function signOf(one) {
  const name = mark(one);
  if (!name) return null;
  const title = one.firm ? name : `${name}, by its own interval alone`;
  return h("i", { class: `lab-sign ${name}`, title }, (one.firm ? FIRM : ALONE)[name]);
}

/** The interval under a mean. @param {LabNumber} one */
function ends({ mean, interval }) {
  const known = interval.startsWith(mean) && !interval.includes("–");
  return known ? h("span", { class: "tag ends" }, interval.slice(mean.length).trim()) : null;
}

export class NumbersTable {
  /**
   * @param {{ pick: (metric: LabColumn, condition: string) => void,
   *   baseline: (name: string) => void }} acts
   */
  constructor(acts) {
    this.acts = acts;
    this.every = false;
    /** @type {LabTable | null} */
    this.table = null;
    /** @type {{ metric: string, condition: string } | null} */
    this.picked = null;
    this.base = h("select", {
      "aria-label": "Baseline",
      onchange: () => acts.baseline(this.base.value),
    });
    this.all = button("All metrics", () => this.turn(), {
      class: "quiet",
      "aria-pressed": "false",
    });
    this.about = h("p", { class: "tag lab-about", "data-testid": "about" });
    this.body = h("table", { "data-testid": "numbers" });
    this.scroll = h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers" },
      this.body,
    );
    this.element = h(
      "div",
      { class: "lab-numbers" },
      h(
        "div",
        { class: "lab-row" },
        h("label", {}, h("span", { class: "tag" }, "Against "), this.base),
        this.all,
      ),
      this.scroll,
      this.about,
    );
    this.element.hidden = true;
  }

  turn() {
    this.every = !this.every;
    set(this.all, { "aria-pressed": String(this.every) });
    if (this.table) this.draw(this.table);
  }

  /** @param {LabTable} table */
  draw(table) {
    this.table = table;
    this.element.hidden = false;
    const { conditions, metrics, prompts, embedder, baseline } = table;
    this.base.replaceChildren(
      ...[...conditions].sort().map((name) => h("option", { value: name }, name)),
    );
    this.base.value = baseline;
    const usual = metrics.filter((metric) => metric.usual);
    const shown = this.every || !usual.length ? metrics : usual;
    this.body.replaceChildren(
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Setting"), shown.map(heading))),
      h(
        "tbody",
        {},
        conditions.map((name) => this.row(name, shown, name === baseline)),
      ),
    );
    const meant = embedder && shown.some(({ family }) => family === "meaning");
    setText(
      this.about,
      `${count(prompts, "prompt")}, 95 % intervals by prompt. ▲ better than the baseline, ▼ worse, ` +
        "◆ different; hollow where it may be chance among so many; no sign: no difference shown." +
        (meant ? ` Meaning is measured by ${embedder}.` : ""),
    );
  }

  /** @param {string} condition @param {LabColumn[]} shown @param {boolean} base */
  row(condition, shown, base) {
    const numbers = shown.map((metric) => {
      const one = metric.cells[condition];
      if (!one) return h("td", {}, "");
      const here = this.picked?.metric === metric.name && this.picked.condition === condition;
      const about = base
        ? one.interval
        : `${one.interval}, difference ${one.difference}: ${one.says}`;
      return h(
        "td",
        {},
        button([one.mean, signOf(one), ends(one)], () => this.pick(metric, condition), {
          class: "quiet number",
          title: about,
          "aria-label": `${metric.label} of ${condition}: ${about}`,
          "aria-pressed": String(here),
        }),
      );
    });
    return h("tr", { class: base ? "base" : "" }, h("th", { scope: "row" }, condition), numbers);
  }

  /** @param {LabColumn} metric @param {string} condition */
  pick(metric, condition) {
    this.picked = { metric: metric.name, condition };
    if (this.table) this.draw(this.table);
    this.acts.pick(metric, condition);
  }
}

/** @param {LabMetric} metric */
export function heading({ label, arrow, meaning, source, range, unit }) {
  const about = `${meaning} Range ${range}${unit ? ` ${unit}` : ""}. ${source}`;
  return h("th", { scope: "col", title: about }, label, arrow ? ` ${arrow}` : "");
}

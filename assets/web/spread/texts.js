// The texts of a spread: a seed is chosen, its lanes stand side by side, and it opens in the inspector.

import { button, h } from "../core/dom.js";
import { bare, estimated, signed, written } from "./strip.js";

/** @import { Result } from "./spread.js" */

/**
 * The seeds to choose from, one of them chosen.
 * @param {Result} result
 * @param {{ shown: number | null, chosen: number | null, onchoose: (seed: number) => void }} marks
 */
export function seedChoice({ rows }, { shown, chosen, onchoose }) {
  const seeds = rows.map(({ seed }) => seed).sort((a, b) => a - b);
  return h(
    "fieldset",
    { class: "seeds" },
    h("legend", {}, "The texts of seed"),
    seeds.map((seed) =>
      h(
        "label",
        { title: seed === shown ? "The run on show" : null },
        h("input", {
          type: "radio",
          name: "spread-seed",
          value: seed,
          checked: seed === chosen,
          onchange: () => onchoose(seed),
        }),
        h("span", {}, seed === shown ? `◆ ${seed}` : String(seed)),
      ),
    ),
  );
}

/**
 * The texts of one seed.
 * @param {Result} result
 * @param {SpreadRow} row
 * @param {(row: SpreadRow) => unknown} onopen
 */
export function seedTexts({ head }, row, onopen) {
  return [
    h(
      "div",
      { class: "open" },
      button("Open in the inspector", () => onopen(row), {
        title: "This seed as a run, step by step; Undo brings back what is on show",
      }),
    ),
    h(
      "div",
      { class: "texts" },
      row.lanes.map(({ text, finish, values }, k) =>
        h(
          "section",
          { "aria-label": `${head.lanes[k].name}, seed ${row.seed}` },
          h("h3", {}, head.lanes[k].name),
          h(
            "p",
            { class: "values" },
            head.quantities
              .map(({ label, unit }, i) => `${label} ${bare(values[i], unit)}`)
              .join(" · "),
          ),
          h(
            "p",
            { class: "body" },
            h("span", { class: "prompt" }, head.prompt),
            text,
            finish === "eos" ? h("span", { class: "prompt" }, " ■") : null,
          ),
        ),
      ),
    ),
  ];
}

/**
 * Means and differences of all lanes as a table.
 * @param {Result} result
 */
export function table({ head, summary }) {
  if (!summary) return null;
  const { lanes, quantities } = head;
  const { means, differences, reference } = summary;
  const row = (
    /** @type {string} */ name,
    /** @type {(SpreadEstimate | null)[]} */ estimates,
    write = written,
  ) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      quantities.map(({ unit }, i) => h("td", {}, estimated(estimates[i], unit, write))),
    );
  return h(
    "details",
    {},
    h("summary", {}, "The numbers as a table"),
    h(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-label": "Means and differences" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("td", {}),
            quantities.map(({ label }) => h("th", { scope: "col" }, label)),
          ),
        ),
        h(
          "tbody",
          {},
          lanes.map(({ name }, k) => row(name, means[k])),
          lanes.flatMap(({ name }, k) => {
            const own = differences[k];
            return own ? [row(`${name} − ${lanes[reference].name}`, own, signed)] : [];
          }),
        ),
      ),
    ),
    h("small", {}, "Means over the seeds, with 95 % intervals by seed; differences seed by seed."),
  );
}

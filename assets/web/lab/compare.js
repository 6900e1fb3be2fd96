// Two runs side by side: the conditions that both have, and what the second differs by.

import { button, h, set } from "../core/dom.js";
import { count } from "../core/format.js";
import { heading, signOf } from "./table.js";

/** @param {LabComparison} comparison @returns {Node[]} */
export function comparison({ runs, conditions, metrics, embedder }) {
  const said = runs.map(
    ({ name, experiment, suite, prompts }) =>
      `${name}: ${experiment}, “${suite}”, ${count(prompts, "prompt")}`,
  );
  const usual = metrics.filter((metric) => metric.usual);
  const table = h("table", { "data-testid": "comparison" });
  const draw = (/** @type {LabComparison["metrics"]} */ shown) =>
    table.replaceChildren(
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Setting"), shown.map(heading))),
      h(
        "tbody",
        {},
        conditions.map((name) => row(name, shown)),
      ),
    );
  const all = button(
    "All metrics",
    () => {
      const every = all.getAttribute("aria-pressed") === "false";
      set(all, { "aria-pressed": String(every) });
      draw(every ? metrics : usual);
    },
    { class: "quiet", "aria-pressed": "false" },
  );
  draw(usual.length ? usual : metrics);
  return [
    h("div", { class: "lab-row" }, h("h2", {}, "Two runs side by side"), all),
    h("p", {}, h("b", {}, "First, "), said[0]),
    h("p", {}, h("b", {}, "Second, "), said[1]),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Two runs side by side" },
      table,
    ),
    h(
      "p",
      { class: "tag" },
      "First → second; below it second less first, with its 95 % interval by the prompts that both ",
      "have, and how much more the setting does in the second than in the first. ▲ the second is ",
      `better, ▼ worse, ◆ different; hollow where it may be chance among so many; no sign: no difference shown.${embedder ? ` Meaning is measured by ${embedder}, fitted on both.` : ""}`,
    ),
  ];
}

/** @param {string} condition @param {LabComparison["metrics"]} metrics */
function row(condition, metrics) {
  const cells = metrics.map(({ cells }) => {
    const one = cells[condition];
    if (!one) return h("td", {}, "");
    return h(
      "td",
      { title: one.says },
      h("p", {}, `${one.first} → ${one.second}`, signOf(one)),
      h("p", { class: "tag ends" }, one.difference),
      one.effect ? h("p", { class: "tag ends" }, `effect ${one.effect}`) : null,
    );
  });
  return h("tr", {}, h("th", { scope: "row" }, condition), cells);
}

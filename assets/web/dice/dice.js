// The numbers that a server drew a text with, token by token: which coin is the number that has drawn
// an earlier token.

import { h, s, token } from "../core/dom.js";
import { setting } from "../core/format.js";

const ROW = 26; // pixels; as in the style sheet
const SHOWN = 16; // rows
const DIGITS = 3;

/** @type {Record<string, string>} */
const DEEDS = {
  fired: "✕ fires",
  skipped: "○ holds back",
  unambiguous: "– no choice",
};

/**
 * Which coins are earlier draws, as places of rows. `acts` says that XTC could act with that coin.
 * @param {DiceRow[]} rows
 */
export function links(rows) {
  return rows.flatMap(({ source, outcome }, to) =>
    source === null ? [] : [{ from: source, to, acts: outcome !== "unambiguous" }],
  );
}

/** What the numbers have in common, in words. @param {DiceRow[]} rows @param {number} rho */
export function about(rows, rho) {
  const coins = rows.filter(({ coin }) => coin !== null).length;
  if (!coins) return "XTC tossed no coin here: it is off, or there was never a choice.";
  const every = links(rows);
  const acts = every.filter((link) => link.acts).length;
  return (
    "Each token takes two numbers between 0 and 1: a draw, which picks the token, and a coin, with " +
    `which XTC fires where it is below ρ = ${setting(rho)}. This server makes both from one seed, ` +
    `so that some numbers serve twice: ${every.length} of these ${coins} coins have picked ` +
    `an earlier token, ${acts} of them where XTC could act. Whether it fires there was settled ` +
    "with that token."
  );
}

/** @param {DiceRow[]} rows */
function lines(rows) {
  const y = (/** @type {number} */ place) => (place + 0.5) * ROW;
  return s(
    "svg",
    {
      viewBox: `0 0 100 ${rows.length * ROW}`,
      height: rows.length * ROW,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    links(rows).map(({ from, to, acts }) =>
      s("line", { x1: 0, y1: y(from), x2: 100, y2: y(to), class: acts ? "acts" : null }),
    ),
  );
}

/** @param {number | null} value */
const number = (value) => (value === null ? "–" : value.toFixed(DIGITS));

/**
 * The picture: a table of the first tokens, and lines from draws to the coins that they are.
 * @param {DiceRow[]} all
 * @param {number} rho
 */
export function diceTable(all, rho) {
  const rows = all.slice(0, SHOWN);
  const caption = h("figcaption", {}, about(all, rho));
  if (all.every(({ coin }) => coin === null)) return h("figure", { class: "dice-table" }, caption);
  const head = ["", "token", "its draw", "", "its coin", "XTC"];
  const gutter = h("td", { class: "gutter", rowspan: rows.length }, lines(rows));
  return h(
    "figure",
    { class: "dice-table" },
    caption,
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head.map((name) => (name ? h("th", { scope: "col" }, name) : h("td"))),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map(({ word, draw, coin, source, outcome }, i) =>
          h(
            "tr",
            {},
            h("td", { class: "n" }, String(i + 1)),
            h("td", { class: "word" }, token(word)),
            h("td", { class: "n" }, number(draw)),
            i ? null : gutter,
            h(
              "td",
              { class: "n" },
              number(coin),
              source === null
                ? null
                : h("span", { class: "visually-hidden" }, ` the draw of token ${source + 1}`),
            ),
            h("td", { class: "deed" }, DEEDS[outcome] ?? outcome),
          ),
        ),
      ),
    ),
    h(
      "p",
      { class: "key" },
      h("span", { class: "acts" }, "one number: XTC could act with it"),
      h("span", {}, "one number, but there was nothing to remove"),
    ),
  );
}

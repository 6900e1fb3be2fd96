// Over a whole run: at how many steps each engine would have decided otherwise than the lane's own.

import { button, h, s, setText } from "../core/dom.js";
import { count } from "../core/format.js";
import { alongRows, labelOf } from "./strips.js";

const TALL = 10;
const SAID =
  "Along this text, not written anew: where an engine removes other words, its text would soon " +
  "have been another one.";

export class AlongRun {
  /**
   * `onpick(i)` when a step is chosen.
   * @param {Pick<Spec, "engines">} spec
   * @param {(i: number) => void} onpick
   */
  constructor(spec, onpick) {
    this.spec = spec;
    this.onpick = onpick;
    this.heading = h("h3", {});
    this.list = h("ul", { class: "engine-along", "data-testid": "engines-along" });
    this.element = h(
      "section",
      { class: "engines-over-run", hidden: true },
      this.heading,
      h("p", { class: "hint" }, SAID),
      this.list,
    );
  }

  /** @param {EnginesAlong | null} along @param {"own" | "fired"} which @param {string} lane */
  draw(along, which, lane) {
    this.element.hidden = !along;
    if (!along) return;
    const yes = which === "fired" ? ", had every coin said yes" : "";
    const than = labelOf(along.chosen, this.spec);
    setText(
      this.heading,
      `${lane}, all ${count(along.steps, "step")}: where engines decide otherwise than ${than}${yes}`,
    );
    this.list.replaceChildren(...alongRows(along, which).map((row) => this.row(row, along.steps)));
  }

  /** @param {ReturnType<typeof alongRows>[number]} row @param {number} steps */
  row({ engines, steps: found, causes, exact }, steps) {
    const names = engines.map((name) => labelOf(name, this.spec)).join(", ");
    const number = exact ? String(found.length) : `about ${found.length}`;
    const [first] = found;
    const why = causes.map(([words]) => words).join(", ");
    return h(
      "li",
      { "data-engines": engines.join(" ") },
      h("span", { class: "names" }, names),
      h(
        "span",
        { class: "how-many" },
        found.length ? h("b", {}, number) : "nowhere",
        found.length ? ` ${found.length === 1 ? "step" : "steps"}: ${why} ` : "",
        found.length
          ? button(`first: token ${first + 1}`, () => this.onpick(first), {
              class: "quiet",
              "aria-label": `first: token ${first + 1}, where ${names} would decide otherwise`,
            })
          : null,
      ),
      found.length ? this.ticks(found, steps) : null,
    );
  }

  /** @param {number[]} found @param {number} steps */
  ticks(found, steps) {
    const path = found.map((i) => `M${i + 0.5} 0V${TALL}`).join("");
    const svg = s(
      "svg",
      {
        class: "ticks",
        viewBox: `0 0 ${Math.max(1, steps)} ${TALL}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true",
      },
      s("path", { d: path, "vector-effect": "non-scaling-stroke" }),
    );
    svg.addEventListener("click", (event) => {
      const { left, width } = svg.getBoundingClientRect();
      const at = (steps * (event.clientX - left)) / width;
      const near = (/** @type {number} */ i) => Math.abs(i + 0.5 - at);
      this.onpick(found.reduce((best, i) => (near(i) < near(best) ? i : best)));
    });
    return svg;
  }
}

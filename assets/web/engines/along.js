// Over a whole run: at how many steps each engine would have decided otherwise than the lane's own.

import { button, h, s, setText } from "../core/dom.js";
import { count } from "../core/format.js";
import { alongRows, labelOf } from "./strips.js";

const TALL = 10;
const SAID =
  "Along this text, not written anew: where an engine removes other words, its text would soon " +
  "have been another one. ≠ marks an engine's steps on the timeline.";

export class AlongRun {
  /**
   * `onpick(i)` when a step is chosen, `onmark(engine)` when an engine's are to be marked, and
   * "" when they no longer are.
   * @param {Pick<Spec, "engines">} spec
   * @param {{ onpick: (i: number) => void, onmark: (engine: string) => void }} events
   */
  constructor(spec, { onpick, onmark }) {
    this.spec = spec;
    this.onpick = onpick;
    this.onmark = onmark;
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

  /**
   * `marked` is the engine whose steps are marked on the timeline, "" for none.
   * @param {EnginesAlong | null} along
   * @param {"own" | "fired"} which
   * @param {string} lane
   * @param {string} marked
   */
  draw(along, which, lane, marked) {
    this.element.hidden = !along;
    if (!along) return;
    const yes = which === "fired" ? ", had every coin said yes" : "";
    const than = labelOf(along.chosen, this.spec);
    setText(
      this.heading,
      `${lane}, all ${count(along.steps, "step")}: where engines decide otherwise than ${than}${yes}`,
    );
    const rows = alongRows(along, which).map((row) => this.row(row, along.steps, marked));
    // What was pressed is drawn anew, and stays where the keyboard is.
    const held = this.list.contains(document.activeElement);
    const place = held ? document.activeElement?.getAttribute("data-engine") : null;
    this.list.replaceChildren(...rows);
    const again = place && this.list.querySelector(`[data-engine="${CSS.escape(place)}"]`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** @param {ReturnType<typeof alongRows>[number]} row @param {number} steps @param {string} marked */
  row({ engines, steps: found, causes, exact }, steps, marked) {
    const names = engines.map((name) => labelOf(name, this.spec)).join(", ");
    const number = exact ? String(found.length) : `about ${found.length}`;
    const [first] = found;
    const why = causes.map(([words]) => words).join(", ");
    return h(
      "li",
      { "data-engines": engines.join(" ") },
      found.length ? this.names(engines, names, marked) : h("span", { class: "names" }, names),
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

  /**
   * The names of the engines of a row, which mark its steps on the timeline.
   * @param {string[]} engines
   * @param {string} names
   * @param {string} marked
   */
  names(engines, names, marked) {
    const on = engines.includes(marked);
    return button(
      [h("span", { "aria-hidden": "true" }, "≠ "), names],
      () => this.turn(engines, on),
      {
        class: "quiet names",
        "data-engine": engines[0],
        "aria-pressed": String(on),
        title: on ? "Take its marks off the timeline" : "Mark these steps on the timeline",
      },
    );
  }

  /** @param {string[]} engines @param {boolean} on */
  turn([engine], on) {
    this.onmark(on ? "" : engine);
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

// The part of the menu in which a view is chosen and saved as a figure.

import { Knob } from "../composer/knob.js";
import { fault } from "../composer/typed.js";
import { button, h, setText } from "../core/dom.js";
import { download } from "../core/download.js";
import { wordsOf } from "../core/errors.js";
import { choice } from "../core/fields.js";
import { figure, MARGIN, pixels } from "./figure.js";
import { Paper } from "./paper.js";

/** @import { Playback } from "../session/playback.js" */
/** @import { View, Views } from "./views.js" */

/** @type {[string, string][]} */
const FORMATS = [
  ["svg", "SVG"],
  ["png", "PNG, 300 pixels to the inch"],
  ["html", "Interactive HTML"],
];
const MM = 25.4 / 96; // millimetres of a pixel

export class FigureForm {
  /**
   * @param {Playback} playback
   * @param {Views} views
   * @param {Pick<Transport, "figure">} transport
   * @param {Pick<Spec, "knobs">} spec
   */
  constructor(playback, views, transport, { knobs }) {
    this.playback = playback;
    this.views = views;
    this.transport = transport;
    /** @type {View[]} */
    this.list = [];
    this.busy = false;
    this.view = choice("View", [], () => this.say(""));
    const formats = transport.figure ? FORMATS : FORMATS.slice(0, 2);
    this.format = choice("Format", formats, () => this.describe());
    this.size = h("small");
    this.width = new Knob(knobs.figure_width, {
      onchange: () => this.describe(),
      slider: false,
      label: "Width",
    });
    this.width.element.firstElementChild?.append(this.size);
    this.width.value = knobs.figure_width.default;
    this.knob = knobs.figure_width;
    this.save = button("Save figure", () => this.make());
    this.told = h("p", { class: "told", role: "status" });
    this.element = h(
      "section",
      { class: "figure-form", "aria-label": "Figure", "data-testid": "figure-form" },
      h("h2", {}, "Figure"),
      this.view.element,
      this.format.element,
      this.width.element,
      this.save,
      this.told,
    );
    this.describe();
  }

  /** The menu was opened: offer the views that exist now. */
  refresh() {
    const chosen = this.view.select.value;
    this.list = this.views.list();
    this.element.hidden = !this.list.length;
    this.view.select.replaceChildren(
      ...this.list.map(({ id, label }) => h("option", { value: id }, label)),
    );
    if (this.list.some(({ id }) => id === chosen)) this.view.select.value = chosen;
    this.say("");
  }

  /** How large it becomes in print, or as a file. */
  describe() {
    const { value } = this.width;
    const html = this.format.select.value === "html";
    const fits = !fault(this.knob, value);
    const inPrint = fits ? `px, ${Math.round(Number(value) * MM)} mm in print` : "px";
    setText(this.size, html ? "px at most; 5 MB, opens offline" : inPrint);
  }

  /** @param {string} words */
  say(words) {
    setText(this.told, words);
  }

  async make() {
    const view = this.list.find(({ id }) => id === this.view.select.value);
    const { value } = this.width;
    const wrong = fault(this.knob, value);
    if (wrong) return this.width.wrong(wrong);
    if (!view || this.busy) return;
    const format = this.format.select.value;
    this.busy = true;
    this.say("Drawing …");
    try {
      const content = await this.file(view, format, Number(value));
      const name = `${view.file}.${format}`;
      const type = { svg: "image/svg+xml", png: "image/png", html: "text/html" }[format];
      const blob = new Blob([content], { type });
      download(name, blob, blob.type);
      this.say(`Saved ${name}, ${size(blob.size)}`);
    } catch (error) {
      this.say(`Not saved: ${wordsOf(error)}`);
    }
    this.busy = false;
  }

  /** @param {View} view @param {string} format @param {number} width */
  async file(view, format, width) {
    const paper = new Paper(width - 2 * MARGIN);
    try {
      const drawing = await this.views.draw(view, paper);
      if (format === "html") {
        const { head, notes = [], foot } = drawing;
        return await this.interactive(view, width, [...head, ...notes, foot]);
      }
      const picture = figure(drawing, paper);
      return format === "png" ? await pixels(picture) : picture.text;
    } finally {
      paper.close();
    }
  }

  /** @param {View} view @param {number} width @param {string[]} caption */
  async interactive({ view, at, mate, file }, width, caption) {
    const { run, candidates } = this.playback;
    if (!run || !this.transport.figure) throw new Error("There is no server to draw it.");
    const { log, part, which } = this.views.look();
    return this.transport.figure(
      run.id,
      {
        ...{ view, ...at, mate: Math.max(0, mate), candidates, log, part, which },
        ...{ width, name: file, caption },
      },
      view === "stages" ? [] : run.lanes.map(({ imagined }) => imagined?.xtc ?? null),
    );
  }
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1e6
    ? `${Math.max(1, Math.round(bytes / 1e3))} kB`
    : `${(bytes / 1e6).toFixed(1)} MB`;
}

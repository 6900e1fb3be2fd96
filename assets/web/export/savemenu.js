// What can be kept of a run: files to take away, and a trace to open again.

import { h } from "../core/dom.js";
import { download } from "../core/download.js";
import { wordsOf } from "../core/errors.js";
import { Menu } from "../core/menu.js";
import { FigureForm } from "./figureform.js";
import { traceText } from "./tracetext.js";
import { Views } from "./views.js";

/** @import { Playback } from "../session/playback.js" */

const FILES = {
  trace: ["xtc-trace.json", "application/json"],
  table: ["xtc-steps.csv", "text/csv"],
  replay: ["xtc-replay.html", "text/html"],
};

export class SaveMenu {
  /**
   * `look()` says how the inspector shows a step; `onopen(text, name)` is called with a trace
   * file's text, and `onproblem(words)` when something went wrong.
   * @param {Playback} playback
   * @param {Transport} transport
   * @param {Spec} spec
   * @param {{ look: () => Drawn,
   *   onopen: (text: string, name: string) => Promise<void>,
   *   onproblem: (words: string) => void }} events
   */
  constructor(playback, transport, spec, { look, onopen, onproblem }) {
    this.playback = playback;
    this.transport = transport;
    this.onopen = onopen;
    this.onproblem = onproblem;
    this.file = h("input", { type: "file", accept: ".json,.gz", hidden: true });
    this.file.addEventListener("change", () => this.open());
    const menu = new Menu("Save", [
      ["Trace (JSON)", () => this.export("trace")],
      ["Steps as a table (CSV)", () => this.export("table")],
      ["Replay to open offline (HTML)", () => this.export("replay")],
      ["Open a trace …", () => this.file.click()],
    ]);
    const views = new Views(playback, transport, spec, look);
    const form = new FigureForm(playback, views, transport, spec);
    menu.element.querySelector(".menu-list")?.append(form.element);
    menu.element.addEventListener("toggle", () => menu.element.open && form.refresh());
    this.element = h("div", {}, menu.element, this.file);
  }

  /** @param {keyof typeof FILES} kind */
  async export(kind) {
    const { run } = this.playback;
    if (!run || !this.transport.export) return;
    const [name, type] = FILES[kind];
    try {
      download(name, await this.transport.export(run.id, kind), type);
    } catch (error) {
      this.onproblem(wordsOf(error));
    }
  }

  async open() {
    const file = this.file.files?.[0];
    this.file.value = "";
    if (!file) return;
    try {
      await this.onopen(await traceText(file), file.name);
    } catch (error) {
      this.onproblem(wordsOf(error));
    }
  }
}

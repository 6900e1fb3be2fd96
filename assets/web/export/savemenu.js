// What can be kept of a run: files to take away, and a trace to open again.

import { h } from "../core/dom.js";
import { download } from "../core/download.js";
import { wordsOf } from "../core/errors.js";
import { Menu } from "../core/menu.js";
import { figure, picture } from "./figure.js";

/** @import { Figure } from "./figure.js" */
/** @import { Playback } from "../session/playback.js" */

const FILES = {
  trace: ["xtc-trace.json", "application/json"],
  table: ["xtc-steps.csv", "text/csv"],
  replay: ["xtc-replay.html", "text/html"],
};

/** @param {File} file */
async function readTrace(file) {
  const gzip = file.name.endsWith(".gz");
  const stream = gzip ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  return new Response(stream).text();
}

export class SaveMenu {
  /**
   * `figure()` is the figure on show, null without one; `onopen(text, name)` is called with a trace
   * file's text, and `onproblem(words)` when something went wrong.
   * @param {Playback} playback
   * @param {Pick<Transport, "export">} transport
   * @param {{ figure: () => Figure | null, onopen: (text: string, name: string) => Promise<void>,
   *   onproblem: (words: string) => void }} events
   */
  constructor(playback, transport, { figure: shown, onopen, onproblem }) {
    this.playback = playback;
    this.transport = transport;
    this.shown = shown;
    this.onopen = onopen;
    this.onproblem = onproblem;
    this.file = h("input", { type: "file", accept: ".json,.gz", hidden: true });
    this.file.addEventListener("change", () => this.open());
    const menu = new Menu("Keep", [
      ["Trace (JSON)", () => this.export("trace")],
      ["Steps as a table (CSV)", () => this.export("table")],
      ["Replay to open offline (HTML)", () => this.export("replay")],
      ["The bars as SVG", () => this.figure("svg")],
      ["The bars as PNG", () => this.figure("png")],
      ["Open a trace …", () => this.file.click()],
    ]);
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

  /** @param {"svg" | "png"} kind */
  async figure(kind) {
    const shown = this.shown();
    if (!shown) return;
    if (kind === "png") download("xtc-step.png", await picture(shown), "image/png");
    else download("xtc-step.svg", figure(shown).text, "image/svg+xml");
  }

  async open() {
    const file = this.file.files?.[0];
    this.file.value = "";
    if (!file) return;
    try {
      await this.onopen(await readTrace(file), file.name);
    } catch (error) {
      this.onproblem(wordsOf(error));
    }
  }
}

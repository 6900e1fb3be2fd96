// What can be kept of a run: files to take away, and a trace to open again.

import { h, s } from "./dom.js";
import { Menu } from "./menu.js";

const FILES = {
  trace: ["xtc-trace.json", "application/json"],
  table: ["xtc-steps.csv", "text/csv"],
  replay: ["xtc-replay.html", "text/html"],
};

function download(name, content, type) {
  const url = URL.createObjectURL(
    content instanceof Blob ? content : new Blob([content], { type }),
  );
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The figure as it is on the page, with its styles in it. */
function figure(svg) {
  const copy = svg.cloneNode(true);
  const from = svg.querySelectorAll("*");
  const names = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity"];
  names.push(
    "font-size",
    "font-weight",
    "font-family",
    "text-decoration",
    "text-anchor",
    "paint-order",
  );
  for (const [i, node] of copy.querySelectorAll("*").entries()) {
    const style = getComputedStyle(from[i]);
    node.setAttribute("style", names.map((n) => `${n}:${style.getPropertyValue(n)}`).join(";"));
  }
  const { width, height } = svg.getBoundingClientRect();
  const ground = getComputedStyle(svg).getPropertyValue("--paper");
  copy.prepend(s("rect", { width: "100%", height: "100%", fill: ground }));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

async function picture(svg, scale = 2) {
  const { text, width, height } = figure(svg);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = h("canvas", {
    width: Math.round(width * scale),
    height: Math.round(height * scale),
  });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.drawImage(image, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

async function readTrace(file) {
  const gzip = file.name.endsWith(".gz");
  const stream = gzip ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  return new Response(stream).text();
}

export class Keep {
  /**
   * `svg()` is the figure on show; `onopen(text, name)` is called with a trace file's text, and
   * `onproblem(message)` when something went wrong.
   */
  constructor(model, { svg, onopen, onproblem }) {
    this.model = model;
    this.svg = svg;
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

  async export(kind) {
    const { run, transport } = this.model;
    if (!run) return;
    const [name, type] = FILES[kind];
    try {
      download(name, await transport.export(run.id, kind), type);
    } catch (error) {
      this.onproblem(error.message);
    }
  }

  async figure(kind) {
    const svg = this.svg();
    if (!this.model.focus) return;
    if (kind === "png") download("xtc-step.png", await picture(svg), "image/png");
    else download("xtc-step.svg", figure(svg).text, "image/svg+xml");
  }

  async open() {
    const [file] = this.file.files;
    this.file.value = "";
    if (!file) return;
    try {
      await this.onopen(await readTrace(file), file.name);
    } catch (error) {
      this.onproblem(error.message);
    }
  }
}

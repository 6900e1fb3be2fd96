// Keep and share: files to take away, a file to open, a link.

import { h, s } from "./dom.js";

export function download(name, content, type) {
  const url = URL.createObjectURL(
    content instanceof Blob ? content : new Blob([content], { type }),
  );
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The figure as it is on the page, with its styles in it. */
export function figure(svg) {
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

export async function picture(svg, scale = 2) {
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

export async function readTrace(file) {
  const gzip = file.name.endsWith(".gz");
  const stream = gzip ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  return new Response(stream).text();
}

export class Menu {
  /** `items` are [label, action]; the menu closes when one is chosen. */
  constructor(label, items) {
    const list = h("div", { class: "menu-list" });
    this.element = h("details", { class: "menu" }, h("summary", {}, label), list);
    for (const [name, action] of items) {
      const onclick = () => {
        this.element.open = false;
        action();
      };
      list.append(h("button", { type: "button", class: "quiet", onclick }, name));
    }
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      this.element.open = false;
      this.element.querySelector("summary").focus();
      event.stopPropagation();
    });
    document.addEventListener("click", (event) => {
      if (!this.element.contains(event.target)) this.element.open = false;
    });
  }
}

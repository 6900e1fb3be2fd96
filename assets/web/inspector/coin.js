// The coin as a picture: where the draw fell on [0, 1], against ρ.

import { s, set, setText } from "../core/dom.js";
import { besideThreshold, setting } from "../core/format.js";

/** @typedef {Pick<StepView, "coin" | "rho" | "tossed">} Toss */

export class Coin {
  constructor() {
    /** @type {Toss | null} */
    this.shown = null;
    this.fires = s("rect", { class: "fires", y: 15, height: 10 });
    this.holds = s("rect", { class: "holds", y: 15, height: 10 });
    this.rho = s("line", { class: "rho", y1: 11, y2: 29 });
    this.rhoText = s("text", { class: "tick", y: 41 });
    this.drop = s("path", { class: "drop" });
    this.value = s("text", { class: "value", y: 9 });
    this.left = s("text", { class: "tick", y: 41, x: 0 });
    this.right = s("text", { class: "tick", y: 41, "text-anchor": "end" });
    this.element = s(
      "svg",
      { class: "coin", role: "img", height: 45 },
      this.fires,
      this.holds,
      this.rho,
      this.rhoText,
      this.drop,
      this.value,
      this.left,
      this.right,
    );
    this.width = 0;
    new ResizeObserver(([entry]) => {
      this.width = entry.contentRect.width;
      if (this.shown) this.draw(this.shown);
    }).observe(this.element);
  }

  /** @param {Toss} step */
  draw(step) {
    this.shown = step;
    const width = this.width || this.element.clientWidth || 260;
    const rho = step.rho * width;
    const x = Math.max(5, Math.min(width - 5, step.coin * width));
    set(this.element, { viewBox: `0 0 ${width} 45` });
    set(this.fires, { x: 0, width: rho });
    set(this.holds, { x: rho, width: width - rho });
    set(this.rho, { x1: rho, x2: rho });
    const beside = Math.max(22, Math.min(width - 22, rho));
    set(this.rhoText, { x: beside, "text-anchor": "middle" });
    setText(this.rhoText, `ρ ${setting(step.rho)}`);
    setText(this.left, rho > 48 ? "0" : "");
    setText(this.right, width - rho > 48 ? "1" : "");
    set(this.right, { x: width });
    if (step.tossed === false) return this.drawNone(width);
    set(this.drop, {
      d: `M${x} 15 l-5 -9 h10 z`,
      class: step.coin < step.rho ? "drop under" : "drop",
    });
    const end = x > width / 2;
    set(this.value, { x: end ? x - 8 : x + 8, "text-anchor": end ? "end" : "start", y: 11 });
    setText(this.value, besideThreshold(step.coin, step.rho));
    const side = step.coin < step.rho ? "under" : "not under";
    const say = `The coin fell at ${besideThreshold(step.coin, step.rho)}, ${side} ρ = ${setting(step.rho)}`;
    set(this.element, { "aria-label": say });
  }

  /** A server tosses none where XTC is off, or where there is nothing to choose from. */
  drawNone(/** @type {number} */ width) {
    const none = "no coin was tossed";
    set(this.drop, { d: null });
    set(this.value, { x: width / 2, "text-anchor": "middle", y: 11 });
    setText(this.value, none);
    set(this.element, { "aria-label": none });
  }
}

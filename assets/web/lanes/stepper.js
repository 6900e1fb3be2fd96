// Step by step: what was decoded is shown one token at a time. First the distribution and the coin
// to come, then the pick. It works on a run that is still being written as on a recorded one.

import { button, h, setText } from "../core/dom.js";

const PACES = [
  ["1400", "slowly"],
  ["700", "steadily"],
  ["220", "quickly"],
];

/** @import { Playback } from "../session/playback.js" */

export class Stepper {
  /** @param {Playback} playback */
  constructor(playback) {
    this.playback = playback;
    /** @type {number | null} */
    this.timer = null;
    this.step = button("Step", () => this.next(), {
      class: "quiet half",
      title: "See the distribution and the coin first, then the pick",
    });
    this.play = button("Play", () => this.toggle(), { class: "quiet pace-play" });
    this.pace = h(
      "select",
      { "aria-label": "Pace" },
      PACES.map(([value, name]) => h("option", { value }, name)),
    );
    this.pace.value = "700";
    this.all = button("Show all", () => this.end(), { class: "quiet all" });
    this.element = h(
      "div",
      { class: "stepper", role: "group", "aria-label": "Step by step" },
      this.step,
      this.play,
      this.pace,
      this.all,
    );
    playback.on("run", () => this.pause());
    playback.on("run reveal state chips", () => this.update());
    this.update();
  }

  get playing() {
    return Boolean(this.timer);
  }

  /** Whether everything that was written is on show. */
  get done() {
    const { stepping, reveal, busy } = this.playback;
    return stepping && reveal >= this.longest && !busy;
  }

  get longest() {
    return this.playback.run?.longest ?? 0;
  }

  update() {
    const { playback } = this;
    this.element.hidden = !playback.run;
    this.all.hidden = !playback.stepping;
    this.step.disabled = this.done;
    const half = playback.pending ? "Step: draw" : "Step: look";
    setText(this.step, playback.stepping ? half : "Step");
    setText(this.play, this.timer ? "Pause" : "Play");
  }

  /** Begin at a position: everything behind it is hidden again. @param {number} at */
  begin(at) {
    this.playback.setReveal(at, true);
  }

  /** One half step: look, then draw. */
  next() {
    const { playback } = this;
    if (!playback.run) return;
    if (!playback.stepping) {
      const at = playback.selected?.i ?? 0;
      return this.begin(at + 1 < this.longest ? at : 0);
    }
    if (playback.pending) {
      if (playback.reveal >= this.longest) return;
      playback.setReveal(playback.reveal + 1, false);
    } else if (playback.reveal < this.longest) playback.setReveal(playback.reveal, true);
    else if (!playback.busy) this.end();
  }

  toggle() {
    const { playback } = this;
    if (this.timer) return this.pause();
    if (!playback.run) return;
    if (!playback.stepping) this.begin(0);
    const tick = () => {
      this.timer = setTimeout(tick, Number(this.pace.value) / 2);
      this.next();
      if (!playback.stepping) this.pause();
    };
    this.timer = setTimeout(tick, Number(this.pace.value) / 2);
    this.update();
  }

  pause() {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.update();
  }

  end() {
    this.pause();
    this.playback.setReveal(Number.POSITIVE_INFINITY, false);
  }
}

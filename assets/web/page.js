// The assembly: model, views, and what happens when a run starts, streams, waits, stops or fails.

import { Composer } from "./composer.js";
import { h, set, setText } from "./dom.js";
import { Inspector } from "./inspector.js";
import { handle, helpDialog } from "./keys.js";
import { Lanes } from "./lanes.js";
import { FIRED, MODES, Model } from "./model.js";
import { Timeline } from "./timeline.js";

const LEGENDS = {
  outcome: [
    ["l-fired", "XTC fired"],
    ["l-changed", "… and changed the word"],
    ["l-skipped", "could have fired, the coin said no"],
    ["l-protected", "protected"],
  ],
  probability: [["l-amount", "the taller and darker, the less probable the word was"]],
  rank: [["l-amount", "the taller and darker, the further down the list the word stood"]],
  surprisal: [["l-amount", "the taller and darker, the more surprising the word (bits)"]],
  entropy: [["l-amount", "the taller and darker, the more open the choice was"]],
  difference: [["l-other", "differs from the other lane at this place"]],
};

export class Page {
  constructor(root, spec, transport) {
    this.spec = spec;
    this.transport = transport;
    this.number = 0;
    this.phase = "idle";
    this.model = new Model(transport);
    this.lanes = new Lanes(this.model, spec);
    this.timeline = new Timeline(this.model);
    this.inspector = new Inspector(this.model);
    this.composer = new Composer(spec, {
      onrun: () => this.generate(),
      onstop: () => this.stop(),
      onchange: () => {},
    });
    this.dialog = helpDialog();
    this.legend = h("div", { class: "legend", "aria-label": "Colours", role: "group" });
    this.mode = h(
      "select",
      { "aria-label": "Colour the words by", onchange: () => this.model.setMode(this.mode.value) },
      MODES.map((name) => h("option", { value: name }, name === "outcome" ? "XTC outcome" : name)),
    );
    this.origin = h("p", { class: "origin", "data-testid": "origin" });
    root.replaceChildren(
      this.header(),
      this.composer.element,
      h("div", { class: "above" }, this.origin, this.lanes.tabs),
      this.lanes.element,
      h(
        "div",
        { class: "below" },
        h("label", { class: "mode" }, "Colours ", this.mode),
        this.legend,
      ),
      this.timeline.element,
      h(
        "p",
        { class: "timeline-key" },
        h("span", { class: "k removed-bar" }, "probability removed"),
        h("span", { class: "k changed-bar" }, "changed the word"),
        h("span", { class: "k eligible" }, "how many tokens were eligible"),
        h("span", {}, "‖ the lanes part"),
      ),
      this.inspector.element,
      this.dialog,
      this.composer.editor.element,
    );
    this.root = root;
    this.model.on("mode run", () => this.drawLegend());
    this.model.on("problem", ({ message }) => setText(this.composer.error, message));
    this.drawLegend();
    window.addEventListener("keydown", (event) => {
      const inside = event.target === document.body || root.contains(event.target);
      if (inside && !event.defaultPrevented && handle(event, this)) event.preventDefault();
    });
  }

  header() {
    this.about = h("p", { class: "model", "data-testid": "model" });
    this.theme = h(
      "button",
      { type: "button", class: "quiet", "aria-label": "Light or dark", onclick: () => this.turn() },
      "◐",
    );
    return h(
      "header",
      { class: "top" },
      h("h1", {}, "xtc_viz"),
      h(
        "p",
        { class: "lead" },
        "XTC (exclude top choices) now and then strikes out the likeliest next words and keeps ",
        "the least likely one that is still plausible. All lanes share one prompt and one set of ",
        "dice, so where they part, their settings are the reason.",
      ),
      this.about,
      h(
        "div",
        { class: "tools" },
        this.theme,
        h(
          "button",
          { type: "button", class: "quiet", "aria-label": "Keys", onclick: () => this.help() },
          "?",
        ),
      ),
    );
  }

  turn() {
    document.body.classList.toggle("dark");
    this.model.emit("mode");
  }

  help() {
    if (!this.dialog.open) this.dialog.showModal();
  }

  nextMode() {
    const next = MODES[(MODES.indexOf(this.model.mode) + 1) % MODES.length];
    this.mode.value = next;
    this.model.setMode(next);
  }

  drawLegend() {
    set(this.lanes.element, { "data-mode": this.model.mode });
    this.legend.replaceChildren(
      ...LEGENDS[this.model.mode].map(([name, words]) => h("span", { class: `l ${name}` }, words)),
    );
  }

  generate() {
    if (this.phase !== "idle") return;
    this.number += 1;
    this.stopping = false;
    this.composer.clear();
    this.enter("starting", "Starting …");
    this.transport.run({ req: this.number, ...structuredClone(this.composer.draft) });
  }

  stop() {
    if (this.phase === "idle") return;
    this.stopping = true;
    if (this.current) this.transport.stop(this.current);
    setText(this.composer.status, "Stopping …");
  }

  /** Esc stops a run; without one it means nothing. */
  escape() {
    if (this.phase === "idle" || this.dialog.open) return false;
    this.stop();
    return true;
  }

  enter(phase, message) {
    this.phase = phase;
    if (phase === "idle") {
      this.current = null;
      set(this.root, { "data-done": this.number });
    }
    this.composer.busy(phase, message);
  }

  /** Take one message of the server. */
  async message(value) {
    if (!value || (value.req !== undefined && value.req !== this.number)) return;
    if (value.run && value.req !== undefined && this.current !== value.run) {
      this.current = value.run;
      if (this.stopping) this.transport.stop(value.run);
    }
    if (value.error) {
      this.composer.wrong(value.error);
      if (value.run && this.model.run?.id === value.run) this.model.setState("failed");
      return this.enter("idle", "");
    }
    if (value.add || value.head) {
      if (!this.model.take(value)) await this.heal(value);
    } else if (value.run && this.model.run?.id === value.run) this.model.setState(value.state);
    this.announce(value);
  }

  /** Something was missed: ask for all that is not here yet. */
  async heal({ run }) {
    const known = this.model.run?.id === run;
    const at = known ? this.model.run.lanes.map((lane) => lane.chips.length) : [];
    const whole = await this.transport.open(run, at);
    if (whole) this.model.take(whole);
  }

  announce(value) {
    if (value.model) this.showModel(value.model);
    const { state } = value;
    if (state === "recorded") {
      setText(this.origin, "A recorded run. Press Generate to write your own.");
      if (value.select) this.model.select(...value.select);
      return;
    }
    if (value.head) setText(this.origin, "");
    if (state === "waiting") {
      const n = value.place;
      const ahead = n === 1 ? "one run is" : `${n} runs are`;
      const words = `Waiting: ${ahead} ahead of yours. It starts by itself.`;
      this.enter("waiting", value.note || words);
    } else if (state === "starting") this.enter("starting", value.note ?? "Reading the prompt …");
    else if (state === "running") this.enter("running", "Writing …");
    else if (state) this.finished(state);
  }

  finished(state) {
    this.enter("idle", state === "stopped" ? "Stopped." : "");
    const { model } = this;
    if (model.selected || !model.run) return;
    const lanes = model.run.lanes;
    for (const test of [(chip) => chip.changed, (chip) => chip.outcome === FIRED]) {
      for (let k = lanes.length - 1; k >= 0; k--) {
        const i = lanes[k].chips.findIndex(test);
        if (i >= 0) return model.select(k, i);
      }
    }
  }

  /** Say which model runs; while it is being loaded, ask again. */
  async greet() {
    const { model, phase, note } = await this.transport.hello();
    if (model) this.showModel(model);
    if (note) setText(this.about, note);
    if (phase === "loading") setTimeout(() => this.greet(), 500);
  }

  showModel(info) {
    const size = info.parameters ? ` · ${(info.parameters / 1e6).toFixed(1)} M parameters` : "";
    this.composer.extras.model(info);
    setText(this.about, `${info.name}${size} · ${info.dtype} · ${info.device}`);
    set(this.about, { title: `context of ${info.context} tokens` });
  }
}

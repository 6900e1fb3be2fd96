// The assembly: model, views, and what happens when a run starts, streams, waits, stops or fails.

import { Colours } from "./colours.js";
import { Composer } from "./composer.js";
import { h, set, setText } from "./dom.js";
import { Inspector } from "./inspector.js";
import { Keep } from "./keep.js";
import { handle, helpDialog } from "./keys.js";
import { Lanes } from "./lanes.js";
import { fromLink, toLink } from "./link.js";
import { FIRED, Model } from "./model.js";
import { Models, same } from "./models.js";
import { Stepper } from "./stepper.js";
import { Strength } from "./strength.js";
import { Timeline } from "./timeline.js";
import { WhatIf } from "./whatif.js";

const SHARED =
  "All lanes share one prompt and one set of dice, so where they part, their settings are the reason.";
const APART =
  "All lanes of this run share one prompt, but each has dice of its own, so they also part by chance.";

export class Page {
  /** `transport` talks to the server; without `run` the page is a replay. */
  constructor(root, spec, transport) {
    this.spec = spec;
    this.root = root;
    this.transport = transport;
    this.number = 0;
    this.phase = "idle";
    this.former = [];
    this.live = Boolean(transport.run);
    this.model = new Model(transport);
    this.models = new Models(transport, (info) => this.changed(info));
    this.lanes = new Lanes(this.model, spec);
    this.timeline = new Timeline(this.model);
    this.stepper = new Stepper(this.model);
    const branch = this.live ? (at, id) => this.branch(at, id) : null;
    this.inspector = new Inspector(this.model, branch, spec);
    this.composer = new Composer(spec, {
      onrun: () => this.generate(),
      onstep: () => this.generate({ stepping: true }),
      onstop: () => this.stop(),
      tokens: transport.tokens,
      onchange: () => this.whatIf.update(this.composer.draft),
    });
    this.whatIf = new WhatIf(this.model, {
      anew: () => this.generate(),
      reset: () => this.putBack(),
    });
    this.strength = new Strength(this.model, (lane, rho, tau) => this.imagine(lane, rho, tau));
    this.colours = new Colours(this.model, this.lanes.element);
    this.keep = new Keep(this.model, {
      figure: () => this.inspector.figure(),
      onopen: (text, name) => this.open(text, name),
      onproblem: (message) => setText(this.composer.error, message),
    });
    this.dialog = helpDialog();
    this.dice = h("span", {}, SHARED);
    this.origin = h("p", { class: "origin", "data-testid": "origin" });
    const composer = [this.composer.element, this.composer.editor.element];
    root.replaceChildren(
      this.header(),
      ...(this.live ? composer : []),
      h("div", { class: "above" }, this.origin, this.lanes.tabs, this.runTools()),
      this.lanes.element,
      this.colours.element,
      this.whatIf.element,
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
      ...(this.live ? [this.strength.element] : []),
      this.dialog,
      ...(this.live ? [this.models.dialog] : []),
    );
    set(root, { "data-empty": "" });
    this.composer.fit();
    this.model.on("run", () => set(root, { "data-empty": null }));
    this.model.on("run", () => setText(this.dice, this.model.run.head.shared ? SHARED : APART));
    this.model.on("run state", () => this.drawTools());
    this.model.on("problem", ({ message }) => setText(this.composer.error, message));
    this.drawTools();
    window.addEventListener("keydown", (event) => {
      const inside = event.target === document.body || root.contains(event.target);
      if (inside && !event.defaultPrevented && handle(event, this)) event.preventDefault();
    });
  }

  header() {
    const about = h("p", { class: "model", "data-testid": "model" });
    if (this.live) about.append(this.models.button);
    const quiet = (words, label, onclick) =>
      h("button", { type: "button", class: "quiet", "aria-label": label, onclick }, words);
    this.share = quiet("Link", "Copy a link to this run", () => this.copyLink());
    return h(
      "header",
      { class: "top" },
      h("h1", {}, "xtc_viz"),
      h(
        "p",
        { class: "lead" },
        "XTC (exclude top choices) now and then strikes out the likeliest next words and keeps ",
        "the least likely one that is still plausible. ",
        this.dice,
      ),
      about,
      h(
        "div",
        { class: "tools" },
        ...(this.live ? [this.share, this.keep.element] : []),
        quiet("◐", "Light or dark", () => this.turn()),
        quiet("?", "Keys", () => this.help()),
      ),
    );
  }

  runTools() {
    const button = (words, onclick) =>
      h("button", { type: "button", class: "quiet", onclick }, words);
    this.onward = button("Continue", () => this.onwards());
    this.again = button("Again with a new seed", () => {
      this.composer.newSeed();
      this.generate();
    });
    this.undo = button("Undo", () => this.goBack());
    const live = this.live ? [this.onward, this.again, this.undo] : [];
    return h("div", { class: "run-tools" }, ...live, this.stepper.element);
  }

  drawTools() {
    const { run } = this.model;
    const idle = this.phase === "idle" && Boolean(run);
    const most = this.spec.maxTokens ?? Number.POSITIVE_INFINITY;
    const open = (run?.lanes ?? []).some(
      ({ finish, chips }) => finish !== "eos" && finish !== "stop" && chips.length < most,
    );
    this.onward.hidden = !idle || !open || !this.shows(run);
    set(this.root, { "data-other-model": Boolean(this.info && run && !this.shows(run)) || null });
    this.again.hidden = !idle;
    this.undo.hidden = !idle || !this.former.length;
  }

  /** Whether the model that runs is the one that wrote the run on show. */
  shows(run) {
    return same(this.info, run?.head.model);
  }

  turn() {
    document.body.classList.toggle("dark");
    this.model.emit("mode");
  }

  help() {
    if (!this.dialog.open) this.dialog.showModal();
  }

  generate({ stepping = false } = {}) {
    this.start({ kind: "run", ...structuredClone(this.composer.draft) }, stepping);
  }

  /** More tokens in every lane that has not come to its end. */
  onwards() {
    const more = this.composer.draft.settings.max_new_tokens;
    this.start({ kind: "continue", run: this.model.run.id, more });
  }

  /** A new lane that takes another token at this step. */
  branch(at, token) {
    this.start({ kind: "branch", run: this.model.run.id, lane: at.lane, i: at.i, token });
    this.goal = { lane: this.model.run.lanes.length, i: at.i };
  }

  start(request, stepping = false) {
    if (this.phase !== "idle") return;
    this.number += 1;
    this.stopping = false;
    this.goal = null;
    this.stepper.pause();
    this.model.stepping = stepping;
    this.composer.clear();
    this.enter("starting", "Starting …");
    this.transport.run({ ...request, req: this.number });
  }

  /** Back to the run that was on show before. */
  async goBack() {
    const former = this.former.pop();
    if (!former) return;
    try {
      this.model.take(await this.transport.open(former.id, []));
      this.returned = true;
      if (former.selected) this.model.select(former.selected.lane, former.selected.i);
    } catch (error) {
      setText(this.composer.error, error.message);
    }
    this.drawTools();
  }

  /** The composer's XTC settings become those of the run on show again. */
  putBack() {
    const { settings } = this.composer.draft;
    for (const [k, lane] of this.model.run.head.lanes.entries()) {
      if (settings.lanes[k]?.name === lane.name)
        settings.lanes[k].sampler = structuredClone(lane.sampler);
    }
    this.composer.draft.protect = structuredClone(this.model.run.head.protect);
    this.composer.fill();
    this.whatIf.update(this.composer.draft);
  }

  /** A point of the map was chosen. */
  imagine(lane, rho, tau) {
    const draft = this.composer.draft.settings.lanes[lane];
    if (!draft) return;
    Object.assign(draft.sampler.xtc, { rho, tau });
    this.composer.fill();
    this.whatIf.update(this.composer.draft);
  }

  /** A trace file was chosen; its run comes in the place of the one on show. */
  async open(text, name) {
    const message = await this.transport.load(text);
    this.remember();
    this.model.take(message);
    this.composer.adopt(message.head);
    setText(this.origin, `From the file ${name}.`);
    this.selectTelling();
  }

  async copyLink() {
    const link = toLink(this.composer.draft, this.model.selected);
    history.replaceState(null, "", link);
    await navigator.clipboard?.writeText(link).catch(() => {});
    setText(this.share, "Link copied");
    setTimeout(() => setText(this.share, "Link"), 1800);
  }

  /** A link was opened: take its settings, write, and look at its step. */
  follow() {
    const found = fromLink(location.hash);
    if (!found) return;
    this.composer.take(found.draft);
    this.generate();
    this.goal = found.selected;
  }

  remember() {
    const { run, selected } = this.model;
    if (run) this.former.push({ id: run.id, selected });
    if (this.former.length > 20) this.former.shift();
  }

  stop() {
    if (this.phase === "idle") return;
    this.stopping = true;
    if (this.current) this.transport.stop(this.current);
    setText(this.composer.status, "Stopping …");
  }

  /** Esc stops a run; without one it means nothing. */
  escape() {
    if (this.phase === "idle" || this.root.querySelector("dialog[open]")) return false;
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
      if (this.model.run && this.model.run.id !== value.run) this.remember();
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
    const { state } = value;
    if (state === "recorded") {
      setText(this.origin, "A recorded run. Press Generate to write your own.");
      // The same run, but longer, is what Generate then writes.
      const length = this.spec.settings.max_new_tokens;
      if (this.live) this.composer.adopt({ ...value.head, length });
      if (value.select) this.model.select(...value.select);
      return this.drawTools();
    }
    if (value.head) this.wrote(value.head.model);
    if (state === "waiting") {
      const n = value.place;
      const ahead = n === 1 ? "one run is" : `${n} runs are`;
      const words = `Waiting: ${ahead} ahead of yours. It starts by itself.`;
      this.enter("waiting", value.note || words);
      if (value.note) this.models.refresh();
    } else if (state === "starting") this.enter("starting", value.note ?? "Reading the prompt …");
    else if (state === "running") this.enter("running", "Writing …");
    else if (state) this.finished(state);
  }

  finished(state) {
    this.enter("idle", state === "stopped" ? "Stopped." : "");
    this.drawTools();
    const { model } = this;
    if (Number.isFinite(model.reveal)) return;
    if (this.goal) model.select(this.goal.lane, this.goal.i);
    else if (!model.selected) this.selectTelling();
    this.goal = null;
  }

  /** Select a firing that changed the word, so that there is something to look at. */
  selectTelling() {
    const { model } = this;
    const lanes = model.run?.lanes ?? [];
    for (const test of [(chip) => chip.changed, (chip) => chip.outcome === FIRED]) {
      for (let k = lanes.length - 1; k >= 0; k--) {
        const { thought, answering } = lanes[k].stats ?? {};
        const after = answering ? thought[0] : 0;
        const i = lanes[k].chips.findIndex((chip, at) => at >= after && test(chip));
        if (i >= 0) return model.select(k, i);
      }
    }
  }

  /** A run comes from this model; another session may have loaded it in the meantime. */
  wrote(model) {
    const other = this.info && !same(this.info, model);
    setText(this.origin, other ? `Written by ${model.name}, which was loaded meanwhile.` : "");
    this.models.seen(model);
  }

  /** Another model is in use. */
  changed(info) {
    this.info = info;
    this.composer.extras.model(info);
    this.drawTools();
  }
}

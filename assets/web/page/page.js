// The assembly: model, views, and what happens when a run starts, streams, waits, stops or fails.

import { Composer } from "../composer/composer.js";
import { h, set, setText } from "../core/dom.js";
import { Keep } from "../export/savemenu.js";
import { Inspector } from "../inspector/inspector.js";
import { Colours } from "../lanes/colours.js";
import { Lanes } from "../lanes/lanes.js";
import { RunTools } from "../lanes/runtools.js";
import { Told } from "../lanes/statusline.js";
import { Stepper } from "../lanes/stepper.js";
import { Timeline } from "../lanes/timeline.js";
import { Models, same } from "../models/picker.js";
import { awaits, draftOf, placeOf } from "../session/draft.js";
import { fromLink, toLink } from "../session/link.js";
import { FIRED, Model } from "../session/playback.js";
import { Strength } from "../whatif/strengthmap.js";
import { WhatIf } from "../whatif/whatif.js";
import { pageHead, quiet } from "./head.js";
import { handle, helpDialog } from "./keys.js";

const SHARED =
  "All lanes share one prompt and one set of dice, so where they part, their settings are the reason.";
const APART =
  "All lanes of this run share one prompt, but each has dice of its own, so they also part by chance.";

const NARROW = matchMedia("(max-width: 900px)"); // as in the style sheets

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
    this.told = new Told();
    this.models = new Models(transport, (info) => this.changed(info));
    this.lanes = new Lanes(this.model, spec);
    this.timeline = new Timeline(this.model);
    this.stepper = new Stepper(this.model);
    const branch = this.live ? (at, id) => this.branch(at, id) : null;
    this.inspector = new Inspector(this.model, branch, spec);
    this.composer = new Composer(spec, {
      onrun: () => this.generate(),
      onstep: () => (this.stepper.on ? this.stepper.next() : this.generate({ stepping: true })),
      onstop: () => this.stop(),
      tokens: transport.tokens,
      onedit: () => this.told.also(this.note()),
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
    this.tools = new RunTools(this.model, {
      onward: () => this.onwards(),
      again: () => this.anew(),
      undo: () => this.goBack(),
      most: spec.maxTokens,
    });
    const tools = this.live ? this.tools.buttons : [];
    this.tabsAndTools = h(
      "div",
      { class: "above" },
      this.told.element,
      this.lanes.tabs,
      h("div", { class: "run-tools" }, tools, this.stepper.element),
    );
    this.share = quiet("Link", "Copy a link to this run", () => this.copyLink());
    const composer = [this.composer.element, this.composer.editor.element];
    root.replaceChildren(
      pageHead({
        model: this.live ? this.models.button : null,
        dice: this.dice,
        tools: this.live ? [this.share, this.keep.element] : [],
        turn: () => this.turn(),
        help: () => this.help(),
      }),
      ...(this.live ? composer : []),
      this.tabsAndTools,
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
    this.model.on("run reveal", () => this.stepped());
    this.model.on("state", () => this.drawTools());
    // Only step by step is there more to step to with every token.
    this.model.on("chips", () => this.stepper.on && this.drawTools());
    this.model.on("select block", () => this.release());
    this.model.on("problem", ({ message }) => setText(this.composer.error, message));
    this.drawTools();
    window.addEventListener("keydown", (event) => {
      const inside = event.target === document.body || root.contains(event.target);
      if (inside && !event.defaultPrevented && handle(event, this)) event.preventDefault();
    });
  }

  drawTools() {
    const { run } = this.model;
    const ours = this.shows(run);
    set(this.root, { "data-other-model": Boolean(this.info && run && !ours) || null });
    const idle = this.phase === "idle";
    this.tools.draw({ idle, stepping: this.stepper.on, ours, former: this.former.length > 0 });
    this.told.also(this.note());
    this.composer.busy(this.phase, this.stepper.on ? !this.stepper.done : undefined);
  }

  /** What is to be said of the run on show, beside where it comes from. */
  note() {
    if (!this.live || !this.model.run) return "";
    const words = awaits(this.composer.draft, this.composer.base);
    if (words) return words;
    if (this.stepper.on) return "Written ahead, shown step by step.";
    return this.model.run.state === "recorded" ? "Press Generate for your own." : "";
  }

  /** Step by step has begun or come to its end. */
  stepped() {
    const { on } = this.stepper;
    const begins = on && !this.root.hasAttribute("data-stepping");
    set(this.root, { "data-stepping": on ? "" : null });
    if (begins) this.lanes.element.style.minHeight = "";
    if (begins && NARROW.matches) {
      requestAnimationFrame(() => this.lanes.tabs.scrollIntoView({ behavior: "instant" }));
    }
    this.drawTools();
  }

  /** A run will take the place of another: what is below keeps its place until it is there. */
  hold() {
    for (const { element } of [this.lanes, this.inspector]) {
      element.style.minHeight = `${element.getBoundingClientRect().height}px`;
    }
  }

  release() {
    const { content, element } = this.inspector;
    if (this.phase === "idle") this.lanes.element.style.minHeight = "";
    if (!content.hidden && !content.hasAttribute("data-loading")) element.style.minHeight = "";
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
    const draft = structuredClone(this.composer.draft);
    this.start({ kind: "run", ...draft }, stepping, draft);
  }

  anew() {
    this.composer.newSeed();
    this.generate();
  }

  /** More tokens in every lane that has not come to its end. */
  onwards() {
    const more = this.composer.draft.settings.max_new_tokens;
    const { selected } = this.model;
    this.start({ kind: "continue", run: this.model.run.id, more });
    this.goal = selected;
  }

  /** A new lane that takes another token at this step. */
  branch(at, token) {
    this.start({ kind: "branch", run: this.model.run.id, lane: at.lane, i: at.i, token });
    this.goal = { lane: this.model.run.lanes.length, i: at.i };
  }

  /** `draft` is what the composer asks for with it, if it is asked. */
  start(request, stepping = false, draft = null) {
    if (this.phase !== "idle") return;
    this.sent = draft;
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
      this.told.from(former.origin);
      this.composer.comeTo(former.draft);
      if (former.selected) this.model.select(former.selected.lane, former.selected.i);
    } catch (error) {
      setText(this.composer.error, error.message);
    }
    this.imagineDraft();
    this.drawTools();
  }

  /** Settings that stayed while another run came are a what-if along its text. */
  imagineDraft() {
    if (this.live && this.model.run) this.whatIf.update(this.composer.draft);
  }

  /** The composer's XTC settings become those of the run on show again. */
  putBack() {
    const { settings } = this.composer.draft;
    const own = draftOf(this.model.run.head, this.composer.draft);
    for (const [k, lane] of own.settings.lanes.entries()) {
      if (settings.lanes[k]?.name === lane.name) settings.lanes[k].sampler = lane.sampler;
    }
    this.composer.draft.protect = own.protect;
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
    this.told.from(`From the file ${name}.`);
    this.selectTelling();
    this.imagineDraft();
  }

  async copyLink() {
    const { run, selected } = this.model;
    const { draft } = this.composer;
    const link = run
      ? toLink(draftOf(run.head, draft), placeOf(run.head, selected))
      : toLink(draft, null);
    history.replaceState(null, "", link);
    await navigator.clipboard?.writeText(link).catch(() => {});
    const branches = run?.head.lanes.some((lane) => lane.branch);
    setText(this.share, branches ? "Link copied, without the branch" : "Link copied");
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
    const origin = this.told.origin.textContent;
    if (run) this.former.push({ id: run.id, selected, origin, draft: this.composer.base });
    if (this.former.length > 20) this.former.shift();
  }

  stop() {
    if (this.phase === "idle") return;
    this.stopping = true;
    if (this.current) this.transport.stop(this.current);
    setText(this.told.status, "Stopping …");
  }

  /** Esc pauses Play, else stops a run, else leaves step by step. */
  escape() {
    if (this.root.querySelector("dialog[open]")) return false;
    if (this.stepper.playing) this.stepper.pause();
    else if (this.phase !== "idle") this.stop();
    else if (this.stepper.on) this.stepper.end();
    else return false;
    return true;
  }

  enter(phase, message) {
    this.phase = phase;
    if (phase === "idle") {
      this.current = null;
      set(this.root, { "data-done": this.number });
    }
    this.told.busy(phase, message);
    this.drawTools();
    if (phase === "idle") this.release();
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
      if (this.model.run && this.model.run.id !== value.run) {
        this.remember();
        this.hold();
      }
      if (!this.model.take(value)) await this.heal(value);
      if (this.sent && this.model.run?.id === value.run) {
        this.composer.base = this.sent;
        this.sent = null;
      }
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
      this.told.from("A recorded run.");
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
    this.told.from(other ? `Written by ${model.name}, which was loaded meanwhile.` : "");
    this.models.seen(model);
  }

  /** Another model is in use. */
  changed(info) {
    this.info = info;
    this.composer.extras.model(info);
    this.drawTools();
  }
}

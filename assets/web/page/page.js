// The assembly: what the page knows (session, playback), its views, and what connects them.

import { Composer } from "../composer/composer.js";
import { h, set } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { SaveMenu } from "../export/savemenu.js";
import { Inspector } from "../inspector/inspector.js";
import { Colours } from "../lanes/colours.js";
import { Lanes } from "../lanes/lanes.js";
import { RunTools } from "../lanes/runtools.js";
import { diceWords, StatusLine, statusWords } from "../lanes/statusline.js";
import { Stepper } from "../lanes/stepper.js";
import { Timeline } from "../lanes/timeline.js";
import { Lesson } from "../lesson/lesson.js";
import { ModelPicker } from "../models/picker.js";
import { awaits, draftOf, touched } from "../session/draft.js";
import { Playback } from "../session/playback.js";
import { Session } from "../session/session.js";
import { KeptDraft } from "../shelf/drafts.js";
import { ShelfView } from "../shelf/view.js";
import { StrengthMap } from "../whatif/strengthmap.js";
import { WhatIf } from "../whatif/whatif.js";
import { foot } from "./foot.js";
import { pageHead } from "./head.js";
import { holdHeights, releaseHeight } from "./keptplace.js";
import { handle } from "./keys.js";
import { ShareLink } from "./sharelink.js";
import { Sheet } from "./sheet.js";

/** @import { Branching, Chosen } from "../inspector/fork.js" */
/** @import { LaneActions } from "../lanes/lanemenu.js" */

const PHONE = matchMedia("(max-width: 640px)"); // as in the style sheets

export class Page {
  /**
   * `transport` talks to the server; without `run` the page is a replay. `models` talks to it about
   * models, null in a replay.
   * @param {HTMLElement} root
   * @param {Spec} spec
   * @param {Transport} transport
   * @param {ModelTransport | null} models
   */
  constructor(root, spec, transport, models = null) {
    this.root = root;
    this.spec = spec;
    const playback = new Playback(transport);
    this.playback = playback;
    this.session = new Session(transport, playback);
    this.statusLine = new StatusLine();
    this.picker = models && new ModelPicker(models, (model) => this.use(model));
    this.lanes = new Lanes(playback, spec, this.session.live ? this.laneActions : null);
    this.timeline = new Timeline(playback);
    this.stepper = new Stepper(playback);
    /** @type {Branching} */
    const branching = {
      begin: (at, chosen) => this.branch(at, chosen),
      undo: () => this.undo(),
      becomes: transport.becomes,
    };
    const { live } = this.session;
    this.inspector = new Inspector(playback, spec, transport, live ? branching : null);
    this.composer = new Composer(spec, {
      onrun: () => this.generate(),
      onstep: () => (playback.stepping ? this.stepper.next() : this.generate({ stepping: true })),
      onstop: () => this.session.stop(),
      tokens: transport.tokens,
      onedit: () => this.fillNote(),
      onchange: () => this.imagineDraft(),
    });
    this.whatIf = new WhatIf(playback, transport, {
      anew: () => this.generate(),
      reset: () => this.putBack(),
    });
    this.strengthMap = new StrengthMap(playback, transport, (lane, rho, tau) => {
      this.composer.setXtc(lane, { rho, tau });
      this.imagineDraft();
    });
    this.colours = new Colours(playback, this.lanes.element);
    this.saveMenu = new SaveMenu(playback, transport, spec, {
      look: () => this.inspector.drawing,
      onopen: (text, name) => this.open(text, name),
      onproblem: (words) => this.composer.fail(words),
    });
    const anew = this.session.live ? () => this.anew() : null;
    const { inspector } = this;
    this.lesson = new Lesson({ root, playback, transport, spec, inspector, anew });
    this.shelf = this.session.live ? new ShelfView(transport, this.session, playback, spec) : null;
    this.keptDraft = this.session.live ? new KeptDraft(spec) : null;
    this.tools = new RunTools(playback, {
      onward: () => this.goOn(),
      again: () => this.anew(),
      undo: () => this.undo(),
      most: spec.maxTokens,
    });
    this.shareLink = new ShareLink(playback, {
      draft: () => this.composer.draft,
      presenting: () => this.presenting,
    });
    const map = this.session.live ? [this.strengthMap.element] : [];
    this.sheet = new Sheet(playback, this.lanes.element, [this.inspector.element, ...map]);
    this.assemble();
    this.listen();
    this.drawTools();
  }

  assemble() {
    const { root, composer, session, picker } = this;
    const only = (/** @type {Node[]} */ ...nodes) => (session.live ? nodes : []);
    root.replaceChildren(
      pageHead({
        ways: this.lesson.ways,
        offer: this.lesson.offer,
        model: picker?.button ?? null,
        tools: only(
          this.shareLink.button,
          ...(this.shelf ? [this.shelf.panel.button] : []),
          this.saveMenu.element,
        ),
        present: () => this.present(!this.presenting),
        turn: () => document.body.classList.toggle("dark"),
        help: () => this.lesson.openHelp(),
      }),
      ...only(composer.element, composer.dialog),
      h(
        "div",
        { class: "desk" },
        h(
          "section",
          { class: "writing", "aria-label": "The texts" },
          h(
            "div",
            { class: "above" },
            this.statusLine.element,
            h("div", { class: "run-tools" }, only(...this.tools.buttons), this.stepper.element),
            this.whatIf.element,
          ),
          this.lanes.tabs,
          this.lanes.element,
          this.colours.element,
          this.timeline.element,
          foot(this.colours.piecesLabel),
        ),
        this.sheet.element,
      ),
      ...this.lesson.elements,
      ...(this.shelf ? [this.shelf.panel.dialog, this.shelf.pair.dialog] : []),
      ...(picker ? [picker.dialog] : []),
    );
    set(root, { "data-empty": "" });
    composer.fit();
  }

  listen() {
    const { root, playback, session, composer } = this;
    playback.on("run", () => {
      set(root, { "data-empty": null });
      this.statusLine.rest(diceWords(Boolean(playback.run?.head.shared)));
    });
    playback.on("run reveal", () => this.stepped());
    playback.on("state", () => this.drawTools());
    // Only step by step is there more to step to with every token.
    playback.on("chips", () => playback.stepping && this.drawTools());
    playback.on("select block", () => this.release());
    playback.on("problem", ({ message }) => composer.fail(message));
    session.on("phase", () => this.enter());
    session.on("origin", () => this.statusLine.from(session.origin));
    session.on("come", ({ head, draft }) => this.come(head, draft));
    session.on("replace", () => holdHeights([this.lanes.element, this.inspector.element]));
    session.on("written", ({ model }) => this.picker?.seen(model));
    session.on("refused", ({ problem }) => composer.wrong(problem));
    this.shelf?.shelf.on("note", ({ words }) => composer.fail(words));
    this.keptDraft?.watch(root, () =>
      touched(composer.draft, session.base) ? composer.draft : null,
    );
    window.addEventListener("keydown", (event) => {
      const { target } = event;
      const inside = target === document.body || (target instanceof Node && root.contains(target));
      if (!inside || event.defaultPrevented) return;
      if (handle(event, playback, this.actions)) event.preventDefault();
    });
  }

  /** What keys do. */
  get actions() {
    return {
      generate: () => this.generate(),
      escape: () => this.escape(),
      beside: () => this.inspector.turnBeside(),
      colour: () => this.colours.next(),
      step: () => this.stepper.next(),
      play: () => this.stepper.toggle(),
      help: () => this.lesson.openHelp(),
      present: () => this.present(!this.presenting),
    };
  }

  /** Whether text and bars are large and the rest is away, for a room that looks on. */
  get presenting() {
    return this.root.hasAttribute("data-presenting");
  }

  /** @param {boolean} on */
  present(on) {
    set(this.root, { "data-presenting": on ? "" : null });
    const switched = this.root.querySelector(".present");
    if (switched) set(switched, { "aria-pressed": String(on) });
  }

  /** The run that is written has come to another phase. */
  enter() {
    const { session } = this;
    if (session.idle) set(this.root, { "data-done": session.number });
    this.statusLine.stand(session.phase, statusWords(session));
    if (session.phase === "waiting" && session.note) this.picker?.refresh();
    this.drawTools();
    if (session.idle) this.release();
  }

  drawTools() {
    const { session, playback, stepper } = this;
    const other = session.hasModel && playback.run && !session.ours;
    set(this.root, { "data-other-model": other ? "" : null });
    this.tools.draw(session);
    this.inspector.stand({
      why: other ? `Only ${playback.run?.head.model.name}, which wrote this, can continue it.` : "",
      idle: session.idle,
      undoable: session.canUndo,
    });
    this.fillNote();
    this.composer.busy(session.phase, playback.stepping ? !stepper.done : undefined);
  }

  /** What is to be said of the run on show, beside where it comes from. */
  fillNote() {
    const { session, playback, composer } = this;
    if (!session.live || !playback.run) return this.statusLine.add("");
    const recorded = playback.run.state === "recorded" ? "Press Generate for your own." : "";
    const shown = playback.stepping ? "Written ahead, shown step by step." : recorded;
    this.statusLine.add(awaits(composer.draft, session.base) || shown);
  }

  /** Step by step has begun or come to its end. */
  stepped() {
    const { stepping } = this.playback;
    const begins = stepping && !this.root.hasAttribute("data-stepping");
    set(this.root, { "data-stepping": stepping ? "" : null });
    if (begins) releaseHeight(this.lanes.element);
    if (begins && PHONE.matches) {
      requestAnimationFrame(() => this.lanes.tabs.scrollIntoView({ behavior: "instant" }));
    }
    this.drawTools();
  }

  release() {
    if (this.session.idle) releaseHeight(this.lanes.element);
    if (this.inspector.settled) releaseHeight(this.inspector.element);
  }

  /**
   * Ask for a run; what was said of the last request goes.
   * @param {RunRequest} request
   * @param {{ draft?: Draft, goal?: Place | null, stepping?: boolean }} more
   */
  ask(request, more = {}) {
    if (!this.session.idle) return;
    this.stepper.pause();
    this.composer.clear();
    this.session.ask(request, more);
  }

  /** @param {{ goal?: Place | null, stepping?: boolean }} more */
  generate(more = {}) {
    const draft = structuredClone(this.composer.draft);
    this.ask({ kind: "run", ...draft }, { ...more, draft });
  }

  anew() {
    this.composer.newSeed();
    this.generate();
  }

  /** More tokens in every lane that has not come to its end, or in one. @param {number} [lane] */
  goOn(lane) {
    const { run, selected } = this.playback;
    const more = this.composer.draft.settings.max_new_tokens;
    if (run) this.ask({ kind: "continue", run: run.id, more, lane }, { goal: selected });
  }

  /** What the menu of a lane does. @returns {LaneActions} */
  get laneActions() {
    return {
      goOn: (lane) => this.goOn(lane),
      rewrite: (lane, text) => this.rewrite(lane, text),
      prompt: (text) => this.composer.begin(text),
      can: (lane) => {
        const write = this.session.idle && this.session.ours && !this.playback.stepping;
        return { write, goOn: write && this.tools.open(lane) };
      },
    };
  }

  /** A lane goes on after its text as it was edited. @param {number} lane @param {string} text */
  rewrite(lane, text) {
    const { run } = this.playback;
    const more = this.composer.draft.settings.max_new_tokens;
    if (run) this.ask({ kind: "edit", run: run.id, lane, text, more });
  }

  /** A new lane that takes another word at this step. @param {Place} at @param {Chosen} chosen */
  branch({ lane, i }, chosen) {
    const { run } = this.playback;
    if (!run) return;
    this.ask(
      { kind: "branch", run: run.id, lane, i, ...chosen },
      { goal: { lane: run.lanes.length, i } },
    );
  }

  /** Show a trace file. @param {string} text @param {string} name */
  async open(text, name) {
    await this.session.load(text, name);
    this.composer.fail("");
  }

  async undo() {
    try {
      await this.session.undo();
      this.composer.fail("");
    } catch (error) {
      this.composer.fail(wordsOf(error));
    }
    this.drawTools();
  }

  /**
   * Another run is on show, by its head, or with the draft that it was asked for. What was typed
   * and not run yet stays: it is for the next one, and a what-if along this one.
   * @param {RunHead} [head]
   * @param {Draft} [known]
   */
  come(head, known) {
    const { session, composer, playback } = this;
    if (!session.live) return;
    const recorded = playback.run?.state === "recorded";
    // The same run as the recorded one, but longer, is what Generate then writes.
    const length = recorded ? Number(this.spec.settings.max_new_tokens) : head?.length;
    const draft = known ?? (head && draftOf({ ...head, length: length ?? 0 }, composer.draft));
    if (!draft) return;
    const waits = touched(composer.draft, session.base);
    session.setBase(draft);
    if (!waits) {
      composer.take(draft);
      session.setBase(composer.draft);
    }
    this.imagineDraft();
    this.drawTools();
  }

  imagineDraft() {
    if (this.session.live && this.playback.run) this.whatIf.update(this.composer.draft);
  }

  /** The composer's XTC settings become those of the run on show again. */
  putBack() {
    const { run } = this.playback;
    if (run) this.composer.putBack(draftOf(run.head, this.composer.draft));
    this.imagineDraft();
  }

  /** What was typed before the page was left. */
  takeDraft() {
    const draft = this.keptDraft?.read(this.composer.draft);
    if (!draft) return;
    this.composer.take(draft);
    this.imagineDraft();
  }

  /**
   * A link was opened: take its settings, write, and look at its step. Without one, the page is as
   * it was left.
   */
  follow() {
    const { opened } = this.shareLink;
    if (!opened) return this.takeDraft();
    this.composer.take(opened.draft);
    this.present(opened.presenting);
    this.generate({ goal: opened.selected });
  }

  /** Esc closes the sheet, else pauses Play, stops a run, leaves step by step, leaves the stage. */
  escape() {
    if (this.root.querySelector("dialog[open]")) return false;
    if (this.sheet.isOpen && !this.playback.stepping) this.sheet.close();
    else if (this.stepper.playing) this.stepper.pause();
    else if (!this.session.idle) this.session.stop();
    else if (this.playback.stepping) this.stepper.end();
    else if (this.presenting) this.present(false);
    else return false;
    return true;
  }

  /** Another model is in use. @param {ModelLine} model */
  use(model) {
    this.session.use(model);
    this.composer.use(model);
    this.drawTools();
  }
}

// The assembly: what the page knows (session, playback), its views, and what connects them.

import { Composer } from "../composer/composer.js";
import { set } from "../core/dom.js";
import { DiceFold } from "../dice/fold.js";
import { BringHere } from "../engines/bringhere.js";
import { Numbers } from "../engines/calculator.js";
import { TakeHome } from "../engines/takehome.js";
import { SaveMenu } from "../export/savemenu.js";
import { Inspector } from "../inspector/inspector.js";
import { Colours } from "../lanes/colours.js";
import { Lanes } from "../lanes/lanes.js";
import { MarkKey } from "../lanes/marks.js";
import { RunTools } from "../lanes/runtools.js";
import { diceWords, StatusLine, statusWords } from "../lanes/statusline.js";
import { Stepper } from "../lanes/stepper.js";
import { Timeline } from "../lanes/timeline.js";
import { Lesson } from "../lesson/lesson.js";
import { ModelPicker } from "../models/picker.js";
import { awaits, draftOf, touched } from "../session/draft.js";
import { Playback } from "../session/playback.js";
import { Session } from "../session/session.js";
import { ShelfView } from "../shelf/view.js";
import { StrengthMap } from "../whatif/strengthmap.js";
import { WhatIf } from "../whatif/whatif.js";
import { actionsOf } from "./actions.js";
import { arrangement } from "./arrangement.js";
import { Away } from "./away.js";
import { holdHeights, releaseHeight } from "./keptplace.js";
import { handle } from "./keys.js";
import { Opening } from "./opening.js";
import { Requests } from "./requests.js";
import { Seeds } from "./seeds.js";
import { ShareLink } from "./sharelink.js";
import { Sheet } from "./sheet.js";

/** @import { Branching } from "../inspector/fork.js" */
/** @import { Presence } from "../wire/presence.js" */

const PHONE = matchMedia("(max-width: 640px)"); // as in the style sheets
const CUT = "The steps of this text were not kept. Generate writes it again.";
const SERVED = "The server drew this: it takes no other word.";
const HOLD = 800; // milliseconds after the end of a run

export class Page {
  /**
   * `transport` talks to the server; without `run` the page is a replay. `models` talks to it about
   * models, `presence` knows whether it is there; both are null in a replay.
   * @param {HTMLElement} root
   * @param {Spec} spec
   * @param {Transport} transport
   * @param {ModelTransport | null} models
   * @param {Presence | null} presence
   */
  constructor(root, spec, transport, models = null, presence = null) {
    this.root = root;
    this.spec = spec;
    const playback = new Playback(transport);
    this.playback = playback;
    this.session = new Session(transport, playback);
    const { live } = this.session;
    this.statusLine = new StatusLine();
    this.stepper = new Stepper(playback);
    this.picker = models && new ModelPicker(models, (model) => this.use(model));
    this.composer = new Composer(spec, {
      onrun: () => this.requests.generate(),
      onstep: () =>
        playback.stepping ? this.stepper.next() : this.requests.generate({ stepping: true }),
      onseeds: () => this.seeds?.press(),
      onstop: () => this.stop(),
      tokens: transport.tokens,
      onbring: () => this.bringHere?.open(this.composer.next),
      onelsewhere: (lane) => this.takeHome?.open(lane, this.composer.draft.protect),
      onedit: () => this.fillNote(),
      onchange: () => this.imagineDraft(),
    });
    this.requests = new Requests(this.session, playback, this.composer, {
      here: () => !this.seeds?.why && (this.away?.ask() ?? true),
      before: () => this.stepper.pause(),
      after: () => this.drawTools(),
    });
    this.numbers = transport.enginesTyped ? new Numbers(root, spec, transport) : null;
    const { requests } = this;
    this.tools = new RunTools(playback, {
      onward: () => requests.goOn(),
      again: () => requests.anew(),
      undo: () => requests.undo(),
      redo: () => requests.redo(),
      most: spec.maxTokens,
    });
    const { takeHome, bringHere } = transport;
    this.takeHome = takeHome ? new TakeHome(spec, takeHome) : null;
    this.bringHere = bringHere
      ? new BringHere(spec, bringHere, (lane, k) => this.composer.bring(lane, k))
      : null;
    const elsewhere = (/** @type {number} */ k) => {
      const lane = playback.run?.head.lanes[k];
      if (lane) this.takeHome?.open({ name: lane.name, sampler: lane.sampler }, null);
    };
    this.lanes = new Lanes(playback, spec, live ? requests.ofLanes(this.tools, elsewhere) : null);
    this.timeline = new Timeline(playback);
    this.markKey = new MarkKey(playback);
    /** @type {Branching} */
    const branching = {
      begin: (at, chosen) => requests.branch(at, chosen),
      undo: () => requests.undo(),
      becomes: transport.becomes,
    };
    this.inspector = new Inspector(playback, spec, transport, live ? branching : null, () =>
      this.numbers?.open(),
    );
    this.whatIf = new WhatIf(playback, transport, {
      anew: () => requests.generate(),
      reset: () => this.putBack(),
    });
    this.strengthMap = new StrengthMap(playback, transport, (lane, rho, tau) => {
      this.composer.setXtc(lane, { rho, tau });
      this.imagineDraft();
    });
    this.colours = new Colours(playback, this.lanes.element);
    this.saveMenu = new SaveMenu(playback, transport, spec, {
      look: () => this.inspector.drawing,
      onopen: (text, name) => requests.open(text, name),
      onproblem: (words) => this.composer.fail(words),
    });
    const dice = new DiceFold(playback, transport);
    const map = live ? [this.strengthMap.element, dice.element] : [];
    this.sheet = new Sheet(playback, this.lanes.element, [this.inspector.element, ...map]);
    const anew = live ? () => requests.anew() : null;
    const { inspector, sheet } = this;
    const numbers = this.numbers ? () => this.numbers?.open() : null;
    this.lesson = new Lesson({ root, playback, transport, spec, inspector, sheet, anew, numbers });
    this.shelf = live ? new ShelfView(transport, this.session, playback, spec) : null;
    this.shareLink = new ShareLink(playback, spec, {
      draft: () => this.composer.draft,
      presenting: () => this.presenting,
    });
    this.seeds = live ? new Seeds(this, transport) : null;
    root.replaceChildren(...arrangement(this));
    set(root, { "data-empty": "" });
    this.composer.fit();
    this.away = presence && new Away(this, presence);
    this.listen();
    this.opening = transport.open ? new Opening(this, transport.open) : null;
    this.drawTools();
  }

  listen() {
    const { root, playback, session, composer } = this;
    const actions = actionsOf(this);
    playback.on("run", () => {
      set(root, { "data-empty": null });
      this.statusLine.offer(null);
      const head = playback.run?.head;
      this.statusLine.rest(diceWords(Boolean(head?.shared), Boolean(head?.server)));
      this.strengthMap.element.hidden = Boolean(head?.server);
    });
    playback.on("run reveal", () => this.stepped());
    playback.on("state", () => this.drawTools());
    // Only step by step is there more to step to with every token.
    playback.on("chips", () => playback.stepping && this.drawTools());
    playback.on("select block", () => this.release());
    // Of a text without its steps that is said once.
    playback.on(
      "problem",
      ({ message }) => session.origin.kind !== "cut" && composer.fail(message),
    );
    session.on("phase", () => this.enter());
    session.on("origin", () => this.statusLine.from(session.origin));
    session.on("come", ({ head, draft }) => this.come(head, draft));
    session.on("replace", () => holdHeights([this.lanes.element, this.inspector.element]));
    session.on("written", ({ model }) => this.picker?.seen(model));
    session.on("refused", ({ problem }) => composer.wrong(problem));
    this.shelf?.shelf.on("note", ({ words }) => composer.fail(words));
    window.addEventListener("keydown", (event) => {
      const { target } = event;
      const inside = target === document.body || (target instanceof Node && root.contains(target));
      if (!inside || event.defaultPrevented) return;
      if (handle(event, playback, actions)) event.preventDefault();
    });
  }

  /** Whether a run or many seeds are being written. */
  get busy() {
    return !this.session.idle || Boolean(this.seeds?.why);
  }

  stop() {
    this.session.stop();
    this.seeds?.spread.stop();
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
    const at = this.playback.focus;
    if (at) requestAnimationFrame(() => this.lanes.bringIntoView(at, "timeline"));
  }

  /** The run that is written has come to another phase. */
  enter() {
    const { session } = this;
    this.statusLine.stand(session.phase, statusWords(session));
    if (session.phase === "waiting" && session.note) this.picker?.refresh();
    this.drawTools();
    if (!session.idle) return;
    set(this.root, { "data-done": session.number });
    this.release();
    this.hold();
  }

  /** A run has ended: its steps are loaded, to be here when the server is not. */
  hold() {
    clearTimeout(this.holding);
    this.holding = setTimeout(() => this.session.idle && this.playback.hold(), HOLD);
  }

  drawTools() {
    const { session, playback, stepper } = this;
    const why = this.away?.why || this.seeds?.why || "";
    const cut = session.origin.kind === "cut";
    const other = !cut && session.hasModel && playback.run && !session.ours;
    set(this.root, { "data-other-model": other ? "" : null });
    this.tools.draw(session, why);
    const own = other
      ? `Only ${playback.run?.head.model.name}, which wrote this, can continue it.`
      : "";
    this.inspector.stand({
      why: (playback.run?.head.server && SERVED) || own || (cut ? CUT : why),
      idle: session.idle,
      undoable: session.canUndo,
    });
    this.fillNote();
    const half = playback.stepping ? !stepper.done : undefined;
    this.composer.busy(session.phase, half, why, this.seeds?.spread.phase);
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

  /** Another model is in use. @param {ModelLine} model */
  use(model) {
    this.session.use(model);
    this.composer.use(model);
    this.drawTools();
    this.session.mend();
  }
}

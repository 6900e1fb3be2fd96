// The model in use, in the page's head, and the dialog that chooses another one.

import { button, h, set, setText } from "../core/dom.js";
import { wordsOf } from "../core/errors.js";
import { choice } from "../core/fields.js";
import { sameWeights } from "../session/weights.js";
import { Audit } from "./audit.js";
import { ByName } from "./byname.js";
import { Catalog } from "./catalog.js";
import { describe, shortLine } from "./describe.js";

const OFTEN = 500; // milliseconds between two questions while something is going on
const SELDOM = 4000; // while the dialog is open
const RECENT = 1000; // an answer that is no older is good enough

/** @param {LoadState | null | undefined} load */
const going = (load) => load?.state === "loading" || load?.state === "waiting";

/** @typedef {ReturnType<typeof choice>} Choice */

export class ModelPicker {
  /**
   * `onmodel(model)` is called when another model is in use.
   * @param {ModelTransport} transport
   * @param {(model: ModelLine) => void} onmodel
   */
  constructor(transport, onmodel) {
    this.transport = transport;
    this.onmodel = onmodel;
    /** @type {ModelState | null} */
    this.state = null;
    /** @type {string | null} The load that this page asked for. */
    this.load = null;
    /** @type {string | null} The load that this page wants to stop. */
    this.stopping = null;
    /** @type {Record<keyof Choices, Choice> | null} */
    this.choices = null;
    this.heard = 0; // when the server last answered
    this.greetings = 0; // how often it was asked
    /** @type {number | undefined} */
    this.timer = undefined;
    this.line = h("span", {});
    this.button = button(this.line, () => this.open(), {
      class: "quiet",
      "aria-haspopup": "dialog",
      hidden: true,
    });
    this.catalog = new Catalog((what) => this.begin(what));
    this.now = h("p", { class: "now" });
    this.about = h("p", { class: "about" });
    this.away = button("Put away", () => this.putAway());
    this.audit = new Audit(transport);
    this.progress = h("progress", { max: "1", "aria-label": "How far the load is" });
    this.words = h("p", { class: "words", role: "status" });
    this.halt = button("Stop", () => this.stop());
    this.loading = h("div", { class: "loading" }, this.words, this.progress, this.halt);
    this.said = h("p", { class: "said", role: "status", "data-testid": "model-said" });
    this.wrong = h("p", { class: "wrong", role: "alert", "data-testid": "model-wrong" });
    this.how = h("div", { class: "how" });
    this.folds = h("div", { class: "fold" });
    this.byName = new ByName((what) => this.begin(what));
    this.servers = h("ul", { class: "servers", "aria-label": "Servers" });
    this.fixed = h("p", {}, "On this server the model cannot be changed.");
    this.list = h(
      "div",
      { class: "list" },
      this.how,
      this.catalog.element,
      this.servers,
      this.byName.element,
    );
    this.title = h("h2", { id: "models-title" }, "Choose a model");
    const close = h("button", { class: "quiet", "aria-label": "Close" }, "Close");
    this.dialog = h(
      "dialog",
      { class: "models", "aria-labelledby": "models-title" },
      h("div", { class: "head" }, this.title, h("form", { method: "dialog" }, close)),
      h("div", { class: "use" }, h("div", {}, this.now, this.about), this.away),
      this.audit.element,
      this.loading,
      this.said,
      this.wrong,
      this.fixed,
      this.list,
    );
    const look = () => document.visibilityState === "visible" && this.refresh();
    window.addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
  }

  async open() {
    setText(this.said, "");
    setText(this.wrong, "");
    if (!this.dialog.open) this.dialog.showModal();
    const { activeElement } = document;
    await this.greet();
    await this.fill();
    // Unless someone has gone to another field in the meantime.
    const still = document.activeElement === activeElement && !this.list.hidden;
    if (still && matchMedia("(min-width: 901px)").matches) this.catalog.search.focus();
  }

  /** What may be chosen, with the memory that is free now. */
  async fill() {
    try {
      const { precision, device } = this.chosen();
      const answer = await this.transport.models(precision, device);
      const some = answer.may !== "fixed";
      this.list.hidden = !some;
      this.fixed.hidden = some;
      this.byName.element.hidden = answer.may !== "all";
      setText(this.title, some ? "Choose a model" : "The model");
      if (!some) return;
      if (!this.choices && answer.choices) this.offer(answer.choices);
      const otherwise = Object.values(this.chosen()).some((value) => value !== "auto");
      this.catalog.fill(answer, this.state?.model?.name, otherwise);
      this.offerServers(answer.servers ?? []);
      this.byName.offerFolder(answer.addresses === true);
      this.show();
    } catch (error) {
      setText(this.wrong, wordsOf(error));
    }
  }

  /** The servers that the owner of the page has named. @param {string[]} addresses */
  offerServers(addresses) {
    this.servers.hidden = addresses.length === 0;
    this.servers.replaceChildren(
      ...addresses.map((name) =>
        h(
          "li",
          {},
          h("span", {}, "The server at ", h("b", {}, name.replace(/^https?:\/\//, ""))),
          button("Connect", () => this.begin({ name }), { "aria-label": `Connect to ${name}` }),
        ),
      ),
    );
  }

  /** The controls beside the list, once it is known what can be chosen. @param {Choices} choices */
  offer({ precision, device, attention }) {
    const again = () => this.fill();
    this.choices = {
      precision: choice("Precision", precision, again),
      device: choice("Device", device, again),
      attention: choice("Attention", attention, again),
    };
    const { precision: first, ...rest } = this.choices;
    this.how.replaceChildren(
      this.catalog.search,
      first.element,
      h(
        "details",
        {},
        h("summary", {}, "Advanced"),
        Object.values(rest).map((part) => part.element),
      ),
    );
  }

  chosen() {
    const { precision, device, attention } = this.choices ?? {};
    return {
      precision: precision?.select.value ?? "auto",
      device: device?.select.value ?? "auto",
      attention: attention?.select.value ?? "auto",
    };
  }

  /** Load a model. @param {Record<string, string>} what */
  async begin(what) {
    await this.attempt(async () => {
      this.load = await this.transport.chooseModel({ ...this.chosen(), ...what });
    });
  }

  /** The load that this page asked for, else the one that is on its way. */
  get shown() {
    const { own, load } = this.state ?? {};
    return (going(own) ? own?.id : load) ?? null;
  }

  async stop() {
    this.stopping = this.shown;
    await this.attempt(() => this.transport.stopModel(this.stopping));
  }

  async putAway() {
    await this.attempt(() => this.transport.putAway());
    this.fill();
  }

  /** @param {() => Promise<unknown>} action */
  async attempt(action) {
    setText(this.said, "");
    setText(this.wrong, "");
    try {
      await action();
    } catch (error) {
      setText(this.wrong, wordsOf(error));
    }
    await this.greet();
  }

  /** Ask the server how it stands, unless that has just been done. */
  refresh() {
    if (Date.now() - this.heard > RECENT) this.greet();
  }

  /** A run came from this model: is it still the one in use? @param {ModelLine} model */
  seen(model) {
    if (this.state?.resting || !sameWeights(model, this.state?.model)) this.greet();
  }

  /** What is known of the server's model may be so no more. */
  forget() {
    this.state = null;
    this.load = null;
  }

  /** Ask how the model stands; while something is going on, ask again. */
  async greet() {
    clearTimeout(this.timer);
    this.greetings += 1;
    const { greetings } = this;
    let wait = SELDOM;
    const state = await this.transport.hello(this.load).catch(
      // The server is away for a moment, or for good: what is known stays on show.
      () => null,
    );
    // Whoever asked later knows more, and sets the clock.
    if (greetings !== this.greetings) return;
    if (state) {
      this.heard = Date.now();
      this.take(state);
      wait = state.phase === "loading" || going(state.own) ? OFTEN : 0;
    }
    if (wait || this.dialog.open) this.timer = setTimeout(() => this.greet(), wait || SELDOM);
  }

  /** @param {ModelState} state */
  take(state) {
    const former = this.state;
    this.state = state;
    if (state.model && !sameWeights(state.model, former?.model)) this.onmodel(state.model);
    if (this.load && state.own && !going(state.own)) this.ended(state.own, state.model);
    const changed = former?.phase !== state.phase || former.resting !== state.resting;
    if (this.dialog.open && former && changed) this.fill();
    this.show();
  }

  /**
   * The load that this page asked for is over.
   * @param {LoadState} load
   * @param {ModelLine | null} model
   */
  ended({ state, name, words = "" }, model) {
    this.load = null;
    const stays = model ? ` ${model.name} stays in use.` : "";
    if (state === "done") setText(this.said, `${name} is loaded and in use.`);
    else setText(state === "stopped" ? this.said : this.wrong, words + stays);
  }

  show() {
    if (!this.state) return;
    const { model, phase, note, resting, share, own, can_rest, may } = this.state;
    const busy = phase === "loading";
    this.audit.of(may === "fixed" ? null : model);
    this.button.hidden = false;
    if (!model) setText(this.line, note || "No model: choose one");
    else if (busy) setText(this.line, `${model.name} · ${note}`);
    else setText(this.line, resting ? `${model.name} · resting` : shortLine(model));
    set(this.button, { "data-phase": phase, title: "About the model, and others to choose from" });
    this.now.replaceChildren(
      ...(model
        ? [h("b", {}, model.name), resting ? " at rest" : " in use"]
        : ["No model is loaded."]),
    );
    setText(this.about, describe(this.state));
    this.away.hidden = !can_rest || busy;
    const mine = Boolean(own && going(own));
    this.loading.hidden = !busy && !mine;
    const ahead = own?.place === 1 ? "another model is" : `${own?.place} others are`;
    const queued = mine && own?.state === "waiting";
    const waits = queued ? `${own?.name} waits: ${ahead} being loaded first.` : note;
    const stopping = (busy || mine) && this.stopping !== null && this.stopping === this.shown;
    setText(this.words, stopping ? "Stopping …" : (waits ?? ""));
    this.halt.disabled = stopping;
    this.progress.hidden = queued || share === null;
    if (!this.progress.hidden) set(this.progress, { value: share });
    this.catalog.busy(mine);
    this.byName.busy(mine);
    this.halt.hidden = may === "fixed";
    if (!model && !busy && note && !this.wrong.textContent) setText(this.wrong, note);
  }
}

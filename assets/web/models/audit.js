// Does the server of the model do XTC as it is asked to? A line of the model's dialog that starts the
// audit, and what it has found so far.

import { button, h, setText } from "../core/dom.js";
import { count } from "../core/format.js";
import { diceTable } from "../dice/dice.js";
import { sameWeights } from "../session/weights.js";

const CUT = "The page's own server has left in the middle. Start the audit again.";
const ABOUT =
  "The server draws by itself with its own XTC, and what it drew is held against its probabilities.";
const DICE = "In llama.cpp the coin of XTC is the number that drew an earlier token: how often?";

/** @param {string} name @param {string} value @param {string} label */
const field = (name, value, label) =>
  h("input", {
    type: "number",
    step: "any",
    value,
    "aria-label": label,
    "data-field": `audit-${name}`,
  });

/** What there is to say of a message. @param {AuditMessage} message */
export function wordsOf({ state, error, place, note, found, said }) {
  if (error) return error.message;
  if (state === "waiting")
    return note || (place ? `Waiting: ${count(place, "run")} before it.` : "Waiting …");
  const ended = state === "stopped" ? "Stopped. " : "";
  if (said) return ended + said;
  if (!found) return ended.trim() || "Asking …";
  return `${ended}${found.sentence} ${found.effort}`;
}

/**
 * What is said in place of the form, "" where the server of the model can be audited.
 * @param {Pick<ModelLine, "served" | "draws">} model
 */
export function nothingToAudit({ served, draws }) {
  if (draws) return "";
  return `${served?.kind} has no XTC of its own: there is nothing to audit.`;
}

export class Audit {
  /** @param {Pick<ModelTransport, "audit" | "stop">} transport */
  constructor(transport) {
    this.transport = transport;
    /** @type {ModelLine | null} */
    this.model = null;
    this.number = 0;
    this.going = false;
    this.stopping = false;
    /** @type {string | null} The server's name of the audit that goes. */
    this.run = null;
    /** @type {Pick<AuditMessage, "found" | "said">} */
    this.known = {};
    this.rho = field("rho", "0.5", "ρ that the server is asked for");
    this.tau = field("tau", "0.1", "τ that the server is asked for");
    this.submit = h("button", { title: ABOUT }, "Audit");
    this.dice = button("Its dice", () => this.start(true), { class: "quiet", title: DICE });
    this.halt = button("Stop", () => this.stop());
    this.words = h("p", { role: "status", "data-testid": "audit-said" });
    this.picture = h("div", { "data-testid": "audit-dice" });
    this.wrong = h("p", { class: "wrong", role: "alert" });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.start();
    };
    this.form = h(
      "form",
      { onsubmit, novalidate: true },
      h("span", {}, "Does this server do XTC as it is asked to?"),
      h("label", {}, "ρ ", this.rho),
      h("label", {}, "τ ", this.tau),
      this.submit,
      this.dice,
      this.halt,
    );
    this.none = h("p", { class: "tag" });
    const label = { class: "audit", "aria-label": "Audit", hidden: true };
    this.element = h("section", label, this.none, this.form, this.words, this.picture, this.wrong);
    this.show();
  }

  /** The model in use, null where its server may not be audited. @param {ModelLine | null} model */
  of(model) {
    const served = model?.served ? model : null;
    if ((served || this.model) && !sameWeights(served, this.model)) {
      this.stop();
      this.number += 1; // what comes of the model before is not heard
      this.going = false;
      this.picture.replaceChildren();
      this.say("", "");
    }
    this.model = served;
    this.show();
  }

  /** With `dice`, look at these instead. */
  start(dice = false) {
    if (this.going) return;
    const req = ++this.number;
    this.going = true;
    this.stopping = false;
    this.run = null;
    this.known = {};
    this.picture.replaceChildren();
    this.say("Asking …", "");
    const value = (/** @type {HTMLInputElement} */ { value }) =>
      value.trim() ? Number(value) : "";
    this.transport.audit(
      { kind: "audit", rho: value(this.rho), tau: value(this.tau), dice, req },
      {
        onmessage: (message) => this.hear(message),
        oncut: () => this.hear({ req, error: { message: CUT } }),
      },
    );
    this.show();
  }

  stop() {
    if (!this.going || this.stopping) return;
    this.stopping = true;
    if (this.run) this.transport.stop(this.run);
    this.show();
  }

  /** @param {AuditMessage} message */
  hear(message) {
    const { req, run, state, error, found, said, rows } = message;
    if (req !== this.number || !this.going) {
      // It was given up before its name was known.
      if (run && state === "starting") this.transport.stop(run);
      return;
    }
    if (run && run !== this.run) {
      this.run = run;
      if (this.stopping) this.transport.stop(run);
    }
    if (found || said) this.known = { found, said };
    const over = Boolean(error) || state === "done" || state === "stopped";
    const words = wordsOf({ ...message, ...this.known });
    if (rows?.length) this.picture.replaceChildren(diceTable(rows, Number(this.rho.value)));
    if (error) this.say("", words);
    else this.say(words);
    this.going = !over;
    this.show();
  }

  /** @param {string} words @param {string} wrong */
  say(words, wrong = "") {
    setText(this.words, words);
    setText(this.wrong, wrong);
  }

  show() {
    this.element.hidden = !this.model;
    const none = this.model ? nothingToAudit(this.model) : "";
    setText(this.none, none);
    this.form.hidden = Boolean(none);
    this.submit.hidden = this.dice.hidden = this.going;
    this.halt.hidden = !this.going;
    this.halt.disabled = this.stopping;
    for (const input of [this.rho, this.tau]) input.disabled = this.going;
  }
}

// What a link asks for, held against what this page takes: each value that cannot be is replaced by
// the default and named. Pure.

import { protection } from "../composer/protection.js";
import { fault } from "../composer/typed.js";
import { PAPER, withDialect } from "../core/dialect.js";
import { quoted } from "../core/errors.js";

const MOST = { prompt: 100_000, name: 200, stops: 20, stop: 200, texts: 200, text: 1_000 };
const SHOWN = 40; // characters of a value in words

/** @typedef {Record<string, unknown>} Plain */

/** @param {unknown} value @returns {value is Plain} */
const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether it is a text of whole characters. @param {unknown} value @param {number} most */
const isText = (value, most) =>
  typeof value === "string" && value.length <= most && !/\p{Surrogate}/u.test(value);

/** @param {unknown} value @param {number} most @param {number} longest */
const areTexts = (value, most, longest) =>
  Array.isArray(value) && value.length <= most && value.every((v) => v && isText(v, longest));

/** @param {unknown} value */
const isFlag = (value) => typeof value === "boolean";

/** @param {unknown} value */
const shown = (value) => quoted(JSON.stringify(value) ?? "nothing", SHOWN);

class Reader {
  /** @param {Spec} spec */
  constructor(spec) {
    this.spec = spec;
    /** @type {string[]} */
    this.wrong = [];
  }

  /**
   * A value that fits, else the other one; what is not there at all is not wrong.
   * @template T
   * @param {string} label
   * @param {unknown} value
   * @param {(value: unknown) => boolean} fits
   * @param {T} other
   * @returns {T}
   */
  value(label, value, fits, other) {
    if (value === undefined) return other;
    if (fits(value)) return /** @type {T} */ (value);
    this.wrong.push(`${label} cannot be ${shown(value)}`);
    return other;
  }

  /** @param {KnobName} name @param {unknown} value @param {Typed} other */
  knob(name, value, other, where = "") {
    if (value === undefined) return other;
    const plain = typeof value === "number" || typeof value === "string" ? value : shown(value);
    const knob = this.spec.knobs[name];
    // The greatest seed, 2^63 − 1, is no number here: it is rounded up, and too large then.
    const rounded = plain === knob.max && plain > Number.MAX_SAFE_INTEGER;
    const words = fault(knob, plain) || (rounded ? `${knob.label} must be ${knob.interval}` : "");
    if (words) this.wrong.push(where + quoted(words, 4 * SHOWN));
    return words ? other : plain;
  }

  /** @param {unknown} value @param {number} place @returns {LaneSettings<Typed>} */
  lane(value, place) {
    const { spec } = this;
    const called = `Lane ${place + 1}`;
    const lane = this.value(called, value, isPlain, /** @type {Plain} */ ({}));
    const name = this.value(
      `The name of lane ${place + 1}`,
      lane.name,
      (v) => isText(v, MOST.name),
      called,
    );
    const sampler = this.value(`${called}`, lane.sampler, isPlain, /** @type {Plain} */ ({}));
    const xtc = this.value(`${called}'s XTC`, sampler.xtc, isPlain, /** @type {Plain} */ ({}));
    const where = `${called}: `;
    const knobs = spec.stack.map((knob) => [
      knob,
      this.knob(knob, sampler[knob], spec.knobs[knob].default, where),
    ]);
    const strategies = spec.strategies.map(([strategy]) => strategy);
    const known = (/** @type {unknown} */ v) => strategies.includes(/** @type {string} */ (v));
    const engines = spec.engines.map((engine) => engine.name);
    const written = (/** @type {unknown} */ v) => engines.includes(/** @type {string} */ (v));
    const dialect = this.value("The engine", xtc.dialect, written, PAPER);
    const read = {
      // As on the server, XTC that is not spoken of is off, and has its default strength else.
      rho: this.knob("rho", xtc.rho, sampler.xtc ? spec.knobs.rho.default : 0, where),
      tau: this.knob("tau", xtc.tau, spec.knobs.tau.default, where),
      strategy: this.value("The strategy", xtc.strategy, known, strategies[0]),
      protected: [],
    };
    return {
      name,
      sampler: {
        ...Object.fromEntries(knobs),
        xtc: withDialect(read, dialect),
        order: this.order(sampler),
        dry_breakers: [],
      },
    };
  }

  /** The order of stages; those that an older page did not know stand where the default has them.
   * @param {Plain} sampler */
  order({ order: value, xtc_place: place }) {
    const every = this.spec.order.map(([stage]) => stage);
    if (value === undefined && place === "before_temperature") {
      return [...every.filter((stage) => stage !== "temperature"), "temperature"];
    }
    const fits = (/** @type {unknown} */ v) =>
      Array.isArray(v) && new Set(v).size === v.length && v.every((stage) => every.includes(stage));
    const order = [...this.value("The order of stages", value, fits, every)];
    for (let i = every.length - 1; i >= 0; i--) {
      if (order.includes(every[i])) continue;
      const behind = every.slice(i + 1).map((stage) => order.indexOf(stage));
      order.splice(Math.min(order.length, ...behind), 0, every[i]);
    }
    return order;
  }

  /** @param {unknown} value @param {RunSettings} usual @returns {RunSettings<Typed>} */
  settings(value, usual) {
    const { maxLanes } = this.spec;
    const settings = this.value("The settings", value, isPlain, /** @type {Plain} */ ({}));
    const lanes = this.value(
      "The lanes",
      settings.lanes,
      (v) => Array.isArray(v) && v.length > 0,
      /** @type {unknown[]} */ (usual.lanes),
    );
    if (lanes.length > maxLanes) this.wrong.push(`There can be ${maxLanes} lanes at most`);
    const knob = (/** @type {"seed" | "max_new_tokens" | "top_candidates"} */ name) =>
      this.knob(name, settings[name], usual[name]);
    return {
      lanes: lanes.slice(0, maxLanes).map((lane, place) => this.lane(lane, place)),
      seed: knob("seed"),
      max_new_tokens: knob("max_new_tokens"),
      top_candidates: Number(knob("top_candidates")),
      shared_randomness: this.value("Shared dice", settings.shared_randomness, isFlag, true),
      stop: this.value(
        "Stop at",
        settings.stop,
        (v) => areTexts(v, MOST.stops, MOST.stop),
        /** @type {string[]} */ ([]),
      ),
      server_draws: this.value("The server draws", settings.server_draws, isFlag, false),
    };
  }

  /** @param {unknown} value */
  protection(value) {
    const choice = this.value("Protected tokens", value, isPlain, /** @type {Plain} */ ({}));
    const kinds = this.spec.newlines.map(([kind]) => kind);
    return protection({
      eos: this.value("The end of the text", choice.eos, isFlag, true),
      newline: this.value(
        "Line breaks",
        choice.newline,
        (v) => isFlag(v) || kinds.includes(/** @type {string} */ (v)),
        /** @type {string | boolean} */ (true),
      ),
      texts: this.value(
        "Protected texts",
        choice.texts,
        (v) => areTexts(v, MOST.texts, MOST.text),
        /** @type {string[]} */ ([]),
      ),
    });
  }
}

/**
 * A draft that this page can run, and what was wrong with the one that came, in words. What an older
 * page did not know has its default.
 * @param {unknown} data
 * @param {Spec} spec
 * @returns {{ draft: Draft, wrong: string[] }}
 */
export function readDraft(data, spec) {
  const reader = new Reader(spec);
  const plain = reader.value("The request", data, isPlain, /** @type {Plain} */ ({}));
  const text = (/** @type {string} */ label, /** @type {unknown} */ value) =>
    reader.value(label, value, (v) => isText(v, MOST.prompt), "");
  const draft = {
    prompt: text("The prompt", plain.prompt),
    system: text("The system message", plain.system),
    chat: reader.value("Chat", plain.chat, isFlag, false),
    thinking: reader.value("Thinking", plain.thinking, isFlag, true),
    settings: reader.settings(plain.settings, spec.settings),
    protect: reader.protection(plain.protect),
  };
  return { draft, wrong: reader.wrong };
}

/**
 * A step that there may be in such a draft's lanes, else null.
 * @param {unknown} data
 * @param {Draft} draft
 * @returns {Place | null}
 */
export function readPlace(data, draft) {
  if (!isPlain(data)) return null;
  const { lane, i } = data;
  const counts = [lane, i].every((n) => Number.isInteger(n) && Number(n) >= 0);
  if (!counts || Number(lane) >= draft.settings.lanes.length) return null;
  return { lane: Number(lane), i: Number(i) };
}

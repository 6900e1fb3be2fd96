// Where the questions come from: steps of the run on show, as they are or by a what-if; then those
// of the recorded run.

import { BLOCK } from "../session/blocks.js";
import { Run } from "../session/run.js";
import { otherXtc, placesFor, placesToImagine } from "./levels.js";
import { question, questionBehind, textBefore } from "./question.js";

/** @import { Level } from "./levels.js" */
/** @import { Question } from "./question.js" */

const RECORDED = "recorded"; // its name on the server
const DEPTH = 10;
const TRIES = 6;
const ENOUGH = 3; // words: with fewer there is little to guess
const SKIPPED = 1;
const LUCK = 0.25; // how often steps with any coin are taken

/**
 * One of a list by chance, and the others.
 * @template T
 * @param {T[]} list
 * @param {() => number} random
 */
function shuffled(list, random) {
  return list
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

/** @param {Run} run @param {Place} at */
function nameOf(run, { lane, i }) {
  return `${run.id} ${lane} ${i}`;
}

/** @param {Level} level @param {Run} run @param {Place} at */
function partsOf(level, run, at) {
  return { level, at, before: textBefore(run.head.prompt, run.lanes[at.lane].chips, at.i) };
}

/** @param {Transport} transport @returns {Promise<Run | null>} */
export async function recordedRun(transport) {
  const message = await transport.open?.(RECORDED, []).catch(() => null);
  if (!message?.head || !message.run) return null;
  const run = new Run(message.run, message.head);
  run.grow(message);
  return run;
}

export class Deck {
  /** @type {Set<string>} Steps that were asked about. */
  #used = new Set();
  /** @type {Promise<Run | null> | null} */
  #recorded = null;

  /** @param {Transport} transport @param {() => number} random */
  constructor(transport, random = Math.random) {
    this.transport = transport;
    this.random = random;
  }

  /**
   * A question of this level, null where no run has one.
   * @param {Level} level
   * @param {Run | null} run the one on show
   */
  async next(level, run) {
    this.#recorded ??= recordedRun(this.transport);
    const runs = [run, await this.#recorded].filter((one) => one !== null);
    for (const one of runs) {
      const made = (await this.#natural(level, one)) ?? (await this.#imagined(level, one));
      if (made) return made;
    }
    return null;
  }

  /**
   * Some places by chance, not asked about where there are such. Mostly the coin shall not say no:
   * then there is more to see.
   * @param {Place[]} places
   * @param {Run} run
   */
  #order(places, run) {
    const any = this.random() < LUCK;
    const shows = (/** @type {Place} */ at) => any || run.chip(at)?.outcome !== SKIPPED;
    const chance = shuffled(places, this.random);
    const mixed = [...chance.filter(shows), ...chance.filter((at) => !shows(at))];
    const fresh = mixed.filter((at) => !this.#used.has(nameOf(run, at)));
    return (fresh.length ? fresh : mixed).slice(0, TRIES);
  }

  /**
   * The first of some places that makes a good question, else one with few words.
   * @param {Run} run
   * @param {Place[]} places
   * @param {(at: Place) => Promise<Question | null>} make
   */
  async #first(run, places, make) {
    let spare = null;
    for (const at of this.#order(places, run)) {
      const made = await make(at);
      spare ??= made;
      if (made && made.fates.size >= ENOUGH) {
        spare = made;
        break;
      }
    }
    if (spare) this.#used.add(nameOf(run, spare.at));
    return spare;
  }

  /** @param {Run} run @param {Place} at @param {OtherXtc | null} xtc */
  async #step(run, at, xtc) {
    const index = Math.floor(at.i / BLOCK);
    const block = await this.transport.block(run.id, at.lane, index, DEPTH, xtc);
    return { step: block.steps[at.i - block.first], texts: block.texts };
  }

  /** A step as it was. @param {Level} level @param {Run} run */
  #natural(level, run) {
    return this.#first(run, placesFor(run, level.name), async (at) => {
      const { step, texts } = await this.#step(run, at, null);
      if (!step) return null;
      const { xtc, min_p: minP } = run.head.lanes[at.lane].sampler;
      const guard = new Set(xtc.protected);
      const parts = { ...partsOf(level, run, at), step, texts, imagined: false, guard };
      if (level.name !== "min_p") return question(parts);
      const view = await this.transport.stages?.(run.id, at.lane, at.i, DEPTH);
      return view ? questionBehind(parts, view, minP) : null;
    });
  }

  /** A step under other settings. @param {Level} level @param {Run} run */
  async #imagined(level, run) {
    if (!this.transport.whatIf || level.name === "min_p") return null;
    return this.#first(run, placesToImagine(run, level.name), async (at) => {
      const real = await this.#step(run, at, null);
      const xtc = real.step && otherXtc(level.name, real.step, real.texts);
      if (!xtc) return null;
      const { step, texts } = await this.#step(run, at, xtc);
      const held = level.name === "protected";
      if (!step || (held && step.outcome !== "protected")) return null;
      const guard = new Set(held ? [real.step.removed[0]] : []);
      return question({ ...partsOf(level, run, at), step, texts, imagined: true, guard });
    });
  }
}

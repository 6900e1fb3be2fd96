// The runs of this browser: each is kept when it has ended, and can be found, named, pinned, opened
// again and taken off. No document.

import { Emitter } from "../core/emitter.js";
import { wordsOf } from "../core/errors.js";
import { count } from "../core/format.js";
import { isAway, isGone } from "../wire/errors.js";
import { described, excess, ordered } from "./entry.js";
import { roomy } from "./room.js";
import { memoryStore, openStore } from "./store.js";

/** @import { Names } from "../core/lanetag.js" */
/** @import { Run } from "../session/run.js" */
/** @import { Bounds, Entry } from "./entry.js" */
/** @import { Store } from "./store.js" */

const ENDED = ["done", "stopped", "failed"];
const GONE = "This run is no longer on the shelf.";

/** A name that nothing else has. */
export function fresh() {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 12)}`;
}

/** @param {ReadableStream<Uint8Array>} stream @param {GenericTransformStream} through */
function through(stream, through) {
  return new Response(stream.pipeThrough(through));
}

/** Its events: `change` (of the runs), `note` (of `words` that are to be said). */
export class Shelf extends Emitter {
  #ask;
  #spec;
  #bounds;
  /** @type {Promise<Store>} */
  #store;
  #lasting = true;
  /** @type {Map<string, { id: string, version: string }>} By run, what of it is on the shelf whole. */
  #known = new Map();
  /** @type {BroadcastChannel | null} What other tabs change. */
  #others;

  /**
   * `open` opens the storage, `others` tells other tabs.
   * @param {Transport["export"]} ask
   * @param {Names} spec
   * @param {{ open?: () => Promise<Store>, others?: BroadcastChannel | null, bounds?: Bounds }} more
   */
  constructor(ask, spec, { open = openStore, others = null, bounds } = {}) {
    super();
    this.#ask = ask;
    this.#spec = spec;
    this.#bounds = bounds;
    this.#others = others;
    this.#store = open()
      .catch(() => {
        this.#lasting = false;
        return memoryStore();
      })
      .then((store) => roomy(store, (count) => this.#full(count)));
    others?.addEventListener("message", () => this.emit("change"));
  }

  /** All runs, those in front first, and whether they are there tomorrow. */
  async read() {
    const store = await this.#store;
    return { entries: ordered(await store.list()), lasting: this.#lasting };
  }

  /**
   * Take in a run that has ended. Where it holds all of `parent`, the run that it went on from, it
   * stands in that one's place, unless another tab has put something there. Returns whether it is
   * on the shelf.
   * @param {Run} run
   * @param {string | null} parent
   */
  async keep(run, parent) {
    if (this.#known.has(run.id)) return true;
    if (!ENDED.includes(run.state) || !run.longest) return false;
    const version = fresh();
    this.#known.set(run.id, { id: "", version });
    try {
      const text = (await this.#ask?.(run.id, "trace")) ?? "";
      const file = await through(new Blob([text]).stream(), new CompressionStream("gzip")).blob();
      const facts = described(run, this.#spec);
      const words =
        facts.prompt.length + facts.lanes.reduce((sum, { text }) => sum + text.length, 0);
      const bytes = file.size + words;
      const entry = { ...facts, run: run.id, version, time: Date.now(), bytes };
      const id = await this.#put(entry, file, parent ? this.#known.get(parent) : undefined);
      this.#known.set(run.id, { id, version });
      await this.#trim(id);
      this.#changed();
      return true;
    } catch (error) {
      this.#known.delete(run.id);
      // Of one whose server has left, the texts are there.
      if (!isAway(error) && !isGone(error))
        this.emit("note", { words: `This run is not on the shelf: ${wordsOf(error)}` });
      return false;
    }
  }

  /**
   * Keep the texts of a run that is being written, at the place `id` of the shelf; a run that is
   * there whole stays so.
   * @param {Run} run
   * @param {string} id
   */
  async jot(run, id) {
    if (this.#known.has(run.id)) return;
    const facts = described(run, this.#spec);
    const file = new Blob([JSON.stringify(run.whole())]);
    const own = { run: run.id, version: fresh(), time: Date.now(), bytes: file.size, cut: true };
    const store = await this.#store;
    const make = (/** @type {Entry | undefined} */ old) =>
      old && !old.cut ? undefined : { id, name: "", pinned: false, ...old, ...facts, ...own };
    await store.change(id, make, file);
  }

  /**
   * The texts of a run that was cut off, as a message. Throws where they are gone.
   * @param {string} id
   * @returns {Promise<Message & { run: string, head: RunHead }>}
   */
  async texts(id) {
    const file = await (await this.#store).file(id);
    if (!file) throw new Error(GONE);
    return JSON.parse(await file.text());
  }

  /**
   * What the shelf has of a run of the page, the whole of it rather than its texts; else null.
   * @param {string} run
   */
  async find(run) {
    const entries = await (await this.#store).list();
    const own = this.#known.get(run)?.id;
    const same = entries.filter((entry) => entry.id === own || entry.run === run);
    return same.find(({ cut }) => !cut) ?? same[0] ?? null;
  }

  /** The trace of a run of the page, null where it is not kept. @param {string} run */
  async trace(run) {
    const entry = await this.find(run).catch(() => null);
    return entry && !entry.cut ? this.text(entry.id).catch(() => null) : null;
  }

  /** Take off the texts of a run that is here whole, or not wanted. @param {string} id */
  async drop(id) {
    const store = await this.#store;
    await store.remove([id]);
    this.#changed();
  }

  /** Take everything off; returns what puts it back. */
  async clear() {
    const store = await this.#store;
    const entries = await store.list();
    const files = await Promise.all(entries.map(({ id }) => store.file(id)));
    await store.remove(entries.map(({ id }) => id));
    this.#changed();
    return async () => {
      for (const [k, entry] of entries.entries())
        await store.change(entry.id, () => entry, files[k]);
      this.#changed();
    };
  }

  /**
   * @param {Omit<Entry, "id" | "name" | "pinned">} entry
   * @param {Blob} file
   * @param {{ id: string, version: string } | undefined} former
   */
  async #put(entry, file, former) {
    const store = await this.#store;
    const same = (/** @type {Entry | undefined} */ old) =>
      old && old.version === former?.version ? { ...old, ...entry } : undefined;
    if (former && (await store.change(former.id, same, file))) return former.id;
    const id = fresh();
    await store.change(id, () => ({ id, name: "", pinned: false, ...entry }), file);
    return id;
  }

  /** Keep within the bounds, and say what had to go. @param {string} newest */
  async #trim(newest) {
    const store = await this.#store;
    const gone = excess(await store.list(), newest, this.#bounds);
    if (!gone.length) return;
    await store.remove(gone.map((entry) => entry.id));
    this.#full(gone.length);
  }

  /** @param {number} runs */
  #full(runs) {
    const words = `The shelf was full: ${count(runs, "old run")} made room.`;
    this.emit("note", { words: `${words} Pinned runs stay.` });
  }

  /** @param {string} id @param {Partial<Pick<Entry, "name" | "pinned">>} values */
  async change(id, values) {
    const store = await this.#store;
    await store.change(id, (entry) => entry && { ...entry, ...values });
    this.#changed();
  }

  /** Take a run off; returns what puts it back. @param {Entry} entry */
  async remove(entry) {
    const store = await this.#store;
    const file = await store.file(entry.id);
    await store.remove([entry.id]);
    this.#changed();
    return async () => {
      await store.change(entry.id, () => entry, file);
      this.#changed();
    };
  }

  /** The trace file's text of a run. Throws where it is gone. @param {string} id */
  async text(id) {
    const file = await (await this.#store).file(id);
    if (!file) throw new Error(GONE);
    return through(file.stream(), new DecompressionStream("gzip")).text();
  }

  /** The run on show is this one of the shelf. @param {Entry} entry @param {string} run */
  shown({ id, version }, run) {
    this.#known.set(run, { id, version });
  }

  #changed() {
    this.emit("change");
    this.#others?.postMessage("");
  }
}

// What the page knows: the run on show, the selected step, how it is looked at. Views listen to it.

export const OUTCOMES = ["unambiguous", "skipped", "protected", "fired"];
export const FIRED = 3;
export const CHANGED = 4;
export const FORCED = 8;
export const BLOCK = 64;

export const MODES = ["outcome", "probability", "rank", "surprisal", "entropy", "difference"];

/** A chip from the wire as an object. */
export function readChip(values) {
  const [id, text, flags, p, rank, entropy, eligible, mass, sign] = values;
  return {
    id,
    text,
    outcome: flags % CHANGED,
    changed: Boolean(flags & CHANGED),
    forced: Boolean(flags & FORCED),
    p: p / 1e4,
    rank,
    entropy: entropy / 1e3,
    eligible,
    mass: mass / 1e4,
    sign,
  };
}

/** The first position at which two lanes hold different tokens, or -1 while they agree. */
export function firstDifference(a, b, from = 0) {
  const n = Math.min(a.length, b.length);
  for (let i = from; i < n; i++) if (a[i].id !== b[i].id) return i;
  return -1;
}

export class Model extends EventTarget {
  constructor(transport) {
    super();
    this.transport = transport;
    this.run = null;
    this.lane = 0; // the one that is looked at
    this.selected = null;
    this.preview = null;
    this.mode = MODES[0];
    this.reveal = Number.POSITIVE_INFINITY;
    this.pending = false;
    this.candidates = 10;
    this.atLeast = 0; // candidates to fetch, however few are shown
    this.log = false;
    this.cache = new Map();
    this.wanted = new Map();
  }

  emit(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  on(name, listener) {
    for (const one of name.split(" ")) this.addEventListener(one, (e) => listener(e.detail));
  }

  /** Take one message of a run; returns false when something before it is missing. */
  take(message) {
    if (!this.run || this.run.id !== message.run) {
      if (!message.head) return false;
      this.open(message);
    }
    const run = this.run;
    if (run.head.lanes.length !== (message.add?.length ?? run.head.lanes.length)) return false;
    let added = false;
    for (const [i, chips] of (message.add ?? []).entries()) {
      const have = run.lanes[i].chips;
      const from = message.at[i];
      if (from > have.length) return false;
      for (const values of chips.slice(have.length - from)) {
        have.push(readChip(values));
        added = true;
      }
    }
    for (const [i, stats] of (message.stats ?? []).entries()) run.lanes[i].stats = stats;
    for (const [i, finish] of (message.finish ?? []).entries()) run.lanes[i].finish = finish;
    if (message.seconds !== undefined) run.seconds = message.seconds;
    if (added) this.compare();
    if (added) this.emit("chips");
    this.setState(message.state ?? run.state);
    return true;
  }

  open(message) {
    const lanes = message.head.lanes.map(() => ({
      chips: [],
      stats: null,
      finish: null,
      splits: -1,
    }));
    const { head } = message;
    this.run = { id: message.run, head, lanes, parted: new Map(), state: "", seconds: 0 };
    this.reveal = this.stepping ? 0 : Number.POSITIVE_INFINITY;
    this.pending = Boolean(this.stepping);
    this.stepping = false;
    this.selected = null;
    this.preview = null;
    const on = head.lanes.findIndex((lane) => lane.sampler.xtc.rho > 0);
    this.lane = on < 0 ? lanes.length - 1 : on;
    this.cache.clear();
    this.wanted.clear();
    this.emit("run");
    this.emit("select");
  }

  setState(state) {
    if (!this.run || this.run.state === state) return;
    this.run.state = state;
    this.emit("state", { state });
  }

  get busy() {
    return Boolean(this.run) && ["waiting", "starting", "running"].includes(this.run.state);
  }

  /** The first position at which two lanes hold different tokens, or -1 while they agree. */
  parting(a, b) {
    const { lanes, parted } = this.run;
    const key = `${Math.min(a, b)}/${Math.max(a, b)}`;
    const known = parted.get(key) ?? { at: -1, compared: 0 };
    if (known.at < 0) {
      known.at = firstDifference(lanes[a].chips, lanes[b].chips, known.compared);
      known.compared = Math.min(lanes[a].chips.length, lanes[b].chips.length);
      parted.set(key, known);
    }
    return known.at;
  }

  /** Where each lane leaves the first one; kept up to date as tokens come. */
  compare() {
    const [first, ...others] = this.run.lanes;
    for (const [k, lane] of others.entries()) lane.splits = this.parting(0, k + 1);
    const found = others.map((lane) => lane.splits).filter((at) => at >= 0);
    first.splits = found.length ? Math.min(...found) : -1;
  }

  shown(lane) {
    return Math.min(this.run?.lanes[lane]?.chips.length ?? 0, this.reveal);
  }

  chip(at) {
    return at ? this.run?.lanes[at.lane]?.chips[at.i] : undefined;
  }

  /** What the inspector shows: what the pointer rests on, else what is selected. */
  get focus() {
    if (this.preview) return this.preview;
    if (!this.pending || !this.run) return this.selected;
    return { lane: this.lane, i: this.reveal };
  }

  /** Step by step: show so many tokens; `pending` looks at the next one before it is drawn. */
  setReveal(reveal, pending) {
    const seen = this.pending ? this.reveal : reveal - 1;
    this.reveal = Math.max(0, reveal);
    this.pending = pending;
    this.emit("reveal");
    if (pending) this.emit("select", { origin: "step" });
    else if (Number.isFinite(seen)) this.select(this.lane, seen, "step");
    else this.emit("select", { origin: "step" });
  }

  /** A chip's outcome, as it was or, in a what-if, as it would have been. */
  outcome(lane, i) {
    const { imagined, chips } = this.run.lanes[lane];
    if (!imagined || i >= imagined.outcomes.length) return chips[i];
    return {
      outcome: Number(imagined.outcomes[i]),
      eligible: imagined.eligible[i],
      mass: imagined.mass[i] / 1e4,
      changed: false,
      imagined: true,
    };
  }

  select(lane, i, origin = "") {
    if (!this.run?.lanes[lane]) return;
    const last = this.shown(lane) - 1;
    if (last < 0) return;
    this.pending = false;
    this.lane = lane;
    this.selected = { lane, i: Math.max(0, Math.min(i, last)) };
    this.preview = null;
    this.emit("select", { origin });
  }

  /** Look at another lane, at the same place. */
  look(lane, origin) {
    if (!this.run?.lanes[lane]) return;
    this.lane = lane;
    this.preview = null;
    if (this.pending) this.emit("select", { origin: "step" });
    else if (this.selected) this.select(lane, this.selected.i, origin);
  }

  hover(at) {
    const same = at?.lane === this.preview?.lane && at?.i === this.preview?.i;
    if (same) return;
    this.preview = at;
    this.emit("select", { origin: "hover" });
  }

  /** Go to the next (or the previous) step of the lane for which `test` holds. */
  seek(direction, test) {
    const at = this.selected ?? { lane: this.lane, i: -1 };
    for (let i = at.i + direction; i >= 0 && i < this.shown(at.lane); i += direction) {
      if (test(this.outcome(at.lane, i))) return this.select(at.lane, i, "key");
    }
  }

  setMode(mode) {
    this.mode = mode;
    this.emit("mode");
  }

  /** The full record of a step when it is here, else undefined; it is then on its way. */
  step(at) {
    if (!at || !this.run) return undefined;
    const index = Math.floor(at.i / BLOCK);
    const key = this.key(at.lane, index);
    const block = this.cache.get(key);
    const step = block?.steps[at.i - block.first];
    if (step) return { step, texts: block.texts };
    this.fetch(at.lane, index, key);
    return undefined;
  }

  /** How many candidates of a step are fetched. */
  get depth() {
    return Math.max(this.candidates, this.atLeast);
  }

  key(lane, index) {
    const xtc = this.run.lanes[lane].imagined?.xtc;
    return `${lane}/${index}/${this.depth}${xtc ? JSON.stringify(xtc) : ""}`;
  }

  async fetch(lane, index, key) {
    const length = this.run.lanes[lane].chips.length;
    if (!length || this.wanted.get(key) === length) return;
    this.wanted.set(key, length);
    const run = this.run;
    const xtc = run.lanes[lane].imagined?.xtc ?? null;
    try {
      const block = await this.transport.block(run.id, lane, index, this.depth, xtc);
      if (this.run !== run) return;
      this.cache.set(key, block);
      this.emit("block");
    } catch (error) {
      this.wanted.delete(key);
      this.emit("problem", { message: `This step could not be loaded: ${error.message ?? error}` });
    }
  }

  /** Load the neighbours of a block before someone scrubs into them. */
  prefetch(at) {
    const index = Math.floor(at.i / BLOCK);
    for (let lane = 0; lane < this.run.lanes.length; lane++) {
      for (const near of [index, index + 1, index - 1]) {
        const key = this.key(lane, near);
        const length = this.run.lanes[lane].chips.length;
        if (near >= 0 && near * BLOCK < length && !this.wanted.has(key)) {
          this.fetch(lane, near, key);
        }
      }
    }
  }
}

// What can be asked of the server about a run: a fresh one, more of it, another way from a word, the
// one before.

import { wordsOf } from "../core/errors.js";

/** @import { Composer } from "../composer/composer.js" */
/** @import { Chosen } from "../inspector/fork.js" */
/** @import { LaneActions } from "../lanes/lanemenu.js" */
/** @import { RunTools } from "../lanes/runtools.js" */
/** @import { Playback } from "../session/playback.js" */
/** @import { Session } from "../session/session.js" */

export class Requests {
  /**
   * `here()` says whether there is a server to ask, `before()` follows before anything is asked,
   * `after()` when the run on show is another at once.
   * @param {Session} session
   * @param {Playback} playback
   * @param {Composer} composer
   * @param {{ here: () => boolean, before: () => void, after: () => void }} events
   */
  constructor(session, playback, composer, { here, before, after }) {
    this.session = session;
    this.playback = playback;
    this.composer = composer;
    this.here = here;
    this.before = before;
    this.after = after;
  }

  /**
   * Ask for a run; what was said of the last request goes.
   * @param {RunRequest} request
   * @param {{ draft?: Draft, goal?: Place | null, stepping?: boolean }} more
   */
  ask(request, more = {}) {
    if (!this.session.idle || !this.here()) return;
    this.before();
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

  /**
   * What the menu of a lane does. `elsewhere` takes its settings to another program.
   * @param {RunTools} tools
   * @param {LaneActions["elsewhere"]} elsewhere
   * @returns {LaneActions}
   */
  ofLanes(tools, elsewhere) {
    return {
      goOn: (lane) => this.goOn(lane),
      rewrite: (lane, text) => this.rewrite(lane, text),
      prompt: (text) => this.composer.begin(text),
      elsewhere,
      can: (lane) => {
        const write =
          this.here() && this.session.idle && this.session.goesOn && !this.playback.stepping;
        return { write, goOn: write && tools.open(lane) };
      },
    };
  }

  /** A lane goes on after its text as it was edited. @param {number} lane @param {string} text */
  rewrite(lane, text) {
    const { run } = this.playback;
    const more = this.composer.draft.settings.max_new_tokens;
    if (!run) return;
    const { chips } = run.lanes[lane];
    let end = 0;
    const i = chips.findIndex((chip) => {
      end += chip.text.length;
      return !text.startsWith(chip.text, end - chip.text.length);
    });
    const goal = { lane, i: i < 0 ? chips.length : i };
    this.ask({ kind: "edit", run: run.id, lane, text, more }, { goal });
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

  undo() {
    return this.travel(() => this.session.undo());
  }

  redo() {
    return this.travel(() => this.session.redo());
  }

  /** To a run that was on show before. @param {() => Promise<void>} go */
  async travel(go) {
    if (!this.session.idle || this.playback.stepping) return;
    try {
      await go();
      this.composer.fail("");
    } catch (error) {
      this.composer.fail(wordsOf(error));
    }
    this.after();
  }
}

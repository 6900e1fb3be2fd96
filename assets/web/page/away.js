// What the page does while its server is away, and when it is back.

import { WORDS } from "../wire/presence.js";

/** @import { Presence } from "../wire/presence.js" */
/** @import { Page } from "./page.js" */

/** The reason beside what cannot be used. */
const WHY = "The server is away.";
const OFTEN = 20_000; // milliseconds between two looks at a server of which nothing is asked
const CUT = "The server is away. This text is kept; the rest comes when it is back.";

export class Away {
  /** @param {Page} page @param {Presence} presence */
  constructor(page, presence) {
    this.page = page;
    this.presence = presence;
    presence.on("change", () => this.draw());
    presence.on("back", ({ restarted }) => this.back(restarted));
    page.session.on("phase", () => this.say());
    const glance = () => document.visibilityState === "visible" && presence.glance();
    for (const name of ["online", "focus", "pageshow"]) window.addEventListener(name, glance);
    document.addEventListener("visibilitychange", glance);
    setInterval(glance, OFTEN);
  }

  /** Why the server cannot be asked; "" where it can. */
  get why() {
    return this.presence.here ? "" : WHY;
  }

  /** Whether it can be asked; if not, it is looked for at once. */
  ask() {
    if (!this.presence.here) this.presence.look();
    return this.presence.here;
  }

  draw() {
    this.say();
    this.page.drawTools();
  }

  say() {
    const { presence, page } = this;
    const cut = presence.standing === "away" && page.session.phase === "cut";
    page.statusLine.miss(cut ? CUT : WORDS[presence.standing]);
  }

  /** It answers again. @param {boolean} restarted whether it was started anew */
  async back(restarted) {
    const { session, picker, playback, composer, shelf } = this.page;
    composer.fail("");
    // Which model is there now?
    if (restarted) {
      session.use(null);
      picker?.forget();
    }
    await picker?.greet();
    await session.mend();
    if (session.idle) await shelf?.keep();
    // What could not be loaded is asked for again.
    if (playback.run) playback.seen();
  }
}

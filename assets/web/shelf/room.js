// A store that makes room where the browser has none left: the oldest runs go, those that are pinned
// never. No document.

/** @import { Store } from "./store.js" */

const AT_ONCE = 5;
const TRIES = 6;

/**
 * The same store; `onroom(runs)` says that so many have gone.
 * @param {Store} store
 * @param {(runs: number) => void} onroom
 * @returns {Store}
 */
export function roomy(store, onroom) {
  return {
    ...store,
    async change(id, make, file) {
      let gone = 0;
      for (let left = TRIES; ; left--) {
        try {
          const entry = await store.change(id, make, file);
          if (gone) onroom(gone);
          return entry;
        } catch (error) {
          const full = error instanceof DOMException && error.name === "QuotaExceededError";
          const oldest = full && left > 0 ? await unpinned(store, id) : [];
          if (!oldest.length) throw full ? new Error("the browser's storage is full.") : error;
          await store.remove(oldest);
          gone += oldest.length;
        }
      }
    },
  };
}

/** The oldest runs that may go. @param {Store} store @param {string} but */
async function unpinned(store, but) {
  const entries = (await store.list()).filter(({ id, pinned }) => !pinned && id !== but);
  return entries
    .sort((a, b) => a.time - b.time)
    .slice(0, AT_ONCE)
    .map(({ id }) => id);
}

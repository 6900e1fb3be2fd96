// Where the shelf's runs are: in the browser's own storage, or in memory where it gives none. Both
// hold what one knows of a run and its file apart, so that a list is read without the files.

/** @import { Entry } from "./entry.js" */
/**
 * `change` reads an entry and writes what `make` makes of it in one go, whatever other tabs do;
 * undefined leaves it as it is. `file` is the run's trace file, gzipped.
 * @typedef {{
 *   list: () => Promise<Entry[]>,
 *   change: (id: string, make: (entry: Entry | undefined) => Entry | undefined, file?: Blob) =>
 *     Promise<Entry | undefined>,
 *   file: (id: string) => Promise<Blob | undefined>,
 *   remove: (ids: string[]) => Promise<void>,
 * }} Store
 */

const NAME = "xtc_viz";
const ENTRIES = "entries";
const FILES = "files";
const NEWER = "a newer version of this page has taken it over; load this one anew.";

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function result(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
function written(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/** @returns {Promise<IDBDatabase>} */
function openBase() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(ENTRIES, { keyPath: "id" });
    request.result.createObjectStore(FILES);
  };
  return Promise.race([result(request), refused(request)]).catch((error) => {
    throw error?.name === "VersionError" ? new Error(NEWER) : error;
  });
}

/** An older page in another tab keeps the storage as it was. @param {IDBOpenDBRequest} request */
function refused(request) {
  return new Promise((_, reject) => {
    request.onblocked = () => reject(new Error("Another tab keeps the storage open."));
  });
}

/** The browser's storage. Rejects where there is none for this page. @returns {Promise<Store>} */
export async function openStore() {
  /** @type {Promise<IDBDatabase> | null} */
  let opened = null;
  const base = async () => {
    opened ??= openBase().then((database) => {
      // Another tab has a newer version of the page: make room for it.
      database.onversionchange = () => database.close();
      // A browser closes it when it needs the memory: it is opened again.
      database.onclose = () => {
        opened = null;
      };
      return database;
    });
    try {
      return await opened;
    } catch (error) {
      opened = null;
      throw error;
    }
  };
  /** @param {string[]} names @param {IDBTransactionMode} mode */
  const begin = async (names, mode = "readonly") => {
    try {
      return (await base()).transaction(names, mode);
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== "InvalidStateError") throw error;
      opened = null; // it was closed in the meantime
      return (await base()).transaction(names, mode);
    }
  };
  await base();
  return {
    list: async () => result((await begin([ENTRIES])).objectStore(ENTRIES).getAll()),
    file: async (id) => result((await begin([FILES])).objectStore(FILES).get(id)),
    async change(id, make, file) {
      const transaction = await begin([ENTRIES, FILES], "readwrite");
      const entries = transaction.objectStore(ENTRIES);
      const done = written(transaction);
      done.catch(() => {}); // what goes wrong below is said once
      const entry = make(await result(entries.get(id)));
      if (entry) entries.put(entry);
      if (entry && file) transaction.objectStore(FILES).put(file, id);
      await done;
      return entry;
    },
    async remove(ids) {
      const transaction = await begin([ENTRIES, FILES], "readwrite");
      for (const id of ids) {
        transaction.objectStore(ENTRIES).delete(id);
        transaction.objectStore(FILES).delete(id);
      }
      await written(transaction);
    },
  };
}

/** The same for as long as the page is open. @returns {Store} */
export function memoryStore() {
  /** @type {Map<string, Entry>} */
  const entries = new Map();
  /** @type {Map<string, Blob>} */
  const files = new Map();
  return {
    list: async () => [...entries.values()],
    file: async (id) => files.get(id),
    async change(id, make, file) {
      const entry = make(entries.get(id));
      if (entry) entries.set(id, entry);
      if (entry && file) files.set(id, file);
      return entry;
    },
    async remove(ids) {
      for (const id of ids) {
        entries.delete(id);
        files.delete(id);
      }
    },
  };
}

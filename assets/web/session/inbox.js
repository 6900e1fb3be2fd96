// One message after the other, also where one has to wait for something. Pure.

/** @template T */
export class Inbox {
  /** @type {T[]} */
  #waiting = [];
  #reading = false;
  #read;

  /** `read` takes one, and returns a promise only where it waits. @param {(one: T) => Promise<void> | void} read */
  constructor(read) {
    this.#read = read;
  }

  /** Take one, after those before it. @param {T} one */
  async receive(one) {
    this.#waiting.push(one);
    if (this.#reading) return;
    this.#reading = true;
    try {
      for (let first = this.#waiting.shift(); first; first = this.#waiting.shift()) {
        // Where nothing is awaited the page is drawn at once.
        const waits = this.#read(first);
        if (waits) await waits;
      }
    } finally {
      this.#reading = false;
    }
  }
}

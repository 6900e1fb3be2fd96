// Something that views listen to.

export class Emitter extends EventTarget {
  /**
   * @param {string} names one or several, with blanks between them
   * @param {(detail: any) => void} listener
   */
  on(names, listener) {
    for (const name of names.split(" ")) {
      this.addEventListener(name, (event) => {
        if (event instanceof CustomEvent) listener(event.detail);
      });
    }
  }

  /** @protected @param {string} name */
  emit(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

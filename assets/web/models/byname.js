// A model by its name: of the hub, of a folder, or the address of a server that runs one.

import { h, setText } from "../core/dom.js";

/** Whether a model's name is meant to be a server. @param {string} name */
const isAddress = (name) => /^\s*https?:/i.test(name);

/**
 * A field for a word that is no prose.
 * @param {string} label
 * @param {string} placeholder
 * @param {Record<string, string | boolean>} [rest]
 */
const field = (label, placeholder, rest) =>
  h("input", {
    type: "text",
    placeholder,
    "aria-label": label,
    spellcheck: "false",
    autocomplete: "off",
    ...rest,
  });

export class ByName {
  /**
   * `onload({ name, … })` is called when a model is asked for.
   * @param {(what: Record<string, string>) => void} onload
   */
  constructor(onload) {
    this.onload = onload;
    this.folders = false; // whether a server's tokenizer may be a folder of this machine
    this.name = field(
      "Hub id or folder, or address of a server",
      "owner/name, a folder of this machine, or http://127.0.0.1:8080",
      { required: true, "data-field": "name" },
    );
    this.name.addEventListener("input", () => {
      this.key.value = "";
      this.suit();
    });
    this.key = field("Key of the server", "optional", { type: "password", "data-field": "key" });
    this.folder = field("Folder of the tokenizer", "a folder with tokenizer.json, for vLLM", {
      "data-field": "tokenizer",
    });
    this.revision = field("Revision", "main");
    this.submit = h("button", {}, "Load");
    this.ofHub = h("label", { class: "revision" }, "revision ", this.revision);
    this.ofServer = h("label", { class: "revision", hidden: true }, "key ", this.key);
    this.ofTokens = h("label", { class: "tokenizer", hidden: true }, "tokenizer", this.folder);
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.ask();
    };
    this.element = h(
      "form",
      { class: "free", onsubmit },
      h("h3", {}, "Or any other model of the hub, of a folder, or of a server that runs one"),
      this.name,
      this.ofHub,
      this.ofServer,
      this.submit,
      this.ofTokens,
    );
  }

  ask() {
    const name = this.name.value;
    const key = this.key.value;
    this.key.value = ""; // it is for this address, and for no other that is typed after it
    if (isAddress(name)) this.onload({ name, key, tokenizer: this.folder.value });
    else this.onload({ name, revision: this.revision.value });
  }

  /** Whether a folder may be named beside a server. @param {boolean} folders */
  offerFolder(folders) {
    this.folders = folders;
    this.suit();
  }

  /** While a load of this page's is going on, no other is asked for. @param {boolean} busy */
  busy(busy) {
    this.submit.disabled = busy;
  }

  /** Show what belongs to a server, or to a model of the hub. */
  suit() {
    const address = isAddress(this.name.value);
    this.ofHub.hidden = address;
    this.ofServer.hidden = !address;
    this.ofTokens.hidden = !address || !this.folders;
    setText(this.submit, address ? "Connect" : "Load");
  }
}

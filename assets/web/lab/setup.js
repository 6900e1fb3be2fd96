// What is to be run: a question, its size, the prompts, or files of one's own; and what that will
// take, before it starts.

import { button, h, set, setText } from "../core/dom.js";
import { download } from "../core/download.js";
import { wordsOf } from "../core/errors.js";
import { sizeWords, takesWords } from "./words.js";

/** @typedef {(name: string, ...values: unknown[]) => Promise<any>} Ask */

const MOST = 1 << 20; // characters of a file, as the server takes them
const SOON = 150; // milliseconds after the last change

export class Setup {
  /** @param {Ask} ask @param {(choice: LabChoice) => Promise<void>} start */
  constructor(ask, start) {
    this.ask = ask;
    this.start = start;
    /** @type {LabChoice} */
    this.choice = { experiment: "", suite: "", small: true, toml: null, jsonl: null };
    this.busy = false;
    this.fits = false;
    this.asked = 0;
    this.later = 0;
    /** @type {LabExperiment[]} */
    this.experiments = [];
    this.list = h("div", { class: "experiments", role: "radiogroup", "aria-label": "Question" });
    this.sizes = ["Small", "Full"].map((words, full) =>
      button(words, () => this.change({ small: !full }), { "aria-pressed": String(!full) }),
    );
    this.suite = h("select", {
      "aria-label": "Prompts",
      onchange: () => this.change({ suite: this.suite.value }),
    });
    this.file = h("input", {
      type: "file",
      accept: ".toml,.jsonl",
      multiple: true,
      class: "visually-hidden",
      "aria-label": "Open an experiment (TOML) or prompts (JSONL)",
      onchange: () => this.take([...(this.file.files ?? [])]),
    });
    this.files = h("div", { class: "own-files" });
    this.size = h("p", { class: "size" });
    this.takes = h("p", { class: "takes", role: "status", "data-testid": "forecast" });
    this.problem = h("p", { class: "problem", role: "alert", "data-testid": "problem" });
    this.go = button("Start", () => this.begin(), { class: "primary", disabled: true });
    this.element = h(
      "section",
      { class: "setup", "aria-label": "A new run" },
      h("h2", {}, "Ask a question"),
      this.list,
      h(
        "div",
        { class: "lab-row" },
        h("div", { class: "segmented", role: "group", "aria-label": "Size" }, this.sizes),
        h("label", {}, h("span", { class: "tag" }, "Prompts "), this.suite),
      ),
      h(
        "div",
        { class: "lab-row lab-own" },
        button("Open a file …", () => this.file.click(), { class: "quiet" }),
        button("Save as TOML", () => this.save(), { class: "quiet" }),
        this.file,
      ),
      this.files,
      this.size,
      this.takes,
      this.problem,
      this.go,
    );
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.take([...(event.dataTransfer?.files ?? [])]);
    });
  }

  /** @param {LabChoices} choices */
  offer({ experiments, suites }) {
    this.experiments = experiments;
    this.list.replaceChildren(...experiments.map((one) => this.option(one)));
    const fitting = h("option", { value: "" }, "those that fit");
    const named = suites.map(([name, prompts]) =>
      h("option", { value: name }, `${name} (${prompts})`),
    );
    this.suite.replaceChildren(fitting, ...named);
    this.change({ experiment: experiments[0]?.name ?? "" });
  }

  /** @param {LabExperiment} one */
  option({ name, question, conditions }) {
    const radio = h("input", {
      type: "radio",
      name: "experiment",
      value: name,
      onchange: () => this.change({ experiment: name, toml: null }),
    });
    return h(
      "label",
      { class: "experiment", title: conditions.join(", ") },
      radio,
      h("span", {}, question, " ", h("span", { class: "tag" }, name)),
    );
  }

  /** @param {Partial<LabChoice>} news */
  change(news) {
    this.choice = { ...this.choice, ...news };
    const { choice } = this;
    for (const radio of this.list.querySelectorAll("input"))
      radio.checked = !choice.toml && radio.value === choice.experiment;
    this.sizes.forEach((each, full) => {
      set(each, { "aria-pressed": String(choice.small === !full) });
    });
    this.suite.value = choice.suite;
    this.suite.disabled = Boolean(choice.jsonl);
    this.drawFiles();
    this.refresh();
  }

  drawFiles() {
    const named = (/** @type {"toml" | "jsonl"} */ kind) => {
      const file = this.choice[kind];
      if (!file) return [];
      const what = kind === "toml" ? "The question is that of" : "The prompts are those of";
      const away = () => this.change({ [kind]: null });
      const remove = button("✕", away, { class: "quiet", "aria-label": `Take ${file.name} away` });
      return [h("p", {}, `${what} ${file.name}. `, remove)];
    };
    this.files.replaceChildren(...named("toml"), ...named("jsonl"));
  }

  /** @param {File[]} files */
  async take(files) {
    /** @type {Partial<LabChoice>} */
    const news = {};
    for (const file of files) {
      const kind = file.name.endsWith(".toml") ? "toml" : "jsonl";
      if (!/\.(toml|jsonl)$/.test(file.name))
        return this.fail(`${file.name} is neither an experiment (.toml) nor prompts (.jsonl).`);
      if (file.size > MOST)
        return this.fail(`${file.name} is larger than 1 MiB; the command line takes it.`);
      news[kind] = { name: file.name, text: await file.text() };
    }
    this.file.value = "";
    this.change(news);
  }

  async save() {
    try {
      const text = await this.ask("lab_toml", this.choice.experiment);
      download(`${this.choice.experiment}.toml`, text, "application/toml");
    } catch (error) {
      this.fail(wordsOf(error));
    }
  }

  /** Ask again what the choice will take. */
  refresh() {
    clearTimeout(this.later);
    this.later = setTimeout(() => this.look(), SOON);
  }

  async look() {
    this.asked += 1;
    const { asked } = this;
    try {
      /** @type {LabForecast} */
      const forecast = await this.ask("lab_forecast", this.choice);
      if (asked !== this.asked) return;
      this.fail("");
      setText(this.size, sizeWords(forecast));
      const other = forecast.asks_for
        ? ` It names the model ${forecast.asks_for}; here it runs on the one in use.`
        : "";
      setText(this.takes, takesWords(forecast) + other);
      this.fits = forecast.missing > 0 && forecast.space < forecast.free;
    } catch (error) {
      if (asked !== this.asked) return;
      this.fail(wordsOf(error));
      setText(this.size, "");
      setText(this.takes, "");
      this.fits = false;
    }
    this.stand(this.busy);
  }

  /** @param {string} words */
  fail(words) {
    setText(this.problem, words);
  }

  /** Whether a run is going, beside which there is no other. @param {boolean} busy */
  stand(busy) {
    this.busy = busy;
    this.go.disabled = busy || !this.fits;
    this.go.title = busy ? "The laboratory does one run at a time." : "";
  }

  async begin() {
    try {
      await this.start(this.choice);
    } catch (error) {
      this.fail(wordsOf(error));
    }
  }
}

// What the laboratory's questions answer, as Python says it (tests/web holds it to this).

interface LabExperiment {
  name: string;
  question: string;
  suite: string;
  conditions: string[];
  cells: [small: number, full: number];
}
interface LabChoices {
  experiments: LabExperiment[];
  suites: [name: string, prompts: number, genres: number][];
  store: string;
}
/** A file that somebody has opened here. */
interface LabFile {
  name: string;
  text: string;
}
/** What is to be run; "" and null leave it to the experiment. */
interface LabChoice {
  experiment: string;
  suite: string;
  small: boolean;
  toml: LabFile | null;
  jsonl: LabFile | null;
}
interface LabForecast {
  experiment: string;
  question: string;
  suite: string;
  model: string;
  /** The model that the experiment itself names, mostly "". */
  asks_for: string;
  conditions: string[];
  prompts: number;
  seeds: number;
  samples: number;
  length: number;
  run: string;
  total: number;
  present: number;
  missing: number;
  tokens: number;
  rate: number | null;
  measured: boolean;
  seconds: number | null;
  space: number;
  free: number;
}
interface LabProgress {
  total: number;
  before: number;
  done: number;
  written: number;
  failed: number;
  tokens: number;
  seconds: number;
  seconds_left: number | null;
  failures: { condition: string; prompt: string; message: string }[];
  rate: number | null;
  /** Who gives no answer, and until when it is waited for, in seconds since 1970; null is no more. */
  absent: { who: string; reason: string; since: number; until: number | null }[];
}
type LabPhase =
  | "idle"
  | "waiting"
  | "writing"
  | "paused"
  | "stopping"
  | "done"
  | "stopped"
  | "failed";
interface LabStatus {
  phase: LabPhase;
  going: boolean;
  experiment: string;
  suite: string;
  run: string;
  model: string;
  words: string;
  number: number;
  progress: LabProgress | null;
}
interface LabRun {
  run: string;
  experiment: string;
  question: string;
  suite: string;
  model: string;
  /** Seconds since 1970. */
  begun: number;
  length: number;
  conditions: string[];
  done: number;
  total: number;
}
interface LabMetric {
  name: string;
  label: string;
  arrow: string;
  direction: string;
  meaning: string;
  source: string;
  range: string;
  unit: string;
  family: string;
}
interface LabNumber {
  mean: string;
  value: number | null;
  interval: string;
  difference: string;
  p: string;
  prompts: string;
  says: string;
  better: number;
  differs: boolean;
  /** Whether it holds among all that are compared in this metric. */
  firm: boolean;
}
interface LabColumn extends LabMetric {
  /** Whether it is shown before all are asked for. */
  usual: boolean;
  cells: Record<string, LabNumber>;
}
interface LabTable {
  baseline: string;
  conditions: string[];
  prompts: number;
  embedder: string;
  metrics: LabColumn[];
}
interface LabNumbers {
  number: number;
  /** Why there is no table; null where the page has this one. */
  words: string | null;
  table: LabTable | null;
}
interface LabPromptValue {
  prompt: string;
  genre: string;
  baseline: number | null;
  value: number | null;
}
interface LabText {
  cell: string;
  seed: number;
  sample: number;
  text: string;
  tokens: number;
  finish: string;
}
interface LabSamples {
  run: string;
  condition: string;
  beside: string | null;
  prompt: string;
  text: string;
  prompts: [id: string, genre: string, there: boolean][];
  rows: { own: LabText | null; beside: LabText | null }[];
  missing: number;
}
interface LabPair {
  first: string;
  second: string;
  difference: string;
  /** How much the condition's own difference from the baseline is another; "" for the baseline. */
  effect: string;
  says: string;
  better: number;
  differs: boolean;
  /** Whether it holds among all that are compared in this metric. */
  firm: boolean;
}
interface LabComparison {
  runs: { name: string; run: string; experiment: string; suite: string; prompts: number }[];
  conditions: string[];
  embedder: string;
  metrics: (LabMetric & { usual: boolean; cells: Record<string, LabPair> })[];
}
interface LabFigureInfo {
  name: string;
  label: string;
  meaning: string;
  sentence: string;
  /** Those that it may show one of. */
  metrics: Option[];
}
/** What a figure is asked for with. */
interface LabDraw {
  token: string;
  run: string;
  baseline: string | null;
  figure: string;
  metric: string;
  dark: boolean;
  /** Pixels that it has. */
  width: number;
}

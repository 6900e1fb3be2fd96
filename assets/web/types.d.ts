// What Python and the page say to one another, and what the page makes of it. All of it is global,
// so that any module names it in its JSDoc. `tests/web` checks these types against what Python
// really writes.

// ---- What the controls are made from (controls.specification)

type KnobName =
  | StackKnob
  | "rho"
  | "tau"
  | "max_new_tokens"
  | "seed"
  | "top_candidates"
  | "figure_width"
  | "seeds";
type StackKnob =
  | "repetition_penalty"
  | "presence_penalty"
  | "frequency_penalty"
  | "penalty_window"
  | "dry_multiplier"
  | "dry_base"
  | "dry_allowed_length"
  | "dry_window"
  | "temperature"
  | "dynatemp_range"
  | "dynatemp_exponent"
  | "top_n_sigma"
  | "top_k"
  | "top_p"
  | "min_p"
  | "typical_p"
  | "epsilon_cutoff"
  | "eta_cutoff";
/** A value and the words for it. */
type Option = [value: string, label: string];

interface KnobSpec {
  name: KnobName;
  label: string;
  help: string;
  hint: string;
  interval: string;
  min: number;
  max: number | null;
  /** Whether the bound itself is left out: of `min`, of `max`. */
  open: [boolean, boolean];
  default: number;
  /** The ends of its slider. */
  low: number;
  high: number | null;
  step: number;
  integer: boolean;
}

interface Spec {
  knobs: Record<KnobName, KnobSpec>;
  stack: StackKnob[];
  strategies: Option[];
  newlines: Option[];
  /** All stages of the stack, with their names for people, in the default order. */
  order: Option[];
  /** The knobs that switch a stage on. */
  switches: Record<string, StackKnob[]>;
  /** The knobs of the stack under headings. */
  groups: [label: string, names: StackKnob[]][];
  /** What all lanes may stand on before XTC acts: the cutoffs, the usual one first. */
  bases: Base<number>[];
  /** The engines whose rules are known, the paper first. */
  engines: EngineSpec[];
  maxLanes: number;
  maxTokens: number | null;
  strengths: LaneSettings[];
  comparators: LaneSettings[];
  baseline: LaneSettings;
  settings: RunSettings;
  examples: { genre: string; text: string }[];
  case: Case;
  /** The forms in which other programs write their settings. */
  forms: Option[];
  /** Whether there is a laboratory beside this page. */
  lab: boolean;
}
interface EngineSpec {
  name: string;
  label: string;
  /** What its rule does otherwise than the paper's, in a sentence. */
  meaning: string;
  /** Its own order, with every stage; those that it has not are in `lacks`. */
  order: string[];
  lacks: string[];
  /** The τ above which it does nothing, null where its rule says nothing of that. */
  inert: number | null;
  /** What temperature 0 does to XTC. */
  zero: "acts" | "skipped";
  source: string;
  seed: string;
  remarks: string[];
}
/** What samplers do to variety and to the words drawn, measured on the story model. */
interface Case {
  model: string;
  prompts: number;
  seeds: number;
  length: number;
  /** A word is improbable below this probability. */
  improbable: number;
  samplers: {
    name: string;
    texts: number;
    tokens: number;
    distinct2: Estimate;
    repeated3: Estimate;
    improbable: Estimate;
  }[];
}
/** A value with its 95 % interval. */
interface Estimate {
  value: number;
  low: number;
  high: number;
}

// ---- Settings. In a draft what was typed stays as it is: N may then be text.

type Typed = number | string;

interface Xtc<N = number> {
  rho: N;
  tau: N;
  strategy: string;
  protected: number[];
  /** The engine whose rule it is, by its name; without one the paper's. */
  dialect?: string;
}
/** `order` names all stages in the order in which they act, `dry_breakers` are token ids. */
type Sampler<N = number> = Record<StackKnob, N> & {
  xtc: Xtc<N>;
  order: string[];
  dry_breakers: number[];
};
/** The knobs of all stages that drop words, but for XTC. */
type Base<N = Typed> = { [K in StackKnob]?: N };
interface LaneSettings<N = number> {
  name: string;
  sampler: Sampler<N>;
}
interface RunSettings<N = number> {
  lanes: LaneSettings<N>[];
  seed: N;
  max_new_tokens: N;
  shared_randomness: boolean;
  stop: string[];
  top_candidates: number;
  /** The model's server draws by itself, with its own XTC. */
  server_draws: boolean;
}
interface Protection {
  eos: boolean;
  newline: string;
  texts: string[];
}
/** What the composer asks for. */
interface Draft {
  prompt: string;
  system: string;
  chat: boolean;
  thinking: boolean;
  settings: RunSettings<Typed>;
  protect: Protection;
}

// ---- A run (ui/run.py, ui/payload.py)

/** [token, text, outcome with flags, p, rank, entropy, eligible, removed mass, sign]. */
type ChipValues =
  | [number, string, number, number, number, number, number, number]
  | [number, string, number, number, number, number, number, number, string];

interface HeadLane {
  name: string;
  sampler: Sampler;
  /** [lane, position] that it goes on from with another token. */
  branch: [number, number] | null;
}
interface RunHead {
  prompt: string;
  pieces: string[];
  system: string;
  chat: boolean;
  seed: number;
  length: number;
  shared: boolean;
  /** The model's server drew it, with its own XTC and dice. */
  server: boolean;
  stop: string[];
  thinking: boolean;
  protect: Protection;
  model: ModelLine;
  lanes: HeadLane[];
}
interface LaneStats {
  tokens: number;
  outcomes: number[];
  changed: number;
  /** Words from below τ, drawn where XTC had fired. */
  tail: number;
  removed: number | null;
  distinct2: number | null;
  repeated3: number | null;
  rate?: number;
  /** Tokens, firings and changed words of the thought. */
  thought?: [number, number, number];
  answering?: boolean;
}
type RunState =
  | ""
  | "starting"
  | "waiting"
  | "running"
  | "done"
  | "stopped"
  | "failed"
  | "recorded"
  | "loaded";

/** What an answer about a run holds of it: whole with a head, else what is new. */
interface Message {
  req?: number;
  run?: string;
  head?: RunHead;
  state?: RunState;
  /** How many steps of each lane the page has, and the chips behind them. */
  at?: number[];
  add?: ChipValues[][];
  stats?: LaneStats[];
  finish?: (string | null)[];
  seconds?: number;
  /** How many runs are ahead of one that waits. */
  place?: number;
  note?: string;
  /** The columns of a trace file that this version knows nothing of. */
  unknown?: string[];
  /** [lane, position] to look at first. */
  select?: [number, number];
  error?: Problem;
}
interface Problem {
  message: string;
  field?: string;
  lane?: number;
  /** The page is from before the server's last start. */
  stale?: boolean;
  /** The server has the run no more that was asked about. */
  gone?: boolean;
}

// ---- The same request with many seeds (ui/spread.py)

/** How a number is written: in percent, in decimals, as a count. */
type SpreadUnit = "share" | "ratio" | "tokens";
/** A mean with its interval; the ends are null where there is none. */
type SpreadEstimate = [mean: number | null, low: number | null, high: number | null];
interface SpreadHead {
  prompt: string;
  seeds: number[];
  length: number;
  model: ModelLine;
  /** `tau` is the probability below which this lane's tail lies. */
  lanes: { name: string; sampler: Sampler; tau: number }[];
  quantities: { name: string; label: string; meaning: string; unit: SpreadUnit }[];
}
/** A seed that is there: a run of the server's store, and its texts, measured. */
interface SpreadRow {
  seed: number;
  run: string;
  /** `values` stand in the order of the quantities, null where one is not defined. */
  lanes: { text: string; finish: string | null; values: (number | null)[] }[];
}
/** By lane, in the order of the quantities; differences from the lane `reference`, seed by seed. */
interface SpreadSummary {
  reference: number;
  means: (SpreadEstimate | null)[][];
  differences: ((SpreadEstimate | null)[] | null)[];
}
interface SpreadMessage {
  req?: number;
  run?: string;
  state?: RunState;
  head?: SpreadHead;
  /** The seeds that are there since the message before. */
  rows?: SpreadRow[];
  /** How many there are by now in all texts. */
  tokens?: number;
  summary?: SpreadSummary | null;
  said?: string[];
  place?: number;
  note?: string;
  error?: Problem;
}

/** Text and token ids in turn. */
type Sentence = (string | number)[];
type Texts = Record<number, string>;
type Outcome = "unambiguous" | "skipped" | "protected" | "fired";

interface StepView {
  token: number;
  instead: number;
  outcome: Outcome;
  changed: boolean;
  coin: number;
  /** False where a server tossed no coin. */
  tossed: boolean;
  rho: number;
  tau: number;
  eligible: number;
  removed: number[];
  kept: number[];
  underdog: number;
  removed_mass: number;
  removable_mass: number;
  entropy: number;
  p: number;
  q: number;
  rank: number;
  forced: boolean;
  /** The model showed only the head of the distribution: not all is exact, `notes` says what. */
  bounded: boolean;
  ids: number[];
  /** What XTC received of each of them. */
  probs: number[];
  /**
   * What the token was drawn from, of each of them. Null where XTC is the last to act: then what
   * it left is only scaled up.
   */
  final: number[] | null;
  rest: number;
  /** The share of all words below τ: before XTC, and in what was drawn from. */
  tail: [before: number, after: number];
  /** Whether it is at most that: the model showed too few words. */
  tail_bound: boolean;
  said: Sentence;
  drew: Sentence;
  notes: Sentence[];
}
interface Block {
  first: number;
  steps: StepView[];
  texts: Texts;
}
interface Stage {
  name: string;
  probs: number[];
  rest: number;
  /** A cutoff, drawn over what the stage received. */
  line?: number;
  /** The mass at which it stops. */
  reach?: number;
}
interface StageView {
  ids: number[];
  texts: Texts;
  token: number;
  eligible: number[];
  removed: number[];
  stages: Stage[];
}

// ---- Settings in other programs' words (ui/engines.py)

interface TakenHome {
  text: string;
  remarks: string[];
  /** A name for a file of it. */
  file: string;
}
/** A setting there, its value there, our name for it, its value here. */
type TakenSetting = [name: string, value: string, label: string, ours: string];
interface BroughtHere {
  /** Null for settings of our own. */
  form: string | null;
  /** Whose rule and order the lane has, "" where the text does not say it. */
  engine: string;
  /** What it might come from as well. */
  others: string[];
  lane: LaneSettings;
  taken: TakenSetting[];
  /** What the text does not say, and the program has on. */
  assumed: TakenSetting[];
  problems: string[];
  /** Names that belong to no lane. */
  left: string[];
}

// ---- Engines (ui/engineview.py)

/** Engines that leave the same of a step. */
interface EngineGroup {
  engines: string[];
  effect: Outcome | "mixed" | "off";
  /** How many tokens are removed, shown or not. */
  count: number;
  eligible: number[];
  removed: number[];
  /** What is left of each token of the strip, and of all others. */
  probs: number[];
  rest: number;
  /** Why it is not what the first group leaves; empty for that one. */
  reasons: Sentence[];
  /** The record shows too little for all of it to be exact. */
  bound: boolean;
}
interface EngineStrips {
  ids: number[];
  /** What the engines received of each. */
  probs: number[];
  rest: number;
  /** The first holds the engine of the lane. */
  groups: EngineGroup[];
}
/** With the coin as it fell, and as if it had said yes. */
type EngineAnswer = Record<"own" | "fired", EngineStrips>;
interface EnginesView {
  chosen: string;
  rule: EngineAnswer;
  chain: EngineAnswer;
  texts: Texts;
  /** Those of the tokens that are protected. */
  guarded: number[];
}
interface EngineDifferences {
  steps: number[];
  causes: [words: string, count: number][];
}
interface EnginesAlong {
  chosen: string;
  steps: number;
  engines: { engine: string; exact: boolean; own: EngineDifferences; fired: EngineDifferences }[];
}
/** Numbers that somebody typed in. */
interface EngineNumbers {
  values: number[];
  logits: boolean;
  sampler: object;
}
/** `given` are the numbers as probabilities. */
type EnginesTyped = EnginesView & { given: number[] };

// ---- What if (ui/whatif.py)

interface WhatIfAnswer {
  outcomes: string;
  eligible: number[];
  mass: number[];
  counts: number[];
  recorded: number;
  exact: boolean;
  expected: number;
  removed: number;
  guarded: boolean;
  unsure: string[];
}
type OtherXtc = {
  rho: Typed;
  tau: Typed;
  strategy: string;
  /** Without one the paper's. */
  dialect?: string;
  protect?: Protection;
};
/** What a lane's steps would have been, and under which settings. */
type Imagined = WhatIfAnswer & { xtc: OtherXtc };
interface StrengthGrid {
  rhos: number[];
  taus: number[];
  interventions: number[][];
  removed: number[][];
}
interface NamedTokens {
  tokens: string[];
  more: number;
}
interface ProtectedTokens {
  model: string;
  kinds: NamedTokens;
  texts: NamedTokens[];
  eos: number;
  newline: number;
  count: number;
}

// ---- Models (payload.model_line, ui/models.py, ui/offers.py)

// ---- Whether a server does XTC as it is asked to (ui/audit.py)

/** What is found so far (audit/verdict.py); null is what is not known yet. */
interface AuditFinding {
  claim: { rho: number; tau: number };
  steps: number;
  known: boolean;
  acts: boolean | null;
  as_claimed: boolean | null;
  /** The best one, and the ends of its interval. */
  rho: number[];
  tau: number[];
  removable: number;
  through: number;
  place: string | null;
  ends_protected: boolean | null;
  more: number | null;
  sentence: string;
  effort: string;
}
/** The numbers that a server drew a token with; `source` is the place whose draw the coin is. */
interface DiceRow {
  word: string;
  draw: number;
  coin: number | null;
  source: number | null;
  outcome: string;
}
interface LaneDice {
  rho: number;
  rows: DiceRow[];
}
interface AuditMessage {
  req?: number;
  run?: string;
  state?: RunState;
  found?: AuditFinding;
  /** What there is to say of its dice, where these were asked for, */
  said?: string;
  /** and the beginning of one text, none where its dice are others. */
  rows?: DiceRow[];
  place?: number;
  note?: string;
  error?: Problem;
}

/** Null is what is not known of it: a model on a server has no device that anyone here knows. */
interface ModelLine {
  name: string;
  revision: string | null;
  parameters: number | null;
  dtype: string | null;
  device: string | null;
  /** How its lanes are decoded, such as "without a cache"; "" where it is as usual. */
  decoding: string | null;
  /** The server that it runs in; candidates are the most that it shows, null for all. */
  served: { kind: string; version: string; candidates: number | null } | null;
  /** Whether that server can draw by itself, so that it can be explained. */
  draws: boolean;
  context: number;
  chat: boolean;
  thinks: boolean;
}
interface LoadState {
  id: string;
  name: string;
  state: "waiting" | "loading" | "done" | "stopped" | "failed";
  place?: number;
  words?: string;
}
interface ModelState {
  model: ModelLine | null;
  phase: string;
  resting: boolean;
  /** The load that is on its way, empty without one. */
  load: string;
  share: number | null;
  note: string;
  may: "own" | "all" | "catalog" | "fixed";
  can_rest: boolean;
  /** The load that this page asked for. */
  own: LoadState | null;
}
interface CatalogEntry {
  id: string;
  parameters: number;
  kind: string;
  reasoning: string;
  licence: string;
  gated: boolean | null;
  need: string;
  fit: "fits" | "tight" | "no";
  here: string;
  precision: string | null;
  held: string;
}
type Choices = { precision: Option[]; device: Option[]; attention: Option[] };
interface CatalogAnswer {
  may: ModelState["may"];
  choices?: Choices;
  /** The addresses of servers that may be chosen beside what the list holds. */
  servers?: string[];
  /** Whether any other address may be typed, and a folder of its tokenizer. */
  addresses?: boolean;
  machine?: { gpus: string[]; memory: string; free: string };
  models?: CatalogEntry[];
}

// ---- Where the answers come from: gradio, or what a replay holds

type RunRequest =
  | ({ kind: "run" } & Draft)
  /** Without a lane, all lanes that have not ended. */
  | { kind: "continue"; run: string; more: Typed; lane?: number }
  /** The lane's text as it was edited, and how many tokens more. */
  | { kind: "edit"; run: string; lane: number; text: string; more: Typed }
  | ({ kind: "branch"; run: string; lane: number; i: number } & (
      | { token: number }
      | { text: string }
    ));

/** `seeds` is how many: the draft's own and those that follow it. */
type SpreadRequest = { kind: "spread"; seeds: Typed } & Draft;
interface SpreadEnds {
  onmessage: (message: SpreadMessage) => void;
  oncut: (req: number) => void;
}

interface AuditRequest {
  kind: "audit";
  rho: Typed;
  tau: Typed;
  /** Look at the server's dice instead. */
  dice: boolean;
}
interface AuditEnds {
  onmessage: (message: AuditMessage) => void;
  oncut: (req: number) => void;
}

/** One view as an interactive file (ui/figures.py). */
interface WantedFigure {
  view: string;
  lane: number;
  i: number;
  mate: number;
  candidates: number;
  log: boolean;
  part: "rule" | "chain";
  which: "own" | "fired";
  width: number;
  name: string;
  caption: string[];
}

/** The parts that only a server has are missing in a replay. */
interface Transport {
  block(
    run: string,
    lane: number,
    index: number,
    candidates: number,
    xtc: OtherXtc | null,
  ): Promise<Block>;
  run?(request: RunRequest & { req: number }): void;
  spread?(request: SpreadRequest & { req: number }, ends: SpreadEnds): void;
  stop?(run: string): unknown;
  stages?(run: string, lane: number, i: number, candidates: number): Promise<StageView>;
  whatIf?(run: string, lane: number, xtc: OtherXtc): Promise<WhatIfAnswer>;
  engines?(run: string, lane: number, i: number, xtc: OtherXtc | null): Promise<EnginesView>;
  engineStages?(
    run: string,
    lane: number,
    i: number,
    engine: string,
    xtc: OtherXtc | null,
  ): Promise<StageView>;
  enginesAlong?(run: string, lane: number, xtc: OtherXtc | null): Promise<EnginesAlong>;
  enginesTyped?(numbers: EngineNumbers): Promise<EnginesTyped>;
  tokens?(protect: Protection): Promise<ProtectedTokens | null>;
  becomes?(run: string, lane: number, i: number, text: string): Promise<NamedTokens | null>;
  strength?(run: string, lane: number, xtc: OtherXtc): Promise<StrengthGrid>;
  dice?(run: string, lane: number): Promise<LaneDice>;
  export?(run: string, kind: string): Promise<string>;
  figure?(run: string, wanted: WantedFigure, xtc: (OtherXtc | null)[]): Promise<string>;
  takeHome?(
    lane: LaneSettings<Typed>,
    form: string,
    protect: Protection | null,
  ): Promise<TakenHome>;
  bringHere?(text: string, form: string | null): Promise<BroughtHere>;
  load?(text: string): Promise<Message>;
  open?(run: string, at: number[]): Promise<Message | null>;
  /** Stored texts of the laboratory, by their names. */
  cell?(names: string[]): Promise<Message>;
}
interface ModelTransport {
  hello(load: string | null): Promise<ModelState>;
  models(precision: string, device: string): Promise<CatalogAnswer>;
  chooseModel(data: Record<string, string>): Promise<string>;
  stopModel(load: string | null): Promise<boolean>;
  putAway(): Promise<ModelState>;
  audit(request: AuditRequest & { req: number }, ends: AuditEnds): void;
  stop(run: string): unknown;
}

// ---- What the page makes of it

/** A position in the text of a lane. */
interface Place {
  lane: number;
  i: number;
}
/** How the inspector shows a step, as far as a figure of it follows. */
interface Drawn {
  log: boolean;
  mate: number;
  part: "rule" | "chain";
  which: "own" | "fired";
}
/** Steps of a lane that are marked on the timeline, in rising order; `words` say what they are. */
interface Marks {
  lane: number;
  steps: number[];
  words: string;
}
interface Chip {
  id: number;
  text: string;
  /** A place in OUTCOMES. */
  outcome: number;
  changed: boolean;
  forced: boolean;
  /** It lay below τ, and XTC had fired. */
  tail: boolean;
  p: number;
  rank: number;
  entropy: number;
  eligible: number;
  mass: number;
  /** The model showed only the head of the distribution that it was drawn from. */
  bounded: boolean;
  sign: string | undefined;
}
/** What a chip shows: what happened, or in a what-if what would have. */
interface ChipOutcome {
  outcome: number;
  eligible: number;
  mass: number;
  changed: boolean;
  tail: boolean;
  imagined?: boolean;
}
interface RunLane {
  readonly chips: Chip[];
  readonly stats: LaneStats | null;
  readonly finish: string | null;
  /** Where it leaves the first lane, -1 where it does not. */
  readonly splits: number;
  readonly imagined: Imagined | null;
  /** Whether the model showed only the heads of some distributions. */
  readonly bounded: boolean;
}
/** From where the selection was changed: some views then keep still. */
type Cause = "" | "step" | "key" | "pointer" | "hover" | "timeline";

/** One step of one lane as the inspector shows it. */
interface Look {
  at: Place;
  name: string;
  step: StepView;
  texts: Texts;
  sampler: Sampler<Typed>;
  tag: string;
  word: string;
  said: Sentence;
  imagined: boolean;
  pending: boolean;
}

type Props = Record<string, unknown>;
type Leaf = string | Node | null | undefined;
type Child = Leaf | (Leaf | Leaf[])[];

// The two lines of numbers over a lane: of all its steps, or of those that are shown so far.

import { count, decimal, percent } from "../core/format.js";
import { FIRED, isFromTail, OUTCOMES } from "../session/chips.js";

/** @type {Record<string, string>} */
const FINISH = {
  eos: "end of text",
  stop: "stop text",
  length: "length reached",
  context: "context full",
};

/**
 * The numbers of the tokens shown so far, step by step; those of all come from the server.
 * @param {Pick<Chip, "outcome" | "mass" | "changed" | "tail">[]} chips
 */
function tally(chips) {
  const outcomes = OUTCOMES.map((_, n) => chips.filter((chip) => chip.outcome === n).length);
  const mass = chips.reduce((sum, chip) => sum + (chip.outcome === FIRED ? chip.mass : 0), 0);
  return {
    outcomes,
    changed: chips.filter((chip) => chip.changed).length,
    tail: chips.filter((chip) => chip.tail).length,
    removed: outcomes[FIRED] ? mass / outcomes[FIRED] : null,
  };
}

/**
 * The same under other settings, as far as they say it: what was drawn then, nobody knows.
 * @param {Imagined} imagined
 * @param {Chip[]} chips
 * @param {number} from
 * @param {number} until
 */
function imagine(imagined, chips, from, until) {
  const others = [...imagined.outcomes].slice(from, until).map((digit, i) => {
    const outcome = Number(digit);
    const place = { ...chips[from + i], outcome, eligible: imagined.eligible[from + i] };
    const mass = imagined.mass[from + i] / 1e4;
    return { outcome, mass, changed: false, tail: isFromTail(place) };
  });
  return { ...tally(others), changed: null };
}

/**
 * `until` tokens of a lane are shown; `off` says that XTC is off there. Thoughts do not count. In a
 * what-if the first line says how often it fired and would fire, the second what would have been.
 * @param {Pick<RunLane, "finish" | "chips" | "imagined" | "bounded">} lane
 * @param {LaneStats} stats
 * @param {number} until
 * @param {boolean} off
 * @returns {[string, string]}
 */
export function numbers({ finish, chips, imagined, bounded }, stats, until, off) {
  const thought = stats.thought?.[0] ?? 0;
  const whole = until >= chips.length;
  const was = whole ? stats : tally(chips.slice(thought, until));
  const seen = imagined ? imagine(imagined, chips, thought, until) : was;
  const fired = imagined
    ? `fired ${was.outcomes[FIRED]} → ${seen.outcomes[FIRED]} (what if)`
    : `fired ${seen.outcomes[FIRED]}`;
  const parts = [whole ? count(stats.tokens, "token") : `${until} of ${chips.length} tokens`];
  if (stats.rate) parts.push(`${decimal(stats.rate, stats.rate < 10 ? 1 : 0)} tokens/s`);
  if (!thought) parts.push(fired);
  else if (until > thought) parts.push(`in the answer: ${fired}`);
  else parts.push("no answer yet");
  if (seen.changed !== null && (until > thought || !thought)) parts.push(`changed ${seen.changed}`);
  if (bounded) parts.push("seen in part");
  if (finish && whole) parts.push(FINISH[finish] ?? finish);
  if (thought && until <= thought) {
    return [parts.join(" · "), "The numbers are those of the answer; thoughts do not count."];
  }
  const more = off
    ? [`XTC is off; it had ${count(seen.outcomes[1], "chance")}`]
    : [`${seen.outcomes[1]} skipped by the coin`];
  if (seen.outcomes[2]) more.push(`${seen.outcomes[2]} protected`);
  if (seen.tail) more.push(`${seen.tail} from below τ`);
  if (seen.removed !== null) more.push(`${percent(seen.removed)} removed on average`);
  // The words are the same, and so are the numbers of the words.
  const words = whole && !imagined;
  if (words && stats.distinct2 !== null) more.push(`distinct-2 ${decimal(stats.distinct2)}`);
  if (words && stats.repeated3 !== null) more.push(`repeated trigrams ${percent(stats.repeated3)}`);
  const start = (imagined ? "What if: " : "") + (thought ? "Answer only: " : "");
  return [parts.join(" · "), start + more.join(" · ")];
}

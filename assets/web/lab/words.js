// What the laboratory says in words: how long, how much, how a run stands. Pure.

import { count } from "../core/format.js";

/** A time in its two largest units, rounded up: `1 min 40 s`. @param {number} seconds */
export function duration(seconds) {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** @param {number} bytes */
export function space(bytes) {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(bytes < 1e10 ? 1 : 0)} GB`;
  return `${Math.max(1, Math.round(bytes / 1e6)).toLocaleString("en")} MB`;
}

/** @param {number} n */
const number = (n) => n.toLocaleString("en");

/** What a choice comes to. @param {LabForecast} forecast */
export function sizeWords({ total, prompts, conditions, seeds, samples, length, model, suite }) {
  const ways = [
    count(prompts, "prompt"),
    count(conditions.length, "setting"),
    ...(seeds > 1 ? [count(seeds, "seed")] : []),
    count(samples, "sample"),
  ];
  return (
    `${count(total, "text")} of at most ${number(length)} tokens: ${ways.join(" × ")}, ` +
    `prompts “${suite}”, on ${model}.`
  );
}

/** What it will take. @param {LabForecast} forecast */
export function takesWords({ missing, present, seconds, rate, measured, space: bytes, free }) {
  const there = present ? `${number(present)} are there already. ` : "";
  if (!missing) return "All of them are there already: nothing is left to write.";
  const pace = rate ? ` at ${number(Math.round(rate))} tokens/s` : "";
  const how = measured ? "as fast as this model is here" : "as stored texts went";
  const time =
    seconds === null
      ? "How long that takes is not known before this model has written some; the small size says."
      : `About ${duration(seconds)}${pace}, ${how}.`;
  return (
    `${there}${present ? `${number(missing)} are missing. ` : ""}${time} ` +
    `About ${space(bytes)} of the ${space(free)} that are free.`
  );
}

/** @type {Record<LabPhase, string>} */
const PHASES = {
  idle: "",
  waiting: "Waiting for the model …",
  writing: "Writing",
  paused: "Paused: somebody's run on the page goes first. It goes on by itself",
  stopping: "Stopping …",
  done: "Done",
  stopped: "Stopped. What was written is stored",
  failed: "",
};

/** How a run stands. @param {LabStatus} status */
export function standWords({ phase, words, progress }) {
  const parts = [phase === "failed" ? words.replace(/\.$/, "") : PHASES[phase]];
  if (progress) {
    const [away] = phase === "writing" ? progress.absent : [];
    if (away?.until) parts[0] = `${away.reason} It is waited for until ${clock(away.until)}`;
    const { done, total, failed, rate, seconds_left: left } = progress;
    parts.push(`${number(done)} of ${number(total)} texts`);
    if (failed) parts.push(`${number(failed)} failed`);
    if (phase === "writing" && rate && !away) parts.push(`${number(Math.round(rate))} tokens/s`);
    if ((phase === "writing" || phase === "paused") && left && !away)
      parts.push(`${duration(left)} left`);
  }
  return parts.filter(Boolean).join(" · ");
}

/** @param {number} n */
const two = (n) => String(n).padStart(2, "0");

/** A time of day, as the reader's clock says. @param {number} seconds since 1970 */
export function clock(seconds) {
  const date = new Date(1000 * seconds);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** When a run began, as the reader's clock says. @param {number} seconds since 1970 */
export function day(seconds) {
  const date = new Date(1000 * seconds);
  const month = two(date.getMonth() + 1);
  return `${date.getFullYear()}-${month}-${two(date.getDate())} ${clock(seconds)}`;
}

// A lane's text to take away: plain, as Markdown, and what its file is called. Pure.

import { count } from "../core/format.js";
import { laneTag } from "../core/lanetag.js";

/** @import { Names } from "../core/lanetag.js" */
/** @typedef {{ head: RunHead, lanes: readonly Pick<RunLane, "chips">[] }} Texts */

/** What lane k wrote, without the prompt. @param {Texts} run @param {number} k */
export function written({ lanes }, k) {
  return lanes[k].chips.map((chip) => chip.text).join("");
}

/** Prompt and text; a chat's answer stands apart from its question. @param {Texts} run @param {number} k */
export function plainText(run, k) {
  return run.head.prompt + (run.head.chat ? "\n\n" : "") + written(run, k);
}

/**
 * Text that reads in Markdown as it stands: its signs mean nothing, its lines stay lines.
 * @param {string} text
 */
export function escaped(text) {
  return text
    .replace(/[ \t]+$/gm, "")
    .replace(/[\\`*_[\]<>|~]/g, "\\$&")
    .replace(/^(\s*)([#+-])/gm, "$1\\$2")
    .replace(/^(\s*\d+)([.)])/gm, "$1\\$2")
    .replace(/([^\n])\n(?=[^\n])/g, "$1  \n");
}

/**
 * A heading with the lane's name, its text, and how it was written. An answer of a chat stays as it
 * is, since it may be Markdown itself.
 * @param {Texts} run
 * @param {number} k
 * @param {Names} spec
 */
export function markdown(run, k, spec) {
  const { head, lanes } = run;
  const { name, sampler } = head.lanes[k];
  const body = head.chat
    ? `> ${head.prompt.replaceAll("\n", "\n> ")}\n\n${written(run, k)}`
    : escaped(plainText(run, k));
  const facts = [laneTag(sampler, spec), head.model.name, `seed ${head.seed}`];
  const foot = [...facts, count(lanes[k].chips.length, "token")].join(" · ");
  return `## ${escaped(name)}\n\n${body.trim()}\n\n*${escaped(foot)}*\n`;
}

/**
 * A file's name, from how the text begins and the lane's name: `once-upon-a-time-xtc.txt`.
 * @param {RunHead} head
 * @param {number} k
 * @param {string} ending
 */
export function fileName(head, k, ending) {
  const words = `${head.prompt.split(/\s+/).slice(0, 5).join(" ")} ${head.lanes[k].name}`;
  const plain = words.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  return `${plain.replace(/^-|-$/g, "").slice(0, 60) || "text"}.${ending}`;
}

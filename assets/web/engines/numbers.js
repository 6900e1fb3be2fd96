// Numbers that somebody typed in: words with their probabilities or logits. Pure.

const LINE = /^(.*?)\s*([-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[-+]?\d+)?)\s*(%?)\s*(\*?)$/i;
const MOST = 64;

/**
 * Words with numbers, one a line, or numbers alone in a row. A `*` behind a number, or behind a word
 * that has one, protects the word; "40 %" is 0.4.
 * @param {string} text
 * @returns {{ values: number[], names: string[], protect: number[], wrong: string }}
 */
export function readNumbers(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  const row = lines.length === 1 && /^[-+\d.,e%*;\s]+$/i.test(lines[0]);
  const parts = row ? lines[0].split(/;|,\s+|\s+(?![%*])/).filter((part) => part.trim()) : lines;
  /** @type {ReturnType<typeof readNumbers>} */
  const result = { values: [], names: [], protect: [], wrong: "" };
  for (const [i, part] of parts.entries()) {
    const match = LINE.exec(part.trim());
    if (!match) return { ...result, wrong: `“${part.trim()}” has no number at its end.` };
    const [, before, number, share, guard] = match;
    const name = before.replace(/[:=\t]+$/, "").trim();
    const starred = /.\*$/.test(name);
    const value = Number(number.replace(",", ".")) / (share ? 100 : 1);
    if (!Number.isFinite(value)) return { ...result, wrong: `“${number}” is no number.` };
    result.values.push(value);
    result.names.push((starred ? name.slice(0, -1).trim() : name) || `word ${i + 1}`);
    if (guard || starred) result.protect.push(i);
  }
  if (!parts.length) result.wrong = "Type some numbers.";
  if (parts.length > MOST) result.wrong = `At most ${MOST} numbers can be compared.`;
  return result;
}

/**
 * What is wrong with numbers as probabilities; "" for nothing. More than 1 in all are weights.
 * @param {number[]} values
 */
export function faultOf(values) {
  const negative = values.find((value) => value < 0);
  if (negative !== undefined) return `A probability cannot be ${negative}. Are these logits?`;
  return values.every((value) => value === 0) ? "One of them must be above 0." : "";
}

/**
 * Numbers to begin with, each of which tells some engines apart.
 * @type {{ label: string, text: string, part: "rule" | "chain",
 *   values: { tau: number, temperature: number, min_p: number } }[]}
 */
export const EXAMPLES = [
  {
    label: "A tie",
    text: "town 0.4\nhouse 0.3\nvillage 0.15\ncastle 0.15",
    part: "rule",
    values: { tau: 0.1, temperature: 1, min_p: 0 },
  },
  {
    label: "Exactly τ",
    text: "town 0.5\nhouse 0.25\nvillage 0.125\ncastle 0.125",
    part: "rule",
    values: { tau: 0.25, temperature: 1, min_p: 0 },
  },
  {
    label: "A protected word",
    text: "town 0.4\n↵ 0.3 *\nvillage 0.2\ncastle 0.1",
    part: "rule",
    values: { tau: 0.15, temperature: 1, min_p: 0 },
  },
  {
    label: "Temperature",
    text: "town 0.6\nhouse 0.25\nvillage 0.09\ncastle 0.06",
    part: "chain",
    values: { tau: 0.1, temperature: 1.8, min_p: 0 },
  },
];

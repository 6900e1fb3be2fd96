// The text of a trace file that somebody opens, unpacked within bounds. Pure.

import { quoted } from "../core/errors.js";

const MOST = 50_000_000; // bytes of a file's text, as on the server
const GZIP = [0x1f, 0x8b];
const NAME = 60; // characters of a file's name in words
const UTF8 = new TextDecoder("utf-8", { fatal: true });

/**
 * The text of a file, compressed or not.
 * @param {File} file
 * @returns {Promise<string>}
 * @throws {Error} in words: it is no trace, cut short, or too large
 */
export async function traceText(file) {
  const name = quoted(file.name, NAME);
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = first === GZIP[0] && second === GZIP[1];
  const plain = file.stream();
  const parts = await gathered(
    packed ? plain.pipeThrough(new DecompressionStream("gzip")) : plain,
    {
      large: `${name} is too large: a trace has at most ${MOST / 1e6} MB of text.`,
      broken: packed
        ? `${name} is broken or cut short: it cannot be unpacked.`
        : `${name} cannot be read.`,
    },
  );
  const bytes = await new Blob(parts).arrayBuffer();
  let text = "";
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw new Error(`${name} is no trace: it is no text.`);
  }
  if (!/^\s*\{/.test(text)) throw new Error(`${name} is no trace, but another kind of file.`);
  return text;
}

/**
 * All parts of a stream, which is left as soon as it is too long: a small file may unpack to
 * gigabytes.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream
 * @param {{ large: string, broken: string }} words
 */
async function gathered(stream, { large, broken }) {
  const reader = stream.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const part = await reader.read().catch(() => null);
    if (!part) throw new Error(broken);
    if (part.done) return parts;
    size += part.value.byteLength;
    if (size > MOST) {
      reader.cancel().catch(() => {});
      throw new Error(large);
    }
    parts.push(part.value);
  }
}

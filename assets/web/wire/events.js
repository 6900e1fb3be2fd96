// The stream in which gradio's queue tells of an event: lines of JSON, texts as what is new in them.
// Pure.

import { AwayError } from "./errors.js";

/** Something that the queue says. @typedef {{
 *   msg: string, event_id?: string | null, success?: boolean, message?: string,
 *   output?: { data?: unknown[], error?: string | null },
 * }} QueueMessage */

/**
 * The messages of a stream, one by one. A line that is broken off at its end is none. Throws
 * `AwayError` where the stream breaks.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @returns {AsyncGenerator<QueueMessage, void, void>}
 */
export async function* queueMessages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(() => {
        throw new AwayError();
      });
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data:")) yield JSON.parse(line.slice("data:".length));
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // who listens no more says so to the server
  }
}

/**
 * The text after an update: the first one is whole, those after it are edits of the one before.
 * @param {string | null} text
 * @param {unknown} update
 * @returns {string}
 */
export function edited(text, update) {
  if (typeof update === "string") return update;
  let now = text ?? "";
  for (const [action, path, value] of /** @type {[string, unknown[], string][]} */ (update)) {
    if (path.length || (action !== "replace" && action !== "append")) {
      throw new Error(`The server edits a text by “${action}”, which this page does not know.`);
    }
    now = action === "append" ? now + value : value;
  }
  return now;
}

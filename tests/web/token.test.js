// The token in what the page posts to its own server, and to no other.

import assert from "node:assert/strict";
import test from "node:test";
import { Token } from "../../assets/web/token.js";

const HOME = "https://xtc.example/tools/";

/** A server that notes what comes to it, and whose token is `token`. */
function server(token) {
  const requests = [];
  const send = async (input, init) => {
    requests.push({ url: String(input), token: new Headers(init?.headers).get("x-xtc-viz-token") });
    return { ok: true, json: async () => ({ token }) };
  };
  return { requests, send };
}

test("what is posted to the server carries the token", async () => {
  const { requests, send } = server("a");
  const token = new Token("a", HOME, send);
  await token.fetch(`${HOME}gradio_api/queue/join?`, { method: "POST", headers: { b: "c" } });
  await token.fetch("gradio_api/cancel", { method: "post" });
  assert.deepEqual(
    requests.map(({ token }) => token),
    ["a", "a"],
  );
});

test("nothing else does", async () => {
  const { requests, send } = server("a");
  const token = new Token("a", HOME, send);
  await token.fetch(`${HOME}config`);
  await token.fetch("https://elsewhere.example/gradio_api/queue/join", { method: "POST" });
  await token.fetch("https://xtc.example.evil.example/tools/", { method: "POST" });
  await token.fetch(new URL("https://xtc.example/other"), { method: "POST" });
  assert.deepEqual(
    requests.map(({ token }) => token),
    [null, null, null, null],
  );
});

test("a page that outlives its server learns the new token", async () => {
  const { requests, send } = server("b");
  const token = new Token("a", HOME, send);
  assert.equal(await token.renew(), true);
  assert.equal(await token.renew(), false);
  await token.fetch(`${HOME}x`, { method: "POST" });
  assert.equal(requests[0].url, `${HOME}xtc_viz/start`);
  assert.equal(requests[2].token, "b");
});

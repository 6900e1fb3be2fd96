"""A visitor over plain HTTP: what the page's own script asks of the server, without a browser."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Self

import httpx

from tests.attacks.values import Attack, request
from xtc_viz.ui.gate.token import HEADER

API = "/gradio_api"


class Visitor:
    """One visitor of a page, with a session of their own. Use it in `async with`.

    `address` is where they come from, as a proxy in front of the page would say it.
    """

    def __init__(self, url: str, address: str = "", timeout: float = 60.0) -> None:
        self.http = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            timeout=timeout,
            limits=httpx.Limits(max_connections=None),
            headers={"x-forwarded-for": address} if address else {},
        )
        self.session = secrets.token_hex(8)
        self.component = self.event = 0
        self.requests = 0

    async def __aenter__(self) -> Self:
        start = (await self.http.get("/xtc_viz/start")).json()
        self.http.headers[HEADER] = start["token"]
        config = (await self.http.get("/config")).json()
        ours = (c for c in config["components"] if c["props"].get("elem_id") == "xtc-viz")
        self.component = int(next(ours)["id"])
        events = config["dependencies"]
        self.event = next(e["id"] for e in events if [self.component, "run"] in e["targets"])
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def post(self, path: str, body: object) -> httpx.Response:
        """Post JSON as text that may hold what no valid Unicode is."""
        kind = {"content-type": "application/json"}
        return await self.http.post(path, content=json.dumps(body).encode(), headers=kind)

    async def ask(self, name: str, values: object) -> httpx.Response:
        """The answer to a question of the page."""
        about = {"component_id": self.component, "fn_name": name, "session_hash": self.session}
        return await self.post(f"{API}/component_server/", {**about, "data": values})

    async def join(self, wish: object) -> httpx.Response:
        """Ask for a run of the page; nobody listens to it yet."""
        about = {"fn_index": self.event, "session_hash": self.session, "data": []}
        return await self.post(f"{API}/queue/join", {**about, "event_data": wish})

    async def run(self, wish: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Ask for a run and yield its messages."""
        self.requests += 1
        answer = await self.join({"req": self.requests, **wish})
        if answer.status_code != 200:
            yield {"error": {"message": answer.text}, "status": answer.status_code}
            return
        event = answer.json()["event_id"]
        query = {"session_hash": self.session}
        async with self.http.stream("GET", f"{API}/queue/data", params=query) as stream:
            value = ""
            async for line in stream.aiter_lines():
                message = json.loads(line[5:]) if line.startswith("data:") else {}
                if message.get("event_id") != event:
                    continue
                if message["msg"] == "process_generating":
                    value = patched(value, message["output"]["data"][0])
                    yield json.loads(value)
                if message["msg"] == "process_completed":
                    return

    async def text(self, prompt: str, tokens: int) -> list[str]:
        """The texts of a run's lanes, as a page would show them. Raises `RuntimeError`."""
        texts: list[str] = []
        async with aclosing(self.run(wish_for(prompt, tokens))) as messages:
            async for message in messages:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                for lane, chips in enumerate(message.get("add", [])):
                    texts += [""] * (lane + 1 - len(texts))
                    texts[lane] += "".join(str(chip[1]) for chip in chips)
        return texts

    async def id_of_a_run(self, prompt: str, tokens: int) -> str:
        """Make a run, and return what the server calls it."""
        return [str(message["run"]) async for message in self.run(wish_for(prompt, tokens))][-1]

    async def join_run(self, prompt: str, tokens: int) -> httpx.Response:
        """Ask for a run that nobody listens to."""
        return await self.join({"req": 1, **wish_for(prompt, tokens)})

    async def attack(self, attack: Attack) -> str:
        """Do one attack; returns the words that it is refused with, "" where it is accepted."""
        if attack.name == "run":
            wish = attack.data if isinstance(attack.data, dict) else {"kind": attack.data}
            async with aclosing(self.run(wish)) as messages:
                async for message in messages:
                    if "error" in message:
                        return str(message["error"]["message"])
            return ""
        if attack.name == "generate":
            return await self._generate(attack.data)
        answer = await self.ask(attack.name, attack.data)
        if answer.status_code != 200:
            return answer.text
        error = self.said(answer).get("error")
        return str(error["message"]) if error else ""

    @staticmethod
    def said(answer: httpx.Response) -> dict[str, Any]:
        """What a question was answered with; an answer that is no object is none to look into."""
        said = json.loads(answer.json())
        return said if isinstance(said, dict) else {}

    async def _generate(self, data: object) -> str:
        path = f"{API}/call/v2/generate"
        answer = await self.post(path, data)
        if answer.status_code != 200:
            return answer.text
        event = answer.json()["event_id"]
        words = ""
        async with self.http.stream("GET", f"{path}/{event}") as stream:
            kind = ""
            async for line in stream.aiter_lines():
                if line.startswith("event:"):
                    kind = line[6:].strip()
                elif line.startswith("data:") and kind == "error":
                    words = str(json.loads(line[5:])["error"])
                if kind == "complete":
                    break
        return words


def wish_for(prompt: str, tokens: int) -> dict[str, Any]:
    """The request of a run by the usual settings."""
    wish = request()
    return {**wish, "prompt": prompt, "settings": {**wish["settings"], "max_new_tokens": tokens}}


def patched(value: str, change: object) -> str:
    """Return what gradio says by its differences: a whole value, or what is added to a text."""
    if isinstance(change, str):
        return change
    for action, path, text in change if isinstance(change, list) else []:
        if path:
            raise ValueError(f"a difference within a text: {path}")
        value = value + text if action == "append" else str(text)
    return value

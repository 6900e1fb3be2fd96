"""A visitor of a page in another process, who writes runs and may mean harm."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Self

import httpx

from tests.attacks.values import Attack
from tests.attacks.visitors import SERVER, Door, RefusedError, post, request
from xtc_viz.ui.gate.routes import START

GENERATE = "/gradio_api/call/v2/generate"


class Visitor:
    """One visitor of a page. Use it in `async with`.

    `address` is where they are, as a proxy in front of the page would say it.
    """

    http: httpx.AsyncClient

    def __init__(self, url: str, address: str = "", timeout: float = 60.0) -> None:
        self.door = Door(url)
        self.address, self.timeout = address, timeout

    async def __aenter__(self) -> Self:
        async with self.door.client() as stranger:
            token = (await stranger.get(START)).json()["token"]
        self.http = self.door.client(token, self.address, self.timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def run(self, wish: Any) -> AsyncGenerator[dict[str, Any], None]:
        """Ask for a run and yield its messages."""
        try:
            async with self.door.run(self.http, wish) as messages:
                async for _, message in messages:
                    yield message
        except RefusedError as refused:
            yield {"error": {"message": str(refused)}}

    async def text(self, prompt: str, tokens: int) -> list[str]:
        """The texts of a run's lanes, as a page would show them. Raises `RuntimeError`."""
        texts: list[str] = []
        async with aclosing(self.run(request(tokens, prompt))) as messages:
            async for message in messages:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                texts = added(texts, message)
        return texts

    async def id_of_a_run(self, prompt: str, tokens: int) -> str:
        """Make a run, and return what the server calls it."""
        return [str(message["run"]) async for message in self.run(request(tokens, prompt))][-1]

    async def attack(self, attack: Attack) -> str:
        """Do one attack; returns the words that it is refused with, "" where it is accepted."""
        if attack.name == "run":
            async with aclosing(self.run(attack.data)) as messages:
                async for message in messages:
                    if "error" in message:
                        return str(message["error"]["message"])
            return ""
        if attack.name == "generate":
            return await self._generate(attack.data)
        page, _ = self.door.numbers
        body = {"session_hash": "a", "component_id": page, "fn_name": attack.name}
        answer = await post(self.http, SERVER, {**body, "data": attack.data})
        if answer.status_code != 200:
            return answer.text
        said = json.loads(answer.json())
        error = said.get("error") if isinstance(said, dict) else None
        return str(error["message"]) if error else ""

    async def _generate(self, data: object) -> str:
        answer = await post(self.http, GENERATE, data)
        if answer.status_code != 200:
            return answer.text
        event = answer.json()["event_id"]
        async with self.http.stream("GET", f"{GENERATE}/{event}") as stream:
            kind = ""
            async for line in stream.aiter_lines():
                if line.startswith("event:"):
                    kind = line[6:].strip()
                elif line.startswith("data:") and kind == "error":
                    return str(json.loads(line[5:])["error"])
                elif kind == "complete":
                    break
        return ""


def added(texts: list[str], message: dict[str, Any]) -> list[str]:
    """Return the lanes' texts with what a message adds to them."""
    chips = message.get("add")
    if chips is None:
        return texts
    whole = [*texts, *[""] * (len(chips) - len(texts))]
    ends = ("".join(str(chip[1]) for chip in more) for more in chips)
    return [text + end for text, end in zip(whole, ends, strict=True)]

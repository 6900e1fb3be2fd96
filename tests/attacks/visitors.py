"""Visitors as the server meets them: each joins gradio's queue and reads its event stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any, TypeVar
from uuid import uuid4

import httpx

from xtc_viz.ui import controls
from xtc_viz.ui.gate.routes import TRACE
from xtc_viz.ui.gate.token import HEADER, TOKEN

JOIN, DATA = "/gradio_api/queue/join", "/gradio_api/queue/data"
SERVER = "/gradio_api/component_server/"


def request(length: int, prompt: str = "Once", **changes: Any) -> dict[str, Any]:
    """A run as the page asks for it."""
    settings = json.loads(json.dumps(controls.specification()["settings"]))
    settings["max_new_tokens"] = length
    return {"req": 1, "kind": "run", "prompt": prompt, "settings": settings, **changes}


class RefusedError(Exception):
    """A request that was answered with another status than 200."""

    def __init__(self, answer: httpx.Response) -> None:
        super().__init__(answer.text)
        self.status = answer.status_code


T = TypeVar("T")


@dataclass(frozen=True)
class Door:
    """A server's address, and the numbers by which gradio knows our function and component."""

    url: str

    @property
    def numbers(self) -> tuple[int, int]:
        return _numbers(self.url)

    def client(
        self, token: str = TOKEN, address: str = "", timeout: float = 60.0
    ) -> httpx.AsyncClient:
        """A browser by its requests; `address` is where it is, as a proxy in front would say it."""
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        headers = {HEADER: token} | ({"x-forwarded-for": address} if address else {})
        return httpx.AsyncClient(
            base_url=self.url, timeout=timeout, limits=limits, headers=headers, verify=False
        )

    async def join(self, client: httpx.AsyncClient, wish: Any, session: str = "") -> httpx.Response:
        """Ask for a run, and listen to nothing."""
        page, run = self.numbers
        body = {"data": [], "event_data": wish, "fn_index": run, "trigger_id": page}
        return await post(client, JOIN, {**body, "session_hash": session or uuid4().hex})

    async def ask(self, client: httpx.AsyncClient, name: str, *arguments: Any) -> Any:
        """Put a question of the page."""
        page, _ = self.numbers
        body = {"session_hash": uuid4().hex, "component_id": page, "fn_name": name}
        answer = await post(client, SERVER, {**body, "data": [*arguments]})
        return json.loads(answer.json()) if answer.status_code == 200 else answer

    async def load(self, client: httpx.AsyncClient, text: str | bytes) -> Any:
        """Open a trace file."""
        kind = {"content-type": "application/json"}
        answer = await client.post(TRACE, content=text, headers=kind)
        return answer.json() if answer.status_code == 200 else answer

    @asynccontextmanager
    async def run(
        self, client: httpx.AsyncClient, wish: Any
    ) -> AsyncIterator[AsyncIterator[tuple[float, dict[str, Any]]]]:
        """Ask for a run and listen; gives the messages with the time of each."""
        session = uuid4().hex
        joined = await self.join(client, wish, session)
        if joined.status_code != 200:
            raise RefusedError(joined)
        async with client.stream("GET", DATA, params={"session_hash": session}) as stream:
            yield _messages(stream)


@lru_cache
def _numbers(url: str) -> tuple[int, int]:
    config = httpx.get(f"{url}/config").json()
    page = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "xtc-viz")
    run = next(
        d["id"] for d in config["dependencies"] if [page, "run"] in [[*t] for t in d["targets"]]
    )
    return int(page), int(run)


def alone(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread of its own: what drives a browser has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def post(client: httpx.AsyncClient, path: str, body: object) -> httpx.Response:
    """Post JSON that may hold what no valid Unicode is."""
    kind = {"content-type": "application/json"}
    return await client.post(path, content=json.dumps(body).encode(), headers=kind)


async def _messages(stream: httpx.Response) -> AsyncIterator[tuple[float, dict[str, Any]]]:
    text = ""
    async for line in stream.aiter_lines():
        if not line.startswith("data: "):
            continue
        event = json.loads(line[6:])
        if event["msg"] == "process_completed":
            return
        if event["msg"] == "process_generating":
            new = event["output"]["data"][0]
            if isinstance(new, list):
                # Gradio sends what has changed; of a text that is the end or all of it.
                for kind, _, value in new:
                    text = text + value if kind == "append" else value
            else:
                text = new
            yield monotonic(), json.loads(text)

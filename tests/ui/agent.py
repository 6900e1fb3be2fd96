"""An agent: the `mcp` package's own client, at a page that has tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Said(NamedTuple):
    """What a tool answers: JSON, or the words of an error."""

    failed: bool
    text: str

    @property
    def values(self) -> Any:
        assert not self.failed, self.text
        return json.loads(self.text)


class Agent:
    """Each call is a session of its own."""

    def __init__(self, url: str) -> None:
        self.url = f"{url.rstrip('/')}/gradio_api/mcp"

    def tools(self) -> dict[str, Any]:
        """Return the tools by their names."""

        async def ask(session: Any) -> dict[str, Any]:
            return {tool.name: tool for tool in (await session.list_tools()).tools}

        return asyncio.run(self._within(ask))

    def call(self, name: str, **arguments: Any) -> Said:
        async def ask(session: Any) -> Said:
            result = await session.call_tool(name, arguments)
            [content] = result.content
            return Said(bool(result.isError), content.text)

        return asyncio.run(self._within(ask))

    async def _within(self, ask: Callable[[Any], Awaitable[T]]) -> T:
        from mcp import ClientSession
        from mcp.client.streamable_http import streamable_http_client

        async with (
            streamable_http_client(self.url) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return await ask(session)

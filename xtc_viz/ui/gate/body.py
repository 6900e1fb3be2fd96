"""A body on its way in: no larger than its route takes, of a session with a name and no more."""

from __future__ import annotations

import json
import re
from typing import Any

from fastapi import HTTPException
from starlette.types import Message, Receive

from xtc_viz.ui.gate.routes import Route

SESSION = re.compile(r"[\w-]{1,64}", re.ASCII)
"""A session's name. gradio keeps each that it hears of."""
NO_SESSION = "`session_hash` must be 1 to 64 letters, digits, - and _."


async def admitted(receive: Receive, route: Route) -> Receive:
    """Return what receives the body of a request to this route.

    What names a session is read whole and looked at here, as gradio would keep the name.

    Raises:
        HTTPException: it is too large, or names a session by more than a name; from here or, for a
            body that is not read yet, from what is returned.
    """
    bounded = Bounded(receive, route).receive
    if not route.session:
        return bounded
    parts: list[bytes] = []
    more = True
    while more:
        message = await bounded()
        if message["type"] != "http.request":
            return receive  # they have left
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    body = b"".join(parts)
    check_session(_read(body))
    return Once(body, receive).receive


def check_session(data: Any) -> None:
    """Raise `HTTPException` for a request that names a session by more than a name."""
    name = data.get("session_hash") if isinstance(data, dict) else None
    if name is not None and not (isinstance(name, str) and SESSION.fullmatch(name)):
        raise HTTPException(422, NO_SESSION)


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None  # gradio cannot read it either


class Bounded:
    """A body that is refused when it gets larger than its route takes."""

    def __init__(self, receive: Receive, route: Route) -> None:
        self._receive = receive
        self._most = self._left = route.most

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise HTTPException(413, too_large(self._most))
        return message


class Once:
    """A body that was read already, and what comes after it."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def receive(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def too_large(most: int) -> str:
    """Return the words for a body of more bytes than that."""
    return f"This takes at most {most:,} bytes."

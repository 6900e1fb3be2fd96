"""Who listens to a run: nothing is written for nobody.

Gradio takes a request in one call and tells what came of it in another, the event stream, which
its client opens right after. The middleware sees these streams; a run asks for its own by the
session, or the event, that both calls name.
"""

from __future__ import annotations

import re
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import gradio as gr
from gradio.context import LocalContext

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

ARRIVE = 5.0  # seconds in which the first listener has to come
RETURN = 2.0  # seconds that a run goes on after the last one left

_SCOPE = "xtc_viz.listeners"
_SESSION = re.compile(r"/gradio_api/queue/data/?$")
_EVENT = re.compile(r"/gradio_api/call/(?:v2/)?[^/]+/([^/]+)/?$")


class Listeners:
    """ASGI middleware that counts the open event streams by what they listen to."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[_SCOPE] = self
        name = listens_to(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        self._open[name] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[name] -= 1
            if not self._open[name]:
                del self._open[name]

    def hear(self, names: frozenset[str]) -> bool:
        """Whether one of these sessions or events is listened to now."""
        return not names.isdisjoint(self._open)


def listens_to(scope: Scope) -> str | None:
    """Return the session or the event whose stream a request opens; None for any other request."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    if _SESSION.search(scope["path"]):
        query: dict[str, list[str]] = parse_qs(scope["query_string"].decode("latin-1"))
        return query.get("session_hash", [""])[0] or None
    event = _EVENT.search(scope["path"])
    return str(event[1]) if event else None


class Audience:
    """Those who listen to one run. Without `listeners` somebody always does."""

    def __init__(
        self, listeners: Listeners | None = None, names: frozenset[str] = frozenset()
    ) -> None:
        self._listeners, self._names = listeners, names
        self._came = False
        self._last = monotonic()

    @property
    def present(self) -> bool:
        """Whether somebody listens now."""
        here = self._listeners is None or self._listeners.hear(self._names)
        if here:
            self._came, self._last = True, monotonic()
        return here

    @property
    def gone(self) -> bool:
        """Whether nobody listens, and has not for so long that nobody will."""
        return not self.present and monotonic() - self._last > (RETURN if self._came else ARRIVE)


def audience_of(request: gr.Request | None) -> Audience:
    """Return those who listen to the run that this request asks for.

    To be called where gradio calls its function, as the event is known there.
    """
    inner = getattr(request, "request", None)
    listeners = inner.scope.get(_SCOPE) if inner is not None else None
    names = (getattr(request, "session_hash", None), LocalContext.event_id.get(None))
    return Audience(listeners, frozenset(name for name in names if name))

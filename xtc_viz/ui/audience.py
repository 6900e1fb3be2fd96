"""Who listens to a run: nothing is written for nobody.

Gradio takes a request in one call and tells what came of it in another, the event stream, which
its client opens right after. The middleware sees these streams; a run asks for its own by the
session, or the event, that both calls name.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import gradio as gr
from gradio.context import LocalContext
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

ARRIVE = 5.0  # seconds in which the first listener has to come
RETURN = 2.0  # seconds that a run goes on after the last one left

_SCOPE = "xtc_viz.listeners"
_SESSION = re.compile(r"/gradio_api/queue/data/?$")
_EVENT = re.compile(r"/gradio_api/call/(?:v2/)?[^/]+/([^/]+)/?$")


class Mailboxes(OrderedDict[str, Any]):
    """What gradio has to tell each session, for so many of them.

    Where there is no more room, the oldest goes that nobody listens to. (gradio's own drops the
    oldest, and with it the run that somebody has waited for the longest.)
    """

    def __init__(self, most: int = 2000) -> None:
        super().__init__()
        self._most = most
        self.heard: Counter[str] = Counter()

    def __setitem__(self, session: str, messages: Any) -> None:
        super().__setitem__(session, messages)
        if len(self) > self._most:
            silent = next((name for name in self if not self.heard[name] and name != session), None)
            if silent is not None:
                del self[silent]


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
        boxes = _boxes(scope)
        if boxes is not None and _SESSION.search(scope["path"]) and name not in boxes:
            # gradio would find that out with a traceback, and a stream without an end.
            await JSONResponse({"detail": "There is no such run."}, 404)(scope, receive, send)
            return
        heard = [self._open] if boxes is None else [self._open, boxes.heard]
        for counts in heard:
            counts[name] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            for counts in heard:
                counts[name] -= 1
                if not counts[name]:
                    del counts[name]

    def hear(self, names: frozenset[str]) -> bool:
        """Whether one of these sessions or events is listened to now."""
        return not names.isdisjoint(self._open)


def _boxes(scope: Scope) -> Mailboxes | None:
    """Return what gradio has to tell, where the app is one of ours."""
    blocks = scope["app"].get_blocks() if "app" in scope else None
    boxes = getattr(getattr(blocks, "_queue", None), "pending_messages_per_session", None)
    return boxes if isinstance(boxes, Mailboxes) else None


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

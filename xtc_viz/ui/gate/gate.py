"""The gate: an ASGI middleware that lets through what a page of ours or a program may ask.

A refusal is a sentence, with the status of its kind. What gets through is known by its
visitor (`VISITOR` in its scope).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from xtc_viz.ui.gate import policy
from xtc_viz.ui.gate.body import admitted, too_large
from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.gate.routes import ROUTES, START, Route, routes_of
from xtc_viz.ui.gate.share import Shares
from xtc_viz.ui.gate.token import TOKEN, StaleTokenError, has_token

VISITOR = "xtc_viz.visitor"
JSON = "application/json"
MANY_RUNS = "You ask for many runs at once: try again in a moment."
MANY_QUESTIONS = "Many questions of yours are being answered: try again in a moment."
NOTHING = "There is nothing at this address."
OWN_SITE = ("same-origin", "none")


class Refusal(NamedTuple):
    """Why a request does not get through, with its HTTP status."""

    status: int
    words: str


class Gate:
    """Stands in front of an ASGI app that is reached by `entrance` and has these routes."""

    def __init__(self, app: ASGIApp, entrance: Entrance, routes: Sequence[Route] = ROUTES) -> None:
        self.app = app
        self.entrance = entrance
        self._routes = routes
        self._shares = Shares()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # the page has no web sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = _Answer(send, self.entrance.framed)
        headers = Headers(scope=scope)
        path = _path(scope)
        known = routes_of(path, self._routes)
        route = next((each for each in known if scope["method"] in each.methods), None)
        refusal = self._refusal(path, route, scope["method"], headers)
        if refusal or route is None:
            status, words = refusal or Refusal(404, NOTHING)
            await _words(path, words, status)(scope, receive, answer.send)
            return
        if path == START:
            await _start()(scope, receive, answer.send)
            return
        client = scope.get("client") or ("", 0)
        visitor = self.entrance.visitor(client[0], headers.getlist("x-forwarded-for"))
        scope[VISITOR] = visitor
        scope["headers"] = self._believed(headers)
        if route.run and self.entrance.public and not self._shares.run(visitor):
            await _words(path, MANY_RUNS, 429)(scope, receive, answer.send)
            return
        counted = (route.token or route.counted) and self.entrance.public
        with self._shares.question(visitor) if counted else nullcontext(True) as free:
            if not free:
                await _words(path, MANY_QUESTIONS, 429)(scope, receive, answer.send)
                return
            try:
                body = await admitted(receive, route)
            except HTTPException as error:
                refused = _words(path, error.detail, error.status_code)
                await refused(scope, receive, answer.send)
                return
            await self.app(scope, body, answer.send)

    def _refusal(
        self, path: str, route: Route | None, method: str, headers: Headers
    ) -> Refusal | None:
        """Return why a request does not get through, None if it does."""
        host = headers.get("host", "")
        if not self.entrance.answers_to(host):
            return Refusal(
                421,
                f"This page does not answer to the name {host[:80]!r}. Its owner can allow it: "
                "--allowed-hosts NAME.",
            )
        if route is None:
            known = routes_of(path, self._routes)
            return Refusal(405, "Not this way.") if known else Refusal(404, NOTHING)
        if not self._is_own_site(route, headers) and not (route.programs and self.entrance.public):
            return Refusal(403, "Pages of other sites may not ask this one.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 15 or int(length) > route.most:
            return Refusal(413, too_large(route.most))
        if method == "POST" and headers.get("content-type", "").split(";")[0].strip() != JSON:
            return Refusal(415, f"Only {JSON} is taken.")
        if route.token and not has_token(headers):
            return Refusal(403, str(StaleTokenError()))
        return None

    def _is_own_site(self, route: Route, headers: Headers) -> bool:
        """Whether a request comes from a page of this server, from a program, or by a link."""
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None and site not in OWN_SITE:
            return route.linked and headers.get("sec-fetch-mode") == "navigate"
        if site == "same-origin" or origin is None:
            return True
        # An old browser, or one that does not take a plain address for safe, says no more than it.
        own = {headers.get("host", "").lower()}
        forwarded = headers.get("x-forwarded-host", "").lower()
        if self.entrance.forwards(forwarded, by_name=True):
            own.add(forwarded)
        return origin.partition("://")[2].lower() in own - {""}

    def _believed(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        """Return the headers; an X-Forwarded-Host that is not to be believed says what Host does.

        It stays: that there is one tells that a proxy is in front (`ui.access`).
        """
        if self.entrance.forwards(headers.get("x-forwarded-host", "")):
            return headers.raw
        host = headers.get("host", "").encode("latin-1")
        return [(n, host if n == b"x-forwarded-host" else value) for n, value in headers.raw]


class _Answer:
    """An answer on its way out, with what browsers are told of the page."""

    def __init__(self, send: Send, framed: bool) -> None:
        self._send = send
        self._framed = framed
        self._page: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(policy.headers(self._framed))
            if headers.get("content-type", "").startswith("text/html"):
                self._page = message  # held back until all of the page is here
                return
        elif self._page:
            self._body += message.get("body", b"")
            if message.get("more_body"):
                return
            headers = MutableHeaders(scope=self._page)
            headers["Cache-Control"] = "private, no-cache"  # it holds the token of this start
            headers["Content-Security-Policy"] = policy.content_policy(self._body, self._framed)
            await self._send(self._page)
            message = {"type": "http.response.body", "body": self._body}
            self._page = None
        await self._send(message)


def _path(scope: Scope) -> str:
    """Return the path without the prefix under which a proxy shows the page."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    if root and (path == root or path.startswith(root + "/")):
        return path[len(root) :] or "/"
    return path


def _words(path: str, words: str, status: int) -> Response:
    """Return a refusal: as programs read it where they ask, else as people do."""
    if path.startswith("/gradio_api/"):
        return JSONResponse({"detail": words}, status)
    return PlainTextResponse(words, status)


def _start() -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(json.dumps({"token": TOKEN}), media_type=JSON, headers=headers)

"""The gate: an ASGI middleware that lets through what a page of ours or a program may ask.

A refusal is a sentence, with the status of its kind. What gets through is known by its
visitor (`VISITOR` in its scope).
"""

from __future__ import annotations

import json
from typing import NamedTuple

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from xtc_viz.ui.gate import policy
from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.gate.routes import START, Route, routes_of
from xtc_viz.ui.gate.token import TOKEN, StaleTokenError, has_token

VISITOR = "xtc_viz.visitor"
JSON = "application/json"
NOTHING = "There is nothing at this address."
OWN_SITE = ("same-origin", "none")


class Refusal(NamedTuple):
    """Why a request does not get through, with its HTTP status."""

    status: int
    words: str


class Gate:
    """Stands in front of an ASGI app that is reached by `entrance`."""

    def __init__(self, app: ASGIApp, entrance: Entrance) -> None:
        self.app = app
        self.entrance = entrance

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
        route = next((r for r in routes_of(path) if scope["method"] in r.methods), None)
        refusal = self._refusal(path, route, scope["method"], headers)
        if refusal or route is None:
            status, words = refusal or Refusal(404, NOTHING)
            await _words(path, words, status)(scope, receive, answer.send)
            return
        if path == START:
            await _start()(scope, receive, answer.send)
            return
        client = scope.get("client") or ("", 0)
        scope[VISITOR] = self.entrance.visitor(client[0], headers.getlist("x-forwarded-for"))
        await self.app(scope, _Body(receive, route).receive, answer.send)

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
            known = routes_of(path)
            return Refusal(405, "Not this way.") if known else Refusal(404, NOTHING)
        if not self._is_own_site(route, headers) and not (route.programs and self.entrance.public):
            return Refusal(403, "Pages of other sites may not ask this one.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 15 or int(length) > route.most:
            return Refusal(413, _too_large(route))
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
        hosts = {headers.get("host", "").lower()}
        if self.entrance.proxies != 0:
            hosts.add(headers.get("x-forwarded-host", "").lower())
        return origin.partition("://")[2].lower() in hosts


class _Body:
    """A body on its way in, which is refused when it gets larger than its route takes."""

    def __init__(self, receive: Receive, route: Route) -> None:
        self._receive = receive
        self._route = route
        self._left = route.most

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise HTTPException(413, _too_large(self._route))
        return message


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


def _too_large(route: Route) -> str:
    return f"This takes at most {route.most:,} bytes."


def _start() -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(json.dumps({"token": TOKEN}), media_type=JSON, headers=headers)

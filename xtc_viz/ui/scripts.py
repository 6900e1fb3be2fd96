"""The scripts of the page, each a file of its own that a browser keeps.

Gradio searches the text that starts a component for the names of its events, eight times for every
session, and sends it with every page: with half a megabyte there, a question took the server 40 ms.
So it is given a few lines that import the file (`loader`).
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fastapi import HTTPException
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from xtc_viz.ui import payload
from xtc_viz.ui.gate.routes import SCRIPT
from xtc_viz.ui.gate.token import TOKEN

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

KEPT = "max-age=31536000, immutable"
LOST = "The script of this page did not come. Load the page again."


@dataclass(frozen=True)
class Script:
    """An ES module that exports `start(gradio, token)`, to be named by what it holds.

    It holds no secret, as browsers keep it, and proxies may.
    """

    name: str
    text: str

    @cached_property
    def path(self) -> str:
        """Where it is below the page's address; another text is at another path."""
        digest = hashlib.sha256(self.text.encode()).hexdigest()[:32]
        return f"{SCRIPT}/{self.name}.{digest}.js"

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.text.encode(), mtime=0)


def loader(script: Script, events: Sequence[str]) -> str:
    """Return what gradio runs when a component with these events is on the page."""
    # Gradio finds the events of a component by their quoted names in this text.
    quoted = ", ".join(f"'{name}'" for name in events)
    return (
        f"// events: {quoted}\n"
        "const { pathname } = new URL(window.gradio_config.root, location.href);\n"
        f'import(pathname.replace(/[/]+$/, "") + "{script.path}").then(\n'
        f"  ({{ start }}) => start({{ element, props, trigger }}, {payload.encode(TOKEN)}),\n"
        f'  (error) => {{ element.textContent = "{LOST}"; console.error(error); }},\n'
        ");"
    )


async def _give(request: Request) -> Response:
    scripts = _scripts(request.scope).values()
    path = f"{SCRIPT}/{request.path_params['name']}"
    script = next((script for script in scripts if script.path == path), None)
    if script is None:
        raise HTTPException(404)
    body, headers = script.text.encode(), {"Cache-Control": KEPT}
    if "gzip" in request.headers.get("accept-encoding", ""):
        body = script.packed
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(body, headers=headers, media_type="text/javascript")


ROUTE = Route(f"{SCRIPT}/{{name}}", _give)
"""Belongs to the app; the page's blocks have the `scripts` that it gives."""


class Preload:
    """ASGI middleware that tells a browser which script a page will import.

    Without it the script would be asked for when all of gradio's own have come and run.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", "")).removeprefix(str(scope.get("root_path", "")).rstrip("/"))
        script = _scripts(scope).get(path.strip("/")) if scope["type"] == "http" else None
        if script is None:
            await self._app(scope, receive, send)
            return
        # From the page's own address, as the prefix may be known to a proxy alone.
        up = "../" * (path.count("/") - 1)
        link = f"<{up}{script.path[1:]}>; rel=preload; as=script; crossorigin"

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                MutableHeaders(scope=message)["Link"] = link
            await send(message)

        await self._app(scope, receive, told)


def _scripts(scope: Mapping[str, Any]) -> Mapping[str, Script]:
    """Return the scripts of the page that a request is for, by the paths of its routes."""
    blocks = scope["app"].get_blocks() if "app" in scope else None
    scripts: Mapping[str, Script] = getattr(blocks, "scripts", {})
    return scripts

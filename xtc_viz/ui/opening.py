"""Trace files that visitors open. Each comes as a body of its own, as it may be large; what is in
it is read in another process, never by the web server.
"""

from __future__ import annotations

import asyncio

import gradio as gr
from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from xtc_viz.errors import TraceError
from xtc_viz.ui import payload, server
from xtc_viz.ui.gate.routes import TRACE
from xtc_viz.ui.service import Service
from xtc_viz.ui.wording import problem

AT_ONCE = 4  # files on their way in
SECONDS = 60.0  # that a file may take to arrive
BUSY = "The server takes in many files: try again in a moment."


class Opening:
    """Takes the trace files of one page in, and answers each with the message that shows it."""

    def __init__(self, service: Service) -> None:
        self._question = server.opening(service)
        self._places = asyncio.Semaphore(AT_ONCE)

    async def take(self, request: Request) -> str:
        """Return the answer to a request as JSON text. Raises `HTTPException` for a late body."""
        if self._places.locked():
            raise HTTPException(503, BUSY)
        async with self._places:
            try:
                async with asyncio.timeout(SECONDS):
                    text = (await request.body()).decode()
            except TimeoutError:
                raise HTTPException(408, f"The file took longer than {SECONDS:g} s.") from None
            except UnicodeDecodeError:
                return payload.encode({"error": problem(TraceError("This is no trace: no text."))})
            return await self._question([text], gr.Request(request))


async def _take(request: Request) -> Response:
    opening: Opening | None = getattr(request.app.get_blocks(), "opening", None)
    if opening is None:
        raise HTTPException(404)
    return Response(await opening.take(request), media_type="application/json")


ROUTE = Route(TRACE, _take, methods=["POST"])
"""Belongs to the app; the page's blocks have the `opening` that it needs."""

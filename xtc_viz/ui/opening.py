"""Trace files that visitors open. Each comes as a body of its own, as it may be large; what is in
it is read in another process, never by the web server.
"""

from __future__ import annotations

import asyncio
from collections import Counter

import gradio as gr
from fastapi import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from xtc_viz.errors import TraceError
from xtc_viz.ui import payload, server
from xtc_viz.ui.gate.gate import VISITOR
from xtc_viz.ui.gate.routes import TRACE
from xtc_viz.ui.service import Service
from xtc_viz.ui.wording import problem

AT_ONCE, OF_ONE = 8, 2  # files on their way in: of all visitors, and of one
SECONDS = 60.0  # that a file may take to arrive
BUSY = "The server takes in many files: try again in a moment."
YOURS = f"{OF_ONE} files of yours are on their way already: wait for one of them."


class Opening:
    """Takes the trace files of one page in, and answers each with the message that shows it."""

    def __init__(self, service: Service) -> None:
        self._question = server.opening(service)
        self._coming: Counter[str] = Counter()

    async def take(self, request: Request) -> str:
        """Return the answer to a request as JSON text. Raises `HTTPException` for a late body."""
        visitor = str(request.scope.get(VISITOR, ""))
        if self._coming[visitor] >= OF_ONE:
            raise HTTPException(503, YOURS)
        if self._coming.total() >= AT_ONCE:
            raise HTTPException(503, BUSY)
        self._coming[visitor] += 1
        try:
            async with asyncio.timeout(SECONDS):
                text = (await request.body()).decode()
        except TimeoutError:
            raise HTTPException(408, f"The file took longer than {SECONDS:g} s.") from None
        except UnicodeDecodeError:
            return payload.encode({"error": problem(TraceError("This is no trace: no text."))})
        finally:
            self._coming -= Counter([visitor])
        return await self._question([text], gr.Request(request))


async def _take(request: Request) -> Response:
    opening: Opening | None = getattr(request.app.get_blocks(), "opening", None)
    if opening is None:
        raise HTTPException(404)
    return Response(await opening.take(request), media_type="application/json")


ROUTE = Route(TRACE, _take, methods=["POST"])
"""Belongs to the app; the page's blocks have the `opening` that it needs."""

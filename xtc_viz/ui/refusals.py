"""Requests that gradio cannot read, refused in words of ours, whatever they hold.

Our own functions answer everything themselves. What is raised on the way to them is gradio's own
reading of a request: it would be told in Python's words, would quote all that was sent, or would be
an empty answer of status 500.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import gradio as gr
from fastapi.exceptions import RequestValidationError
from gradio.route_utils import FnIndexInferError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from xtc_viz.errors import XTCVizError, shortened
from xtc_viz.ui.agents.protocol import Agents
from xtc_viz.ui.files import check_no_files
from xtc_viz.ui.opening import Opening
from xtc_viz.ui.scripts import Script

NO_OBJECT = "The body of a request must be a JSON object, as docs/api.md has it."
UNKNOWN = "There is nothing at this address, or not with these names."
GENERATE = "/call/v2/generate"
_QUOTED = re.compile("`(.*)`", re.DOTALL)
_UNREADABLE = (
    *(LookupError, TypeError, ValueError, AttributeError),
    *(RecursionError, AssertionError, FnIndexInferError),
)
log = logging.getLogger(__name__)

Handler = Callable[[Request, Exception], Awaitable[Response]]


class Page(gr.Blocks):
    """Blocks that say in words when an event is given too few values, or files.

    `opening` takes in the files that visitors open, `agents` are the tools for agents, `scripts`
    those that its routes load, by the path of each: "" for the page, "lab" for the laboratory.
    """

    opening: Opening | None = None
    agents: Agents | None = None
    scripts: dict[str, Script]

    def validate_inputs(self, block_fn: Any, inputs: Sequence[Any]) -> None:
        needed = len(block_fn.inputs)
        if len(inputs) < needed:
            words = f"`{block_fn.name}` takes {needed} values, but was given {len(inputs)}."
            raise gr.Error(words, print_exception=False)
        try:
            check_no_files(list(inputs))
        except XTCVizError as error:
            raise gr.Error(str(error), print_exception=False) from None
        super().validate_inputs(block_fn, list(inputs))


async def _invalid(request: Request, error: Exception) -> Response:
    """A body that is no JSON, or none of the kind that the address takes."""
    return JSONResponse({"detail": NO_OBJECT}, status_code=422)


async def _unreadable(request: Request, error: Exception) -> Response:
    """A name, an address or a value that gradio looked for or took for granted."""
    what = f"{type(error).__name__}: {shortened(str(error))}"
    log.warning("refused a request to %s: %s", shortened(request.url.path), what)
    call = isinstance(error, TypeError) and request.url.path.endswith(GENERATE)
    words = _about_names(str(error)) if call else UNKNOWN
    return JSONResponse({"detail": words}, status_code=422)


def _about_names(error: str) -> str:
    """What is wrong with the names of a call's values, from what gradio says of it."""
    other = _QUOTED.search(error)
    wrong = f"does not take `{shortened(other[1])}`" if other else "needs a `prompt`"
    return f"`/generate` {wrong}; docs/api.md has what it takes."


HANDLERS: dict[type[Exception], Handler] = {
    RequestValidationError: _invalid,
    **dict.fromkeys(_UNREADABLE, _unreadable),
}
"""What FastAPI is to do with what is raised while gradio reads a request."""

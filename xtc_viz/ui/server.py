"""What the page may ask of the server beside a run: each answer is JSON text.

Gradio hands a server function one argument, so the page sends a list. A question that cannot be
answered is answered by `{"error": {"message": …}}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xtc_viz.errors import SettingsError, XTCVizError
from xtc_viz.models.host import ModelHost
from xtc_viz.ui import payload
from xtc_viz.ui.controls import whole
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.stream import Stops, problem

MAX_CANDIDATES = 100

Question = Callable[[list[Any]], str]


def answer(function: Callable[..., object]) -> Question:
    """Turn a function of several arguments into a question of the page."""

    def asked(arguments: list[Any]) -> str:
        try:
            return payload.encode(function(*arguments))
        except XTCVizError as error:
            return payload.encode({"error": problem(error)})
        except TypeError as error:
            return payload.encode({"error": {"message": f"{function.__name__}: {error}"}})

    # Not `functools.wraps`: gradio looks through it and counts the wrong arguments.
    asked.__name__, asked.__doc__ = function.__name__, function.__doc__
    return asked


def questions(host: ModelHost, store: RunStore, stops: Stops) -> list[Question]:
    """Return the functions that the page may call, by their names."""

    def block(run: object, lane: object, index: object, candidates: object) -> object:
        """64 steps of a lane for the inspector."""
        found = store.get(run)
        number = whole("lane", lane)
        if number >= len(found.lanes):
            raise SettingsError("lane", f"below {len(found.lanes)}", number)
        wanted = min(whole("candidates", candidates), MAX_CANDIDATES)
        return found.block(number, whole("index", index), wanted)

    def open(run: object, at: object) -> object:
        """All of a run that the page does not have; `at` counts the steps it has by lane."""
        have = [whole("at", n) for n in at] if isinstance(at, list) else []
        return store.get(run).whole(str(run), have)

    def stop(run: object) -> object:
        """Stop a run at its next step; whether it was going."""
        return stops.stop(run)

    def hello() -> object:
        """What the page says about the model, once it is there."""
        info = host.info
        return {"model": payload.model_line(info) if info else None}

    return [answer(function) for function in (block, open, stop, hello)]

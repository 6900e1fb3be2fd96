"""The kinds of servers, each in a module of its own; which one answers is found out by asking."""

from __future__ import annotations

from collections.abc import Callable

from xtc_viz.models.remote.kinds import llamacpp, refused
from xtc_viz.models.remote.kinds.base import Server
from xtc_viz.models.remote.wire import Wire

KINDS: tuple[Callable[[Wire], Server | None], ...] = (llamacpp.recognize, refused.recognize)
"""In the order of asking. Each returns a `Server`, None for one of another kind, or raises
`ServerError` for one that shows too little."""


def recognize(wire: Wire) -> Server:
    """Return what answers there. Raises `ServerError` with the reason why it cannot be used."""
    for ask in KINDS:
        if server := ask(wire):
            return server
    raise wire.error("is of no kind that is known here: it does not answer as llama.cpp's does")

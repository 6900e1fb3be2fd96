"""The kinds of servers, each in a module of its own; which one answers is found out by asking."""

from __future__ import annotations

from collections.abc import Callable

from xtc_viz.models.remote.kinds import llamacpp, refused, vllm
from xtc_viz.models.remote.kinds.base import Server
from xtc_viz.models.remote.wire import Wire

KINDS: tuple[Callable[[Wire, str], Server | None], ...] = (
    llamacpp.recognize,
    vllm.recognize,
    refused.recognize,
)
"""In the order of asking. Each returns a `Server`, None for one of another kind, or raises
`ServerError` for one that shows too little."""


def recognize(wire: Wire, tokenizer: str = "") -> Server:
    """Return what answers there.

    `tokenizer` is a folder of this machine, or "" (`RemoteSpec`); a kind that tells its tokens does
    not look at it. Raises `ServerError` with the reason why the server cannot be used.
    """
    for ask in KINDS:
        if server := ask(wire, tokenizer):
            return server
    raise wire.error(
        "is of no kind that is known here: it answers neither as llama.cpp's does nor as vLLM's"
    )

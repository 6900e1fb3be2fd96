"""Servers that are known, and cannot be used: each with what it does not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from xtc_viz.models.remote.kinds.base import ask
from xtc_viz.models.remote.wire import Wire


class Refused(NamedTuple):
    """A kind of server: how what it answers at a path tells it from others, and the reason."""

    path: str
    tells: Callable[[dict[str, Any]], bool]
    words: str


def _has(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda answer: name in answer


KNOWN = (
    Refused(
        "/api/extra/version",
        _has("result"),
        "is koboldcpp, which takes no token ids and shows 10 candidates at most: τ would have to "
        "be at least 0.10. The same GGUF file runs in llama.cpp's server",
    ),
    Refused(
        "/v1/internal/model/info",
        _has("model_name"),
        "is text-generation-webui, whose API takes no token ids: prompts are texts, which it cuts "
        "into tokens anew",
    ),
    Refused(
        "/v1/model",
        _has("parameters"),
        "is TabbyAPI, which takes no token ids, and shows candidates as texts without ids, which "
        "cannot be told apart",
    ),
    Refused(
        "/api/version",
        _has("version"),
        "is Ollama, which takes no token ids and shows 20 candidates at most, as texts. The same "
        "GGUF file runs in llama.cpp's server",
    ),
)


def recognize(wire: Wire, tokenizer: str) -> None:
    """Raise `ServerError` with the reason for a server that is one of these."""
    for refused in KNOWN:
        answer = ask(wire, refused.path)
        if isinstance(answer, dict) and refused.tells(answer):
            raise wire.error(refused.words)
    return

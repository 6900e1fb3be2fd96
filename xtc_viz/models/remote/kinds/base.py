"""What is asked of a server, whatever its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from xtc_viz.models.load import Progress
from xtc_viz.models.remote.wire import NoJsonError, StatusError, Wire
from xtc_viz.models.tokentable import TokenTable
from xtc_viz.records.modelinfo import ModelInfo
from xtc_viz.sampling.distribution import PartialLogits

LARGEST = 2_000_000
"""Tokens of a vocabulary, as in a trace."""
MOST_SLOTS = 1024


@dataclass(frozen=True, slots=True)
class Facts:
    """What a server says of its model. `fingerprint` is a text that another model would change."""

    info: ModelInfo
    table: TokenTable
    fingerprint: str


class Server(Protocol):
    """A server of a known kind. Safe to use from many threads. All may raise `ServerError`."""

    kind: str
    """Its name, for people."""
    slots: int
    """How many texts it writes at once; more take turns, and lose what it keeps of them."""

    def facts(self, progress: Progress) -> Facts:
        """Ask what there is to know of the model; it takes some seconds."""

    def still(self) -> str:
        """Return a text that stays the same for as long as the model does; cheap to ask for."""

    def candidates(self, prompts: Sequence[Sequence[int]], count: int) -> Sequence[PartialLogits]:
        """Return the `count` most probable next tokens of each prompt, all in one request."""

    def tokenize(self, text: str) -> list[int]: ...

    def chat(self, user: str, system: str, thinking: bool) -> list[int]: ...

    def piece(self, token: int) -> str:
        """Return the text of a token that adds none to a text, "" where it has none."""


class Drawn(NamedTuple):
    """A token that a server drew by itself, and the most probable ones of its step, as they were
    before any sampling."""

    token: int
    known: PartialLogits


class OwnXTC(NamedTuple):
    """What a server's own XTC is asked for, and the temperature and the seed beside it."""

    rho: float
    tau: float
    temperature: float
    seed: int


@runtime_checkable
class Draws(Protocol):
    """A server that has an XTC of its own."""

    def draw(self, prompt: Sequence[int], length: int, count: int, xtc: OwnXTC) -> list[Drawn]:
        """Let it write up to `length` tokens by itself, in one request and with nothing cut off;
        each with the `count` most probable ones of its step. May raise `ServerError`."""


def ask(wire: Wire, path: str) -> object | None:
    """Return the JSON at a path, None where there is nothing of the kind.

    Raises `ServerError` where nobody answers, a key is wanted, or a model is still being loaded.
    """
    try:
        answer: object = wire.get(path)
        return answer
    except StatusError as error:
        if error.status in (401, 403, 503):
            raise
        return None
    except NoJsonError:
        return None

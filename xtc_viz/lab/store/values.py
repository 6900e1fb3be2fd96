"""What a store takes and gives, and how texts and token ids lie in it."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xtc_viz.lab.identity import Identity


@dataclass(frozen=True, slots=True)
class Written:
    """A cell as it is stored.

    `sampler` is the condition's as it was decoded, `prompt` the prompt as the model took it, both
    as plain values. `texts` are those of the tokens that the steps name, `steps` the steps packed.
    """

    name: str
    sampler: Mapping[str, Any]
    prompt: Mapping[str, Any]
    dice: int
    length: int
    stop: tuple[str, ...]
    finish: str
    tokens: tuple[int, ...]
    text: str
    seconds: float
    texts: Mapping[int, str]
    steps: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a stored cell without its steps."""

    name: str
    finish: str
    count: int
    text: str
    tokens: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Pace:
    """How long some cells took: their `tokens` of `length` that they could have had, in `seconds`
    of each added up."""

    tokens: int
    length: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that a store knows: the plain values of its experiment and its suite, and its model.

    `sampling` is the version of the app's sampling (`cell`), `begun` in seconds since 1970.
    """

    name: str
    experiment: Mapping[str, Any]
    suite: Mapping[str, Any]
    identity: Identity
    sampling: int
    begun: float


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a prompt could not be written on under a condition; where `prompt` is "", why none could,
    and where `condition` is "" too, why the run ended early."""

    condition: str
    prompt: str
    message: str


def as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def kept(text: str) -> str | bytes:
    """Return a text as SQLite takes it: one that UTF-8 has no bytes for, as its bytes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def given(value: str | bytes) -> str:
    """Return the text that `kept` made this of."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def packed(tokens: Sequence[int]) -> bytes:
    """Return token ids as bytes, four little-endian ones each."""
    return _little(array("I", tokens)).tobytes()


def unpacked(data: bytes) -> tuple[int, ...]:
    """Return the token ids that `packed` made this of."""
    values = array("I")
    values.frombytes(data)
    return tuple(_little(values))


def _little(values: array[int]) -> array[int]:
    if sys.byteorder == "big":
        values.byteswap()
    return values

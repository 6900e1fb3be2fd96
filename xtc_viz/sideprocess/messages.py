"""What both sides tell one another, and how: a length, then as many bytes."""

from __future__ import annotations

import struct
from typing import IO, NamedTuple

from xtc_viz.errors import XTCVizError

MIB = 2**20
_LENGTH = struct.Struct("<Q")


class LimitError(XTCVizError):
    """Work that took more time or memory than it may, or that crashed its process."""


class StoppedError(XTCVizError):
    """Work that was stopped by whoever asked for it."""


class Cost(NamedTuple):
    """What a call may take: `seconds`, and `memory` in bytes beyond what its process has."""

    seconds: float
    memory: int


class Work(NamedTuple):
    """A function with its arguments, pickled, and what it may take."""

    function: bytes
    most: Cost


def write(file: IO[bytes], data: bytes) -> None:
    file.write(_LENGTH.pack(len(data)))
    file.write(data)
    file.flush()


def read(file: IO[bytes]) -> bytes | None:
    """Return the next message, None where there is none."""
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = file.read(length)
    return data if len(data) == length else None

"""What those who write cells tell the run."""

from __future__ import annotations

from dataclasses import dataclass

from xtc_viz.lab.store import Failure, Written


@dataclass(frozen=True, slots=True)
class Absence:
    """Somebody who cannot write at present: who, and why, in words.

    It began at `since` and is borne until `until`, in seconds of `time.time`; None is for good.
    """

    who: str
    reason: str
    since: float
    until: float | None


@dataclass(frozen=True, slots=True)
class News:
    """What came of some cells: those that are finished, those that failed, by their names, and how
    many `tokens` were decoded for it. `flying` are tokens of texts that are not finished yet, and
    `absent` are all who cannot write at present."""

    written: tuple[Written, ...] = ()
    failed: tuple[tuple[str, Failure], ...] = ()
    tokens: int = 0
    flying: int = 0
    absent: tuple[Absence, ...] = ()

"""What a metric is. Each stands in a module of its own, in its `METRICS`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from xtc_viz.lab.samples import Samples


class Direction(StrEnum):
    """What more of it says."""

    VARIED = "more is more varied"
    ALIKE = "less is more varied"
    REPETITIVE = "less is better"
    RIGHT = "more is better"
    NEITHER = "neither is better"

    @property
    def sign(self) -> int:
        """1 where more is preferred, −1 where less is, 0 where neither is."""
        return {Direction.VARIED: 1, Direction.RIGHT: 1, Direction.NEITHER: 0}.get(self, -1)

    @property
    def arrow(self) -> str:
        return {1: "↑", -1: "↓", 0: ""}[self.sign]


class Family(StrEnum):
    """What a metric looks at."""

    WORDS = "words"
    COMPRESSION = "compression"
    TEMPLATES = "templates"
    MEANING = "meaning"
    LENGTH = "length"
    ANSWERS = "answers"


LEXICAL = frozenset({Family.WORDS, Family.COMPRESSION})
"""The families that need nothing but the texts of their group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number for the samples of one prompt under one condition and seed.

    `low` and `high` bound it, `high` infinite where nothing does; `unit` is what it counts, empty
    for a share. `source` names where the definition comes from, and how sure that is; `meaning` is
    a line for people. `value` is None where the metric is not defined, as for two samples' distance
    with one sample; it raises nothing. `place` is its place in tables.
    """

    name: str
    label: str
    place: int
    family: Family
    direction: Direction
    meaning: str
    source: str
    value: Callable[[Samples], float | None]
    low: float = 0.0
    high: float = 1.0
    unit: str = ""

    @property
    def range(self) -> str:
        """The bounds as text, such as `[0, 1]` or `[0, ∞)`."""
        high = ", ∞)" if math.isinf(self.high) else f", {self.high:g}]"
        return f"[{self.low:g}{high}"

"""How an engine's XTC differs from the paper's, as data. The paper's rule is dialect zero.

The coin is not part of it: whoever decides is given one, and says for how many rows it is tossed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Comparison(StrEnum):
    """When a token clears the floor τ."""

    AT_LEAST = "at_least"  # p ≥ τ
    ABOVE = "above"  # p > τ


class Ties(StrEnum):
    """Which of several least probable eligible tokens is kept."""

    LOWEST_ID = "lowest_id"
    HIGHEST_ID = "highest_id"
    ALL = "all"


class Veto(StrEnum):
    """What protected tokens do."""

    STEP = "step"  # the step is left alone if one of them would be removed
    EXEMPT = "exempt"  # they are not removed, but count as eligible
    OUTSIDE = "outside"  # they are never eligible
    NONE = "none"  # nothing: they are tokens like all others


@dataclass(frozen=True, slots=True)
class Dialect:
    """The rule of one engine. Above `inert_above`, a τ, the engine does nothing."""

    name: str
    comparison: Comparison = Comparison.AT_LEAST
    ties: Ties = Ties.LOWEST_ID
    veto: Veto = Veto.STEP
    inert_above: float | None = None


PAPER = Dialect("paper")

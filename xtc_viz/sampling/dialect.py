"""How an engine's XTC differs from the paper's, as data. The paper's rule is dialect zero.

How the coin is tossed is told here for people: whoever decides is given one.
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
    ANY = "any"  # one of them: which one is an accident of the engine's sort. Here the lowest id


class Veto(StrEnum):
    """What protected tokens do."""

    STEP = "step"  # the step is left alone if one of them would be removed
    EXEMPT = "exempt"  # they are not removed, but count as eligible
    OUTSIDE = "outside"  # they are never eligible
    NONE = "none"  # nothing: they are tokens like all others


class Removes(StrEnum):
    """What goes when XTC acts and E has two tokens or more."""

    REST = "rest"  # all of E but the underdog
    # A defect of exllamav2's: it asks the token behind whether it clears τ, not the token itself.
    # Behind is the next id, or, once top-k or top-p has sorted them, the next less probable one.
    BEFORE_BY_ID = "before_by_id"
    BEFORE_FALLING = "before_falling"


class Coin(StrEnum):
    """How many rows a coin is tossed for."""

    ROW = "row"
    BATCH = "batch"
    MIXTURE = "mixture"  # none is tossed: p and what XTC leaves of it are mixed as 1 - ρ to ρ


class Zero(StrEnum):
    """What temperature 0 does to XTC."""

    ACTS = "acts"  # the most probable token of what XTC leaves
    SKIPPED = "skipped"  # the most probable token of all


@dataclass(frozen=True, slots=True)
class Dialect:
    """The rule of one engine, by its name. Above `inert_above`, a τ, the engine does nothing.

    A mixture draws each token as often as a coin would have it drawn, so that a lane tosses one
    for it too; what differs is that nothing fires, and which token is the most probable.
    """

    name: str
    comparison: Comparison = Comparison.AT_LEAST
    ties: Ties = Ties.LOWEST_ID
    veto: Veto = Veto.STEP
    inert_above: float | None = None
    coin: Coin = Coin.ROW
    zero: Zero = Zero.ACTS
    removes: Removes = Removes.REST


PAPER = Dialect("paper")

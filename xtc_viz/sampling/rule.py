"""The XTC rule on one step's eligible tokens: who is removed, who is kept, and why.

This is Algorithm 1 of the paper from the moment on at which the plausible tokens are known. The
tensor operator (`xtc`), the decoder and the what-if view all decide here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

from xtc_viz.settings import Strategy, XTCSettings


class Outcome(StrEnum):
    """What XTC did at a step; exactly one of these."""

    UNAMBIGUOUS = "unambiguous"  # fewer than two eligible tokens
    SKIPPED = "skipped"  # the coin said no
    PROTECTED = "protected"  # a protected token would have been removed
    FIRED = "fired"


class Decision(NamedTuple):
    """What XTC decided at one step. Token ids stand in order of falling probability.

    `removable_mass` is M of the paper's Proposition 3: the mass that firing would remove
    (for `keep_random`, its mean over the choices), whatever the coin and the veto then said.
    """

    outcome: Outcome
    eligible: tuple[int, ...]
    removed: tuple[int, ...]
    underdog: int | None
    removed_mass: float
    removable_mass: float


def eligible_count(probs: Sequence[float], tau: float) -> int:
    """Return how many of the probabilities, sorted in falling order, are at least `tau`.

    For float32 probabilities pass `XTCSettings.tau32`, τ in the same precision.
    """
    return bisect_right(probs, -tau, key=lambda p: -p)


def decide(
    ids: Sequence[int], probs: Sequence[float], coin: float, settings: XTCSettings
) -> Decision:
    """Apply the rule to one step.

    `ids` and `probs` are the eligible tokens alone, in order of falling probability, equal ones
    by rising id. `coin` is uniform in [0, 1) and XTC fires when coin < ρ. Ties at the underdog go
    to the lowest id.
    """
    eligible = tuple(ids)
    n = len(eligible)
    if n < 2:
        return Decision(
            Outcome.UNAMBIGUOUS, eligible, (), eligible[0] if eligible else None, 0.0, 0.0
        )
    total = sum(probs)
    least = _least(probs)
    underdog = eligible[least]
    kept_choices = _KEPT[settings.strategy](n, least)
    kept_mass = sum(sum(probs[i] for i in kept) for kept in kept_choices) / len(kept_choices)
    removable = total - kept_mass
    if not coin < settings.rho:
        return Decision(Outcome.SKIPPED, eligible, (), underdog, 0.0, removable)
    # Given that it fired, coin / ρ is again uniform in [0, 1): no second draw is needed.
    kept = kept_choices[min(int(coin / settings.rho * len(kept_choices)), len(kept_choices) - 1)]
    removed = tuple(v for i, v in enumerate(eligible) if i not in kept)
    if not settings.protected.isdisjoint(removed):
        return Decision(Outcome.PROTECTED, eligible, (), underdog, 0.0, removable)
    removed_mass = total - sum(probs[i] for i in kept)
    return Decision(Outcome.FIRED, eligible, removed, underdog, removed_mass, removable)


def expected(
    ids: Sequence[int], probs: Sequence[float], settings: XTCSettings
) -> tuple[float, float]:
    """Return (probability of firing, expected removed mass) over the coin, vetoes included.

    The arguments are those of `decide`. Without protected tokens this is (ρ, ρ·M) at an ambiguous
    step (Proposition 3).
    """
    n = len(ids)
    if n < 2:
        return 0.0, 0.0
    choices = _KEPT[settings.strategy](n, _least(probs))
    share = settings.rho / len(choices)
    fires = mass = 0.0
    for kept in choices:
        removed = [i for i in range(n) if i not in kept]
        if settings.protected.isdisjoint(ids[i] for i in removed):
            fires += share
            mass += share * sum(probs[i] for i in removed)
    return fires, mass


def _least(probs: Sequence[float]) -> int:
    """The position of the underdog: the first of those tied for the least probability."""
    least = len(probs) - 1
    while least and probs[least - 1] == probs[-1]:
        least -= 1
    return least


# For each strategy: the positions in E that survive, one tuple for each equally likely choice.
_KEPT: dict[Strategy, Callable[[int, int], list[tuple[int, ...]]]] = {
    Strategy.KEEP_LEAST: lambda n, least: [(least,)],
    Strategy.KEEP_SECOND: lambda n, least: [(1,)],
    Strategy.KEEP_RANDOM: lambda n, least: [(i,) for i in range(n)],
    Strategy.DROP_TOP: lambda n, least: [tuple(range(1, n))],
}

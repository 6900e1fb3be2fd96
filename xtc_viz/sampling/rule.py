"""The XTC rule on one step's most probable tokens: who is eligible, removed, kept, and why.

This is Algorithm 1 of the paper. The tensor operator (`operator`), the decoder and the what-if view
all decide here, and here alone a probability is held against τ. How other engines differ is data
(`dialect`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from operator import ge, gt
from typing import NamedTuple, TypeVar

from xtc_viz.sampling.dialect import Comparison, Dialect, Removes, Ties, Veto
from xtc_viz.settings import Strategy, XTCSettings

T = TypeVar("T")


class Outcome(StrEnum):
    """What XTC did at a step; exactly one of these."""

    UNAMBIGUOUS = "unambiguous"  # fewer than two eligible tokens: nothing to remove
    SKIPPED = "skipped"  # the coin said no
    PROTECTED = "protected"  # a protected token would have been removed
    FIRED = "fired"


class Decision(NamedTuple):
    """What XTC decided at one step. Token ids stand in order of falling probability.

    `eligible` are all that clear τ, also those that a dialect takes out of E because they are
    protected, so that they are always the first tokens of a step.
    `removable_mass` is M of the paper's Proposition 3: the mass that firing would remove
    (for `keep_random`, its mean over the choices), whatever the coin and the veto then said.
    `beside` are tokens below τ that go too, by a defect of one dialect (`Removes`); their mass is
    in none of the sums.
    """

    outcome: Outcome
    eligible: tuple[int, ...]
    removed: tuple[int, ...]
    underdog: int | None
    removed_mass: float
    removable_mass: float
    beside: tuple[int, ...] = ()

    @property
    def gone(self) -> tuple[int, ...]:
        """All tokens that are no longer there."""
        return self.removed + self.beside


def eligible_count(probs: Sequence[float], xtc: XTCSettings) -> int:
    """Return how many of the probabilities, float32 values in falling order, clear τ.

    They are compared with τ in float32 (`XTCSettings.tau32`).
    """
    dialect = xtc.dialect
    if dialect.inert_above is not None and xtc.tau > dialect.inert_above:
        return 0
    clears = ge if dialect.comparison is Comparison.AT_LEAST else gt
    tau = xtc.tau32
    for place, p in enumerate(probs):  # few do: a walk is faster than a bisection
        if not clears(p, tau):
            return place
    return len(probs)


def decide(
    ids: Sequence[int],
    probs: Sequence[float],
    coin: float,
    xtc: XTCSettings,
) -> Decision:
    """Apply the rule to one step.

    Where a dialect has no coin, this is one of the two outcomes that it mixes (`mixed`).
    `ids` and `probs` are the most probable tokens, at least all that clear τ, in order of falling
    probability, equal ones by rising id. `coin` is uniform in [0, 1) and XTC fires when coin < ρ.
    """
    cleared, ids, probs = _eligible(ids, probs, xtc)
    choices = _choices(ids, probs, cleared, xtc)
    fires = coin < xtc.rho
    beside = _beside(cleared, xtc) if fires and len(ids) > 1 else ()
    if not any(choices):
        underdog = ids[-1] if len(ids) == 1 else None
        return Decision(Outcome.UNAMBIGUOUS, cleared, (), underdog, 0.0, 0.0, beside)
    underdog = ids[_survivors(probs, xtc.dialect).start]
    masses = [sum(_at(places, probs)) for places in choices]
    removable = sum(masses) / len(masses)
    if not fires:
        return Decision(Outcome.SKIPPED, cleared, (), underdog, 0.0, removable)
    # Given that it fired, coin / ρ is again uniform in [0, 1): no second draw is needed.
    choice = min(int(coin / xtc.rho * len(choices)), len(choices) - 1)
    removed = _at(choices[choice], ids)
    if xtc.dialect.veto is Veto.STEP and not xtc.protected.isdisjoint(removed):
        return Decision(Outcome.PROTECTED, cleared, (), underdog, 0.0, removable)
    return Decision(Outcome.FIRED, cleared, removed, underdog, masses[choice], removable, beside)


def expected(ids: Sequence[int], probs: Sequence[float], xtc: XTCSettings) -> tuple[float, float]:
    """Return (probability of firing, expected removed mass) over the coin, vetoes included.

    The arguments are those of `decide`. Without protected tokens this is (ρ, ρ·M) at an ambiguous
    step (Proposition 3).
    """
    cleared, ids, probs = _eligible(ids, probs, xtc)
    choices = _choices(ids, probs, cleared, xtc)
    fires = mass = 0.0
    for places in filter(None, choices):
        if xtc.dialect.veto is not Veto.STEP or xtc.protected.isdisjoint(_at(places, ids)):
            fires += xtc.rho / len(choices)
            mass += xtc.rho / len(choices) * sum(_at(places, probs))
    return fires, mass


def removable(ids: Sequence[int], probs: Sequence[float], xtc: XTCSettings) -> tuple[int, ...]:
    """Return all tokens that firing may remove at a step, whatever coin and veto say.

    The arguments are those of `decide`.
    """
    cleared, ids, probs = _eligible(ids, probs, xtc)
    places = {i for choice in _choices(ids, probs, cleared, xtc) for i in choice}
    return _at(sorted(places), ids)


def mixed(probs: Sequence[float], xtc: XTCSettings) -> list[float]:
    """Return the weights of all tokens, (1 − ρ)·p + ρ·q, where q is what firing leaves of p.

    `probs`, (V,) by token id, are float32 values that add up to 1; so do the weights. An engine
    without a coin draws from them (`Coin.MIXTURE`), with one it draws from them on average.
    The strategy is `keep_least`, the only one that engines have.
    """
    certain = replace(xtc, rho=1.0, strategy=Strategy.KEEP_LEAST)
    order = sorted(range(len(probs)), key=lambda token: (-probs[token], token))
    decision = decide(order, [probs[token] for token in order], 0.0, certain)
    gone = set(decision.gone)
    left = sum(p for token, p in enumerate(probs) if token not in gone)
    raised = (1.0 - xtc.rho) + xtc.rho / left
    lowered = 1.0 - xtc.rho
    return [p * (lowered if token in gone else raised) for token, p in enumerate(probs)]


def _eligible(
    ids: Sequence[int], probs: Sequence[float], xtc: XTCSettings
) -> tuple[tuple[int, ...], tuple[int, ...], Sequence[float]]:
    """Return the tokens that clear τ, and E with its probabilities."""
    n = eligible_count(probs, xtc)
    cleared, probs = tuple(ids[:n]), probs[:n]
    if xtc.dialect.veto is not Veto.OUTSIDE or xtc.protected.isdisjoint(cleared):
        return cleared, cleared, probs
    open_to_it = [i for i, token in enumerate(cleared) if token not in xtc.protected]
    return cleared, _at(open_to_it, cleared), _at(open_to_it, probs)


def _choices(
    ids: Sequence[int], probs: Sequence[float], cleared: Sequence[int], xtc: XTCSettings
) -> list[list[int]]:
    """Return what firing would remove, as places in E, one list for each equally likely choice."""
    n = len(ids)
    if n < 2:
        return []
    if xtc.dialect.removes is not Removes.REST:
        gone = _before(cleared, xtc)
        return [[i for i in range(n) if ids[i] in gone]]
    kept = _KEPT[xtc.strategy](n, _survivors(probs, xtc.dialect))
    choices = [[*range(stay.start), *range(stay.stop, n)] for stay in kept]
    if xtc.dialect.veto is Veto.EXEMPT and xtc.protected:
        return [[i for i in places if ids[i] not in xtc.protected] for places in choices]
    return choices


def _beside(cleared: Sequence[int], xtc: XTCSettings) -> tuple[int, ...]:
    """Return the tokens below τ that go too (`Decision.beside`)."""
    if xtc.dialect.removes is Removes.REST:
        return ()
    return tuple(sorted(_before(cleared, xtc).difference(cleared)))


def _before(cleared: Sequence[int], xtc: XTCSettings) -> set[int]:
    """Return the tokens in front of those that clear τ, but for protected ones (`Removes`)."""
    by_id = xtc.dialect.removes is Removes.BEFORE_BY_ID
    before = {token - 1 for token in cleared if token} if by_id else set(cleared[:-1])
    return before - xtc.protected


def _survivors(probs: Sequence[float], dialect: Dialect) -> range:
    """Return the places of the underdog, or of all underdogs that are tied."""
    last = len(probs) - 1
    first = last
    while first and probs[first - 1] == probs[last]:
        first -= 1
    if dialect.ties is Ties.ALL:
        return range(first, last + 1)
    underdog = last if dialect.ties is Ties.HIGHEST_ID else first
    return range(underdog, underdog + 1)


def _at(places: Iterable[int], values: Sequence[T]) -> tuple[T, ...]:
    return tuple(map(values.__getitem__, places))


# For each strategy: the places in E that survive, a run of them for each equally likely choice.
_KEPT: dict[Strategy, Callable[[int, range], list[range]]] = {
    Strategy.KEEP_LEAST: lambda n, underdogs: [underdogs],
    Strategy.KEEP_SECOND: lambda n, underdogs: [range(1, 2)],
    Strategy.KEEP_RANDOM: lambda n, underdogs: [range(i, i + 1) for i in range(n)],
    Strategy.DROP_TOP: lambda n, underdogs: [range(1, n)],
}

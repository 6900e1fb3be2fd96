"""Test vectors for one engine's rule: the edges, then cases by chance, and what it leaves."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import Left, Received, left, verdict, with_rule
from xtc_viz.engines.vectors.case import GRID, Asked, is_safe, softmax
from xtc_viz.engines.vectors.edges import edges
from xtc_viz.sampling.dialect import Coin, Dialect, Ties, Veto
from xtc_viz.settings import SamplerSettings, XTCSettings

COIN = 0.5
"""No case depends on it: an engine that tosses a coin is asked at probability 0 and 1 alone."""

TOLERANCE = 1e-5
"""Probabilities that differ by less are the same: some compute them in float32."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A case with its answer.

    `survivors` are the tokens that are left; where the engine may keep any of several tied
    underdogs, `or_else` holds the other sets that are right. `weights` are the probabilities of all
    tokens behind XTC. `unlike` names the engines that leave something else.
    """

    asked: Asked
    survivors: tuple[int, ...]
    or_else: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    unlike: tuple[str, ...]


def vectors(engine: Engine, count: int, seed: int) -> list[Vector]:
    """Return the vectors of an engine: all edges that it can be asked, and `count` others."""
    rng = Random(seed)
    mixes = engine.dialect.coin is Coin.MIXTURE
    asked = [case for case in edges() if mixes or case.probability in (0.0, 1.0)]
    asked += [_by_chance(rng, f"by chance {number}", mixes) for number in range(1, count + 1)]
    return [_answered(case, engine) for case in asked]


def _by_chance(rng: Random, name: str, mixes: bool) -> Asked:
    """Return a case that is safe anywhere, rich in ties, masked and protected tokens."""
    while True:
        size = rng.randint(2, 12)
        grid = rng.choice((2, GRID))
        drawn = (round(rng.gauss(0.0, 1.2) * grid) / grid for _ in range(size))
        masked = rng.choice((0.0, 0.0, 0.3))
        logits = tuple(float("-inf") if rng.random() < masked else logit for logit in drawn)
        protected = rng.sample(range(size), rng.choice((0, 0, 1, 2)))
        threshold = round(rng.choice((rng.uniform(0.02, 0.2), rng.uniform(0.02, 0.6))), 3)
        probability = rng.choice((0.25, 0.5, 1.0, 1.0)) if mixes else 1.0
        if max(logits) == float("-inf"):
            continue
        asked = Asked(name, logits, softmax(logits), threshold, probability, frozenset(protected))
        if is_safe(asked):
            return asked


def _answered(asked: Asked, engine: Engine) -> Vector:
    leaves, weights = _answer(asked, engine.dialect)
    survivors = _left_of(weights)
    or_else = tuple(sorted(set(_or_else(survivors, leaves, asked, engine.dialect))))
    unlike = []
    for other in ENGINES.values():
        theirs = _answer(asked, other.dialect)[1]
        if _left_of(theirs) not in or_else and not _same(theirs, weights):
            unlike.append(other.name)
    return Vector(asked, survivors, or_else, weights, tuple(unlike))


def _left_of(weights: Sequence[float]) -> tuple[int, ...]:
    return tuple(v for v, weight in enumerate(weights) if weight > 0.0)


def _same(weights: Sequence[float], others: Sequence[float]) -> bool:
    return all(abs(p - q) < TOLERANCE for p, q in zip(weights, others, strict=True))


def _answer(asked: Asked, dialect: Dialect) -> tuple[Left, tuple[float, ...]]:
    """Return what a rule leaves, and the probabilities of all tokens at the end, by id."""
    leaves = _leaves(asked, dialect)
    p_of = dict(zip(_falling(asked), leaves.probs, strict=True))
    weights = tuple(p_of[v] for v in range(len(p_of)))
    if asked.temperature == 0.0:
        top = weights.index(max(weights))
        weights = tuple(float(v == top) for v in range(len(weights)))
    return leaves, weights


def _falling(asked: Asked) -> tuple[int, ...]:
    return tuple(sorted(range(len(asked.probs)), key=lambda v: (-asked.probs[v], v)))


def _leaves(asked: Asked, dialect: Dialect) -> Left:
    ids = _falling(asked)
    probs = tuple(array("f", [asked.probs[v] for v in ids]))
    rule = XTCSettings(asked.probability, asked.threshold, protected=asked.protected)
    lane = SamplerSettings(xtc=rule, temperature=asked.temperature)
    xtc = with_rule(lane, dialect)
    return left(Received(ids, probs, 0.0), verdict(ids, probs, COIN, xtc), xtc.rho)


def _or_else(
    survivors: tuple[int, ...], leaves: Left, asked: Asked, dialect: Dialect
) -> Iterator[tuple[int, ...]]:
    """Yield the survivors with another underdog, where an engine may keep any of those tied."""
    if dialect.ties is not Ties.ANY or not leaves.removed or len(leaves.underdogs) != 1:
        return
    (underdog,) = leaves.underdogs
    outside = asked.protected if dialect.veto is Veto.OUTSIDE else frozenset()
    for token in leaves.removed:
        if asked.probs[token] == asked.probs[underdog] and token not in outside:
            yield tuple(sorted({*survivors, token} - {underdog}))

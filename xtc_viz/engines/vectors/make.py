"""Test vectors for one engine's rule: the edges, then cases by chance, and what it leaves."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import Received, left, verdict, with_rule
from xtc_viz.engines.vectors.case import GRID, Asked, is_safe, softmax
from xtc_viz.engines.vectors.edges import edges
from xtc_viz.sampling.dialect import Coin, Dialect, Ties
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
    cases = (
        case
        for case in edges()
        if (mixes or case.probability in (0.0, 1.0)) and (engine.min_keep or not case.min_keep)
    )
    rows = [vector for case in cases if (vector := _answered(case, engine))]
    wanted = len(rows) + count
    while len(rows) < wanted:
        case = _by_chance(rng, f"by chance {len(rows) + count - wanted + 1}", mixes)
        if vector := _answered(case, engine):
            rows.append(vector)
    return rows


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


def _answered(asked: Asked, engine: Engine) -> Vector | None:
    """Return a case with its answer, none where an accident decides how much is left of a token."""
    weights, *others = dict.fromkeys(
        _weights(asked, engine, order) for order in _orders(asked, engine.dialect)
    )
    survivors, *or_else = dict.fromkeys(map(_left_of, (weights, *others)))
    if len(or_else) < len(others):
        return None
    unlike = []
    for other in ENGINES.values():
        theirs = _weights(asked, other, _falling(asked))
        if _left_of(theirs) not in or_else and not _same(theirs, weights):
            unlike.append(other.name)
    return Vector(asked, survivors, tuple(sorted(or_else)), weights, tuple(unlike))


def _orders(asked: Asked, dialect: Dialect) -> Iterator[tuple[int, ...]]:
    """Yield the orders of falling p in which an engine's sort may leave the tokens, for the rule
    keeps the first of tied underdogs: by rising id, and with each other one first among equals."""
    falling = _falling(asked)
    yield falling
    if dialect.ties is Ties.ANY:
        for token in falling:
            yield tuple(sorted(falling, key=lambda v: (-asked.probs[v], v != token)))


def _left_of(weights: Sequence[float]) -> tuple[int, ...]:
    return tuple(v for v, weight in enumerate(weights) if weight > 0.0)


def _same(weights: Sequence[float], others: Sequence[float]) -> bool:
    return all(abs(p - q) < TOLERANCE for p, q in zip(weights, others, strict=True))


def _weights(asked: Asked, engine: Engine, ids: tuple[int, ...]) -> tuple[float, ...]:
    """Return what an engine leaves: the probabilities of all tokens, by id.

    `ids` is their order of falling probability.
    """
    probs = tuple(array("f", [asked.probs[v] for v in ids]))
    rule = XTCSettings(asked.probability, asked.threshold, protected=asked.protected)
    xtc = with_rule(SamplerSettings(xtc=rule, temperature=asked.temperature), engine.dialect)
    leaves = left(Received(ids, probs, 0.0), verdict(ids, probs, COIN, xtc), xtc.rho)
    p_of = dict(zip(ids, leaves.probs, strict=True))
    weights = tuple(p_of[v] for v in range(len(p_of)))
    if engine.min_keep and len(_left_of(weights)) < asked.min_keep:
        weights = asked.probs
    if asked.temperature == 0.0:
        top = weights.index(max(weights))
        weights = tuple(float(v == top) for v in range(len(weights)))
    return weights


def _falling(asked: Asked) -> tuple[int, ...]:
    return tuple(sorted(range(len(asked.probs)), key=lambda v: (-asked.probs[v], v)))

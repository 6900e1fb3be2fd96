"""The cases in which engines were found to differ, and those on either side of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, log

from xtc_viz.engines.vectors.case import Asked, Safety, logits_of, softmax

UPPER_HALF = (0.03, 0.3, 0.01, 0.4, 0.2, 0.06)
"""Probabilities in no order: at τ = 0.1 tokens 3, 1 and 4 are eligible, 4 is the underdog."""


def edges() -> list[Asked]:
    """Return all of them, each with a name of its own."""
    return [
        *_eligible(),
        *_ties(),
        *_masked(),
        *_protected(),
        *_settings(),
        *_min_keep(),
        *_exact(),
    ]


def _weighted(
    name: str,
    weights: tuple[float, ...],
    threshold: float,
    protected: tuple[int, ...] = (),
    probability: float = 1.0,
    temperature: float = 1.0,
) -> Asked:
    logits = logits_of(weights)
    return Asked(
        name, logits, softmax(logits), threshold, probability, frozenset(protected), temperature
    )


def _eligible() -> Iterator[Asked]:
    yield _weighted("three eligible", UPPER_HALF, 0.1)
    yield _weighted("two eligible", UPPER_HALF, 0.25)
    yield _weighted("one eligible", UPPER_HALF, 0.35)
    yield _weighted("none eligible", UPPER_HALF, 0.45)
    yield _weighted("all eligible", UPPER_HALF, 0.005)
    yield _weighted("one token alone clears a threshold above one half", (0.2, 0.7, 0.1), 0.6)
    yield _weighted("none clears a threshold above one half", (0.3, 0.4, 0.3), 0.55)
    yield _weighted("threshold just below 1/5 of five equal ones", (1.0,) * 5, 0.199)
    yield _weighted("threshold just above 1/5 of five equal ones", (1.0,) * 5, 0.201)
    yield _weighted("threshold close to 1/4", (0.24, 0.26, 0.245, 0.255), 0.235)


def _ties() -> Iterator[Asked]:
    yield _weighted("two tied underdogs", (0.15, 0.4, 0.15, 0.3), 0.1)
    yield _weighted("three tied underdogs", (0.15, 0.4, 0.15, 0.15, 0.05, 0.1), 0.12)
    yield _weighted("two tied, and nothing else eligible", (0.05, 0.45, 0.05, 0.45), 0.1)
    yield _weighted("two tied on top, and another underdog", (0.35, 0.2, 0.35, 0.1), 0.15)
    yield _weighted("two tied below the threshold", (0.08, 0.5, 0.34, 0.08), 0.1)
    yield _weighted("all are equal and eligible", (1.0,) * 6, 0.1)
    yield _weighted("all are equal and below", (1.0,) * 6, 0.2)


def _masked() -> Iterator[Asked]:
    yield _weighted("masked tokens", (0.0, 0.3, 0.0, 0.5, 0.2, 0.0), 0.1)
    yield _weighted("masked tokens and a tiny threshold", (0.0, 0.3, 0.0, 0.5, 0.2, 0.0), 0.0001)
    yield _weighted("all but two are masked", (0.0, 0.3, 0.0, 0.7), 0.1)
    yield _weighted("all but one are masked", (0.0, 0.0, 1.0, 0.0), 0.1)
    yield _weighted("no token is masked and one has all", (1e-6, 1.0, 1e-7), 0.1)


def _protected() -> Iterator[Asked]:
    yield _weighted("the top is protected", UPPER_HALF, 0.1, (3,))
    yield _weighted("the middle is protected", UPPER_HALF, 0.1, (1,))
    yield _weighted("the underdog is protected", UPPER_HALF, 0.1, (4,))
    yield _weighted("top and underdog are protected", UPPER_HALF, 0.1, (3, 4))
    yield _weighted("all but the underdog are protected", UPPER_HALF, 0.1, (1, 3))
    yield _weighted("all but the top are protected", UPPER_HALF, 0.1, (1, 4))
    yield _weighted("only protected tokens are eligible", UPPER_HALF, 0.1, (1, 3, 4))
    yield _weighted("one eligible token, protected", UPPER_HALF, 0.35, (3,))
    yield _weighted("a token below the threshold is protected", UPPER_HALF, 0.1, (0, 5))
    yield _weighted("two eligible, the top protected", UPPER_HALF, 0.25, (3,))
    yield _weighted("two eligible, the underdog protected", UPPER_HALF, 0.25, (1,))
    tied = (0.15, 0.4, 0.15, 0.3)
    yield _weighted("the first of two tied underdogs is protected", tied, 0.1, (0,))
    yield _weighted("the last of two tied underdogs is protected", tied, 0.1, (2,))
    yield _weighted("a masked token is protected", (0.0, 0.3, 0.0, 0.7), 0.1, (0,))


def _settings() -> Iterator[Asked]:
    yield _weighted("probability 0", UPPER_HALF, 0.1, probability=0.0)
    yield _weighted("probability 0, the top protected", UPPER_HALF, 0.1, (3,), probability=0.0)
    yield _weighted("probability one half", UPPER_HALF, 0.1, probability=0.5)
    yield _weighted("probability 0.9, the middle protected", UPPER_HALF, 0.1, (1,), 0.9)
    yield _weighted("temperature 0", UPPER_HALF, 0.1, temperature=0.0)
    yield _weighted("temperature 0, the top protected", UPPER_HALF, 0.1, (3,), temperature=0.0)
    yield _weighted("temperature 0, one eligible", UPPER_HALF, 0.35, temperature=0.0)
    yield _weighted("temperature 0, probability one half", UPPER_HALF, 0.1, (), 0.5, 0.0)


def _min_keep() -> Iterator[Asked]:
    """Yield those in which as many are left as `min_keep` wants, and one fewer."""
    for name, weights, threshold, left in (
        ("three of six eligible", UPPER_HALF, 0.1, 4),
        ("all six eligible", UPPER_HALF, 0.005, 1),
        ("two, both eligible", (0.3, 0.7), 0.1, 1),
        ("one of six eligible", UPPER_HALF, 0.35, 6),
    ):
        asked = _weighted(name, weights, threshold)
        for min_keep in (left, left + 1):
            named = f"{name}, min_keep {min_keep}"
            yield replace(asked, name=named, min_keep=min_keep)


def _exact() -> Iterator[Asked]:
    """Yield those in which p equals τ, or τ is the next float32 on either side of p."""
    for count in (2, 4):
        p = 1.0 / count
        for masked in (0, 2):
            logits = (-inf,) * masked + (0.0,) * count
            probs = (0.0,) * masked + (p,) * count
            said = f"{count} equal ones" + (", others masked" if masked else "")
            for side, threshold in _around(p):
                name = f"{said}, threshold {side} p"
                yield Asked(name, logits, probs, threshold, safety=Safety.PLAIN)
    probs = (0.125, 0.5, 0.125, 0.25)
    logits = tuple(log(p) for p in probs)
    for place, p in (("underdogs", 0.125), ("middle", 0.25), ("top", 0.5)):
        for side, threshold in _around(p):
            name = f"threshold {side} p of the {place}"
            yield Asked(name, logits, probs, threshold, safety=Safety.PROBS)


def _around(p: float) -> list[tuple[str, float]]:
    """Return a power of two and the float32 values next to it."""
    return [("just below", p - p * 2.0**-24), ("at", p), ("just above", p + p * 2.0**-23)]

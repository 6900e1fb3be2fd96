"""What a test vector asks: logits and settings, and how far rounding may decide it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import exp, fsum, inf, log

GRID = 64
"""Logits are multiples of 1/64: a few decimals write them, and float32 holds them exactly."""
MARGIN = 1e-3
"""In a case that is safe anywhere no p comes nearer to τ, or to another p, relative to it."""


class Safety(StrEnum):
    """Where rounding does not decide a case."""

    ANY = "any"  # whichever way softmax is computed, in float32 or better
    PLAIN = "plain"  # where it is exp(x - max) / sum: p equals τ, or is next to it
    PROBS = "probs"  # where the rule is given the probabilities themselves: the same


@dataclass(frozen=True, slots=True)
class Asked:
    """One case. `logits` are of tokens 0, 1, 2 …; `-inf` masks one. `probs` are their softmax.

    `min_keep` above 0 is for engines alone that have it (`Engine.min_keep`); none is masked then.
    """

    name: str
    logits: tuple[float, ...]
    probs: tuple[float, ...]
    threshold: float
    probability: float = 1.0
    protected: frozenset[int] = frozenset()
    temperature: float = 1.0
    safety: Safety = Safety.ANY
    min_keep: int = 0


def softmax(logits: tuple[float, ...]) -> tuple[float, ...]:
    top = max(logits)
    weights = [exp(logit - top) for logit in logits]
    total = fsum(weights)
    return tuple(weight / total for weight in weights)


def logits_of(weights: tuple[float, ...]) -> tuple[float, ...]:
    """Return logits on the grid, -inf for a weight of 0; equal weights have equal ones."""
    return tuple(round(log(w) * GRID) / GRID if w else -inf for w in weights)


def is_safe(asked: Asked) -> bool:
    """Whether rounding cannot decide: p is off τ, and equal or clearly another p's."""
    falling = sorted(set(asked.probs) - {0.0}, reverse=True)
    apart = all(low < (1.0 - MARGIN) * high for high, low in pairwise(falling))
    return apart and all(abs(p - asked.threshold) > MARGIN * asked.threshold for p in asked.probs)

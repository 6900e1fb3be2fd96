"""Random next-token distributions that tell engines apart, each with its τ and protected tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.float32]


class Case(NamedTuple):
    """`logits` are (V,) float32, unsorted."""

    logits: Logits
    tau: float
    protected: frozenset[int]


def cases(
    count: int, seed: int, *, protect: bool = False, ties: bool = False, ambiguous: bool = True
) -> Iterator[Case]:
    """Yield `count` cases, `ambiguous` ones alone: at least two tokens clear τ.

    `protect` protects one token, any of the ten most probable; `ties` rounds the logits, so that
    many are tied, and takes one token's probability for τ in half of the cases.
    """
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        size = int(rng.integers(4, 41))
        logits = rng.normal(0.0, rng.uniform(0.3, 3.0), size).astype(np.float32)
        if ties:
            logits = (np.round(logits * 2) / 2).astype(np.float32)
        probs = softmax(logits)
        exact = ties and rng.random() < 0.5
        tau = float(rng.choice(probs)) if exact else float(rng.uniform(0.01, 0.5))
        if tau > 0.5:  # mlx-lm refuses it, and nobody else acts there
            continue
        if ambiguous and (probs >= np.float32(tau)).sum() < 2:
            continue
        likely = np.argsort(-probs, kind="stable")[:10]
        protected = frozenset({int(rng.choice(likely))}) if protect else frozenset[int]()
        made += 1
        yield Case(logits, tau, protected)


def softmax(logits: Logits) -> npt.NDArray[np.float32]:
    powers = np.exp(logits.astype(np.float64) - logits.max())
    probs: npt.NDArray[np.float32] = (powers / powers.sum()).astype(np.float32)
    return probs

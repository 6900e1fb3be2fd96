"""A server that does XTC as it is told to, with distributions like those of a language model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xtc_viz.audit.observation import Observation, Place
from xtc_viz.sampling.rule import decide
from xtc_viz.settings import XTCSettings

K = 50
END = 3


def drawn(
    rng: np.random.Generator, rho: float, tau: float, *, temperature: float = 1.0,
    place: Place = Place.BEFORE, protected: frozenset[int] = frozenset(),
) -> Iterator[Observation]:  # fmt: skip
    """Draw tokens for ever; the rule itself decides what is removed."""
    xtc = XTCSettings(rho, tau, protected=protected)
    while True:
        logits = rng.normal(0, 1, 200)
        logits[: rng.integers(1, 7)] += rng.uniform(3, 6)
        p = np.exp(logits) / np.exp(logits).sum()
        tempered = p ** (1 / temperature)
        tempered /= tempered.sum()
        order = np.argsort(-p, kind="stable")
        held = p if place is Place.BEFORE else tempered
        probs = held[order].astype(np.float32).tolist()
        decision = decide(order.tolist(), probs, rng.random(), xtc)
        left = tempered.copy()
        left[list(decision.removed)] = 0
        token = int(rng.choice(len(p), p=left / left.sum()))
        top = order[:K]
        yield Observation(tuple(top.tolist()), tuple(p[top].tolist()), token, temperature)

"""Truncation samplers on a sorted head: top-k, top-p, min-p, typical-p, epsilon, eta.

They keep the tokens that transformers' warpers keep (its `logits_process`), in the order in which
its `generate` runs them, each on the renormalized result of the one before. Two of those warpers
sort the whole vocabulary at every step; here a filter looks at the head and says when it has to
see more of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
import numpy.typing as npt

from xtc_viz.sampling.distribution import Distribution, Floats, Head
from xtc_viz.settings import SamplerSettings

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Support:
    """What a filter sees: the head's tokens that are left, renormalized, in falling order.

    `tail_top` bounds the probability of every token that is left but not in the head; it is 0
    when there is none.
    """

    probs: Floats
    entropy: float
    tail_top: float


Filter = Callable[[Support], Mask | None]
"""Says which tokens of a support to keep, or None: the answer lies deeper in the tail."""


def top_k(k: int) -> Filter:
    def keep(support: Support) -> Mask | None:
        if support.tail_top and len(support.probs) < k:
            return None
        kept: Mask = support.probs >= support.probs[min(k, len(support.probs)) - 1]
        return kept

    return keep


def top_p(mass: float) -> Filter:
    def keep(support: Support) -> Mask | None:
        through = np.cumsum(support.probs)
        if support.tail_top and through[-1] < mass:
            return None
        return through - support.probs < mass

    return keep


def min_p(share: float) -> Filter:
    return _floor(lambda support: share * float(support.probs[0]))


def epsilon(cutoff: float) -> Filter:
    return _floor(lambda support: cutoff)


def eta(cutoff: float) -> Filter:
    return _floor(lambda support: min(cutoff, sqrt(cutoff) * exp(-support.entropy)))


def typical_p(mass: float) -> Filter:
    def keep(support: Support) -> Mask | None:
        distance = np.abs(-np.log(support.probs) - support.entropy)
        order = np.argsort(distance)
        through = np.cumsum(support.probs[order])
        last = int(np.count_nonzero(through < mass))
        farthest = float(distance[order[min(last, len(order) - 1)]])
        if support.tail_top:
            # Every token of the tail is at least this far from the entropy.
            nearest_tail = -log(support.tail_top) - support.entropy
            if last == len(order) or nearest_tail <= farthest:
                return None
        return distance <= farthest

    return keep


def filters(settings: SamplerSettings) -> list[tuple[str, Filter]]:
    """Return the truncation stages that are on, with their settings' names, in running order."""
    stages = {
        "top_k": top_k(settings.top_k) if settings.top_k else None,
        "top_p": top_p(settings.top_p) if settings.top_p < 1 else None,
        "min_p": min_p(settings.min_p) if settings.min_p else None,
        "typical_p": typical_p(settings.typical_p) if settings.typical_p < 1 else None,
        "epsilon_cutoff": epsilon(settings.epsilon_cutoff) if settings.epsilon_cutoff else None,
        "eta_cutoff": eta(settings.eta_cutoff) if settings.eta_cutoff else None,
    }
    return [(name, stage) for name, stage in stages.items() if stage]


@dataclass(frozen=True, slots=True)
class Truncated:
    """A head after truncation.

    `cut_by` gives for each token of the head the number of the stage that dropped it, -1 for
    those that are left; `kept` is the mass left after each stage.
    """

    head: Head
    cut_by: npt.NDArray[np.int8]
    kept: tuple[float, ...]

    def left(self) -> Head:
        """Return the tokens that are left, renormalized: a whole support, without a tail."""
        left = self.cut_by < 0
        probs = (self.head.probs[left] / np.float64(self.kept[-1])).astype(np.float32)
        return Head(self.head.ids[left], probs, 0.0)


def truncate(
    distribution: Distribution, head: Head, stages: list[Filter], entropy: float
) -> Truncated:
    """Run the filters one after the other, on a longer head where they need one.

    `entropy` is that of the whole distribution, in nats. At least one token is always left.
    """
    while (result := _truncate(head, stages, entropy)) is None:
        head = distribution.head(8 * len(head.ids), head.cut / 64)
    return result


def _truncate(head: Head, stages: list[Filter], entropy: float) -> Truncated | None:
    whole = head.probs.astype(np.float64)
    cut_by = np.full(len(whole), -1, dtype=np.int8)
    left = np.arange(len(whole))
    support = Support(whole, entropy, head.cut)
    kept: list[float] = []
    for number, stage in enumerate(stages):
        mask = stage(support)
        if mask is None:
            return None
        cut_by[left[~mask]] = number
        left = left[mask]
        mass = float(whole[left].sum())
        kept.append(mass)
        probs = whole[left] / mass
        support = Support(probs, float(-(probs * np.log(probs)).sum()), 0.0)
    return Truncated(head, cut_by, tuple(kept))


def _floor(threshold: Callable[[Support], float]) -> Filter:
    """A filter that keeps what reaches a threshold, and the most probable tokens in any case."""

    def keep(support: Support) -> Mask | None:
        low = threshold(support)
        if support.tail_top > low:
            return None
        kept: Mask = (support.probs >= low) | (support.probs >= support.probs[0])
        return kept

    return keep

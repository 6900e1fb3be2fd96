"""Truncation on a sorted head: top-nσ, top-k, top-p, min-p, typical-p, epsilon, eta.

They keep the tokens that transformers' warpers keep (its `logits_process`; for top-nσ see
`topnsigma`), each on the renormalized result of the one before. Two of those warpers sort the
whole vocabulary at every step; here a filter looks at the head and says when it has to see more of
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt

import numpy as np
import numpy.typing as npt

from xtc_viz.sampling.distribution import Distribution, Floats, Head, Logits
from xtc_viz.sampling.topnsigma import sigma_floor
from xtc_viz.settings import SamplerSettings, Stage

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Support:
    """What a filter sees: the head's tokens that are left, renormalized, in falling order.

    `tail_top` bounds the probability of every token that is left but not in the head; it is 0
    when there is none. `logits` are those of all tokens that are left.
    """

    probs: Floats
    entropy: float
    tail_top: float
    logits: Logits


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


def top_n_sigma(n: float) -> Filter:
    return _floor(lambda support: sigma_floor(support.logits, n) * float(support.probs[0]))


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


_FILTERS: dict[Stage, Callable[[SamplerSettings], Filter]] = {
    Stage.TOP_N_SIGMA: lambda settings: top_n_sigma(settings.top_n_sigma),
    Stage.TOP_K: lambda settings: top_k(settings.top_k),
    Stage.TOP_P: lambda settings: top_p(settings.top_p),
    Stage.MIN_P: lambda settings: min_p(settings.min_p),
    Stage.TYPICAL_P: lambda settings: typical_p(settings.typical_p),
    Stage.EPSILON_CUTOFF: lambda settings: epsilon(settings.epsilon_cutoff),
    Stage.ETA_CUTOFF: lambda settings: eta(settings.eta_cutoff),
}


def filter_of(stage: Stage, settings: SamplerSettings) -> Filter:
    """Return the filter of a truncation stage."""
    return _FILTERS[stage](settings)


@dataclass(frozen=True, slots=True)
class Truncated:
    """A head after some filters.

    `cut_by` gives for each token of the head the number of the filter that dropped it, -1 for
    those that are left; `kept` is the mass left after each filter. Where the distribution is known
    in part only, `bounded` says that a filter would have had to see more of it.
    """

    head: Head
    cut_by: npt.NDArray[np.int8]
    kept: tuple[float, ...]
    bounded: bool = False

    def left(self, distribution: Distribution) -> Distribution:
        """Return the tokens of `distribution` that are left, renormalized."""
        return distribution.only(self.head, self.cut_by < 0, self.kept[-1])


def truncate(
    distribution: Distribution, head: Head, stages: Sequence[Filter], entropy: float
) -> Truncated:
    """Run the filters one after the other, on a longer head where they need one.

    `entropy` is that of the whole distribution, in nats. At least one token is always left.
    """
    while (result := _truncate(distribution, head, stages, entropy)) is None:
        if distribution.ids is not None:
            # There is no more to see: decide as if there were nothing more.
            known = Head(head.ids, head.probs, 0.0)
            result = _truncate(distribution, known, stages, entropy)
            assert result is not None
            return replace(result, bounded=True)
        head = distribution.head(8 * len(head.ids), head.cut / 64)
    return result


def _truncate(
    distribution: Distribution, head: Head, stages: Sequence[Filter], entropy: float
) -> Truncated | None:
    whole = head.probs.astype(np.float64)
    cut_by = np.full(len(whole), -1, dtype=np.int8)
    left = np.arange(len(whole))
    support = Support(whole, entropy, head.cut, distribution.logits)
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
        log_probs = np.log(probs)
        support = Support(
            probs, float(-(probs * log_probs).sum()), 0.0, log_probs.astype(np.float32)
        )
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

"""Truncation on a sorted head: what the truncation stages leave of it.

The stages keep the tokens that transformers' warpers keep (its `logits_process`, which has no
top-nσ), each on the renormalized result of the one before. Two of those warpers sort the whole
vocabulary at every step; here a filter looks at the head and says when it has to see more of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from xtc_viz.sampling.distribution import Distribution, Head
from xtc_viz.sampling.stages.base import Filter, Support


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


def truncate(distribution: Distribution, head: Head, stages: Sequence[Filter]) -> Truncated:
    """Run the filters one after the other, on a longer head where they need one.

    At least one token is always left.
    """
    while (result := _truncate(distribution, head, stages)) is None:
        if distribution.ids is not None:
            # There is no more to see: decide as if there were nothing more.
            known = Head(head.ids, head.probs, 0.0)
            result = _truncate(distribution, known, stages)
            assert result is not None
            return replace(result, bounded=True)
        head = distribution.head(8 * len(head.ids), head.cut / 64)
    return result


def _truncate(distribution: Distribution, head: Head, stages: Sequence[Filter]) -> Truncated | None:
    whole = head.probs.astype(np.float64)
    cut_by = np.full(len(whole), -1, dtype=np.int8)
    left = np.arange(len(whole))
    support = Support(whole, head.cut, distribution)
    kept: list[float] = []
    for number, stage in enumerate(stages):
        mask = stage(support)
        if mask is None:
            return None
        cut_by[left[~mask]] = number
        left = left[mask]
        probs = whole[left]
        kept.append(float(probs.sum()))
        support = Support(probs / kept[-1])
    return Truncated(head, cut_by, tuple(kept))

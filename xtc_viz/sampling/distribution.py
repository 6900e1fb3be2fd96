"""One next-token distribution, sorted only where it matters.

No full sort of the vocabulary: the tokens above a small cut are found by comparison and sorted,
the tail below it stays where it is. Whoever needs to see further asks for a longer head.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from xtc_viz.errors import DistributionError

Ids = npt.NDArray[np.int64]
Probs = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

_CUT = 2e-4  # on real models about a hundred tokens lie above it
_STEP = 1 / 16


@dataclass(frozen=True, slots=True)
class Distribution:
    """A full distribution p = softmax(logits), (V,) float32, with its logsumexp."""

    logits: Probs
    p: Probs
    log_z: float

    @classmethod
    def of(cls, logits: torch.Tensor) -> Distribution:
        """Normalize `logits`, (V,) float32 on the CPU; -inf masks a token.

        Raises:
            DistributionError: NaN, +inf, or nothing but -inf.
        """
        p = torch.softmax(logits, dim=-1).numpy()
        if np.isnan(p[0]):
            raise DistributionError(
                "the logits must be finite or -inf, with at least one finite value, but are not"
            )
        row = logits.numpy()
        top = int(p.argmax())
        return cls(row, p, float(row[top]) - float(np.log(np.float64(p[top]))))

    def entropy(self) -> float:
        """The entropy of p in nats, over the whole vocabulary."""
        with np.errstate(invalid="ignore"):
            mean = float(np.dot(self.p, self.logits))
        if np.isnan(mean):  # 0 · -inf of a masked token
            held = self.p > 0
            mean = float(np.dot(self.p[held], self.logits[held]))
        return max(0.0, self.log_z - mean)

    def head(self, at_least: int, floor: float) -> Head:
        """Return a head of at least `at_least` tokens (if as many have p > 0) and all p ≥ `floor`.

        Where the first cut admits too few tokens it is lowered, not the vocabulary sorted.
        """
        first = cut = min(_CUT, floor)
        while cut and np.count_nonzero(self.p >= cut) < at_least:
            cut = cut * _STEP if cut > 1e-30 else 0.0
        ids = np.flatnonzero(self.p >= cut if cut else self.p > 0)
        if cut < first and len(ids) > 8 * at_least:  # the lower cut let in the whole tail
            cut = float(np.partition(self.p[ids], -at_least)[-at_least])
            ids = np.flatnonzero(self.p >= cut)
        # One integer a token, p above the id: sorting these is faster than an argsort, and stable.
        falling = np.uint32(0x7FFFFFFF) - self.p[ids].view(np.uint32)
        keys = falling.astype(np.int64) << 32 | ids
        keys.sort()
        ids = keys & 0xFFFFFFFF
        return Head(ids, self.p[ids], cut)


@dataclass(frozen=True, slots=True)
class Head:
    """All tokens with p ≥ `cut`, in falling order, equal ones by rising id.

    `cut` is 0 when the head is the whole support: then there is no tail.
    """

    ids: Ids
    probs: Probs
    cut: float

    @property
    def has_tail(self) -> bool:
        return self.cut > 0.0

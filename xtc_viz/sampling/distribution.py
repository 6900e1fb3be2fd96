"""One next-token distribution, sorted only where it matters.

No full sort of the vocabulary: the tokens above a small cut are found by comparison and sorted,
the tail below it stays where it is. Whoever needs to see further asks for a longer head. A
distribution may also hold a part of the vocabulary: what truncation left, or what a server shows of
its model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xtc_viz.errors import DistributionError

if TYPE_CHECKING:
    import torch

Ids = npt.NDArray[np.int64]
Logits = npt.NDArray[np.float32]
Probs = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

_CUT = 2e-4  # on real models about a hundred tokens lie above it
_STEP = 1 / 16


@dataclass(frozen=True, slots=True)
class PartialLogits:
    """The most probable tokens of a distribution whose rest nobody has shown.

    `ids` (K,) with `log_probs` (K,), natural logs of probabilities over the whole vocabulary, in
    any order; `outside` is the mass of all other tokens, none of which is more probable than the
    least of these. `wider` asks for the same with more tokens, where there are more to be had.
    """

    ids: Ids
    log_probs: Logits
    outside: float
    wider: Callable[[], PartialLogits] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution p over n tokens, and how it came about: p = e^(logits − log_z).

    `ids` names the n tokens, in falling order of p and equal ones by rising id; without it they
    are the whole vocabulary in its own order. `outside` is the mass of the tokens that nobody has
    shown, 0 where all are here. `logits` and `p` are (n,) float32; tokens that are masked have p 0.
    """

    logits: Logits
    p: Probs
    log_z: float
    ids: Ids | None = None
    outside: float = 0.0

    @classmethod
    def of(cls, logits: torch.Tensor) -> Distribution:
        """Normalize `logits`, (V,) float32 on the CPU; -inf masks a token.

        Raises:
            DistributionError: NaN, +inf, or nothing but -inf.
        """
        # Who reads a recorded step needs no torch, and starts sooner without.
        import torch

        p = torch.softmax(logits, dim=-1).numpy()
        if np.isnan(p[0]):
            raise DistributionError(
                "the logits must be finite or -inf, with at least one finite value, but are not"
            )
        row = logits.numpy()
        top = int(p.argmax())
        return cls(row, p, float(row[top]) - float(np.log(np.float64(p[top]))))

    @classmethod
    def among(cls, ids: Ids, logits: Logits, outside: float = 0.0) -> Distribution:
        """Normalize the logits of these tokens, so that they share what lies not `outside`.

        Raises:
            DistributionError: NaN, +inf, or nothing but -inf.
        """
        exact = logits.astype(np.float64)
        top = exact.max(initial=-np.inf)
        if not np.isfinite(top):
            raise DistributionError(
                "the logits must be finite or -inf, with at least one finite value, but are not"
            )
        powers = np.exp(exact - top)
        total = powers.sum() / (1.0 - outside)
        p = (powers / total).astype(np.float32)
        order = np.lexsort((ids, -p))
        log_z = float(top + np.log(total))
        return cls(logits[order], p[order], log_z, ids[order], outside)

    @classmethod
    def partly(cls, known: PartialLogits) -> Distribution:
        """Return what is known of a distribution. Raises `DistributionError` for no probabilities.

        The probabilities are as given: they are not normalized again.
        """
        p = np.exp(known.log_probs.astype(np.float64))
        if not len(p) or not np.isfinite(p).all() or not 0.0 <= known.outside < 1.0:
            raise DistributionError(
                "the log-probabilities must be finite or -inf, with a mass outside in [0, 1), "
                "but are not"
            )
        probs = p.astype(np.float32)
        order = np.lexsort((known.ids, -probs))
        logits = known.log_probs.astype(np.float32)[order]
        return cls(logits, probs[order], 0.0, known.ids[order].astype(np.int64), known.outside)

    def entropy(self) -> float:
        """The entropy of p in nats; where a part lies outside, the least that it may be."""
        if self.ids is not None:
            probs = self.p[self.p > 0].astype(np.float64)
            rest = -self.outside * np.log(self.outside) if self.outside else 0.0
            return max(0.0, float(-(probs * np.log(probs)).sum() + rest))
        with np.errstate(invalid="ignore"):
            mean = float(np.dot(self.p, self.logits))
        if np.isnan(mean):  # 0 · -inf of a masked token
            held = self.p > 0
            mean = float(np.dot(self.p[held], self.logits[held]))
        return max(0.0, self.log_z - mean)

    def probability(self, token: int) -> float:
        """Return p of a token, 0 for one that is not here."""
        if self.ids is None:
            return float(self.p[token])
        return float(self.p[self.ids == token].sum())

    def rank(self, token: int) -> int:
        """Return a token's 1-based place by falling p, equal ones by rising id.

        A token that is not here, because truncation dropped it or nobody has shown it, comes right
        behind those that are.
        """
        p = np.float32(self.probability(token))
        if self.ids is None:
            before = (self.p > p).sum() + (self.p[:token] == p).sum()
            return 1 + int(before)
        held = self.ids[self.p > 0]
        return 1 + int((held == token).argmax() if p > 0 else len(held))

    def mass_without(self, removed: Sequence[int]) -> float:
        """Return the mass of all but these tokens, to float32's digits however little it is."""
        if not removed:
            return 1.0
        gone = np.isin(self.ids, removed) if self.ids is not None else list(removed)
        lost = float(self.p[gone].sum(dtype=np.float64))
        if lost < 0.5:
            return 1.0 - lost
        left = self.p.astype(np.float64)
        left[gone] = 0.0
        return float(left.sum()) + self.outside

    def head(self, at_least: int, floor: float) -> Head:
        """Return a head of at least `at_least` tokens (if as many have p > 0) and all p ≥ `floor`.

        Where the first cut admits too few tokens it is lowered, not the vocabulary sorted.
        """
        if self.ids is not None:
            held = int(np.count_nonzero(self.p))
            least = float(self.p[held - 1]) if self.outside else 0.0
            return Head(self.ids[:held], self.p[:held], min(least, self.outside))
        first = cut = min(_CUT, floor)
        while len(ids := np.flatnonzero(self.p >= cut if cut else self.p > 0)) < at_least and cut:
            cut = cut * _STEP if cut > 1e-30 else 0.0
        if cut < first and len(ids) > 8 * at_least:  # the lower cut let in the whole tail
            cut = float(np.partition(self.p[ids], -at_least)[-at_least])
            ids = np.flatnonzero(self.p >= cut)
        # One integer a token, p above the id: sorting these is faster than an argsort, and stable.
        falling = np.uint32(0x7FFFFFFF) - self.p[ids].view(np.uint32)
        keys = falling.astype(np.int64) << 32 | ids
        keys.sort()
        ids = keys & 0xFFFFFFFF
        return Head(ids, self.p[ids], cut)

    def without(self, removed: Sequence[int]) -> Distribution:
        """Return the distribution without these tokens, whose mass the others share."""
        if not removed:
            return self
        if self.ids is None:
            import torch

            logits = self.logits.copy()
            logits[list(removed)] = -np.inf
            return Distribution.of(torch.from_numpy(logits))
        return self._rest(~np.isin(self.ids, removed), self.mass_without(removed))

    def only(self, head: Head, left: npt.NDArray[np.bool_], mass: float) -> Distribution:
        """Return the tokens of a head that are `left`, whose p together is `mass`."""
        ids = head.ids[left]
        logits = self.logits[ids] if self.ids is None else self.logits[: len(left)][left]
        p = (head.probs[left] / np.float64(mass)).astype(np.float32)
        return Distribution(logits, p, self.log_z + float(np.log(mass)), ids)

    def _rest(self, left: npt.NDArray[np.bool_], mass: float) -> Distribution:
        assert self.ids is not None
        p = (self.p[left] / np.float64(mass)).astype(np.float32)
        log_z = self.log_z + float(np.log(mass))
        return Distribution(self.logits[left], p, log_z, self.ids[left], self.outside / mass)


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

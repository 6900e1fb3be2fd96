"""One token that a server drew, and what each way of doing XTC would have made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Place(StrEnum):
    """Which probabilities an engine holds against τ."""

    BEFORE = "before temperature"
    AFTER = "after temperature"


@dataclass(frozen=True, slots=True)
class Observation:
    """The most probable tokens of a step as the server reported them, and the one that it drew.

    `probs` are a softmax over the whole vocabulary before any sampling, in falling order; `ids`
    theirs. `temperature` is what the request asked for; it is at most 1, as what lies outside the
    reported tokens then weighs nothing. Nothing was cut off.
    """

    ids: Sequence[int]
    probs: Sequence[float]
    token: int
    temperature: float = 1.0

    def tempered(self) -> Floats:
        """Return the probabilities after the temperature, (K,), as if the rest had kept its mass.

        At temperature 1 that is exact; below it what is left out is smaller than it says.
        """
        probs = np.asarray(self.probs, dtype=np.float64)
        if self.temperature == 1.0:
            return probs
        power = 1.0 / self.temperature
        scaled = probs**power
        # The rest weighs at most as if it consisted of tokens like the last one that is known.
        outside = max(0.0, 1.0 - probs.sum()) * probs[-1] ** (power - 1.0)
        tempered: Floats = scaled / (scaled.sum() + outside)
        return tempered


class Hypothesis(NamedTuple):
    """A way of doing XTC, but for ρ: its floor, what it is held against, and whether the ends of a
    text are protected, in which case a step that would remove one is left alone."""

    tau: float
    place: Place = Place.BEFORE
    ends_protected: bool = False


class Evidence(NamedTuple):
    """What observations say of ρ under a hypothesis, (n,) each.

    `mass` is what firing would take from what is drawn, 0 where it would do nothing; `through` says
    that the token drawn is one that firing would have removed.
    """

    mass: Floats
    through: npt.NDArray[np.bool_]


class Observations:
    """Many of them as arrays, so that many hypotheses can be held against them."""

    def __init__(self, every: Sequence[Observation], ends: frozenset[int] = frozenset()) -> None:
        """`ends` are the tokens that end a text, which may be protected or not."""
        width = max((len(one.ids) for one in every), default=1)
        self.warm = np.array([one.temperature == 1.0 for one in every], dtype=bool)
        self._raw = np.zeros((len(every), width))
        self._tempered = np.zeros((len(every), width))
        # The places of the token that was drawn and of the most probable end, `width` for none.
        self._drawn = np.full(len(every), width)
        self._end = np.full(len(every), width)
        for row, one in enumerate(every):
            self._raw[row, : len(one.probs)] = one.probs
            self._tempered[row, : len(one.probs)] = one.tempered()
            if one.token in one.ids:
                self._drawn[row] = one.ids.index(one.token)
            self._end[row] = next((i for i, own in enumerate(one.ids) if own in ends), width)
        self._sums = np.cumsum(self._tempered, axis=1)

    def __len__(self) -> int:
        return len(self._raw)

    def only(self, chosen: npt.NDArray[np.bool_]) -> Observations:
        """Return those that are chosen, (n,)."""
        some = Observations([])
        for name, value in vars(self).items():
            setattr(some, name, value[chosen])
        return some

    def without_ends(self, tau: float) -> Observations:
        """Return those at which no end of a text could be removed at this floor."""
        return self.only(self._end >= self._removed(Hypothesis(tau)))

    def evidence(self, hypothesis: Hypothesis) -> Evidence:
        """Return what firing would have removed, and whether the token drawn was of it."""
        removed = self._removed(hypothesis)
        if hypothesis.ends_protected:
            removed = np.where(self._end < removed, 0, removed)
        rows = np.arange(len(self))
        mass = np.where(removed > 0, self._sums[rows, np.maximum(removed, 1) - 1], 0.0)
        return Evidence(mass, self._drawn < removed)

    def _removed(self, hypothesis: Hypothesis) -> npt.NDArray[np.int64]:
        """Return how many tokens firing would remove, (n,): the most probable ones."""
        before = hypothesis.place is Place.BEFORE
        held = self._raw if before else self._tempered
        count: npt.NDArray[np.int64] = (held >= np.float32(hypothesis.tau)).sum(axis=1)
        return np.maximum(count - 1, 0)

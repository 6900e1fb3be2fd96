"""What a stage of the sampler stack is. Each stands in a module of its own, as its `STAGE`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from xtc_viz.knob import Knob

Ids = npt.NDArray[np.int64]
Logits = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Context = Sequence[int] | Ids
"""The token ids so far, (T,), prompt included."""


class Values(Protocol):
    """The settings of a sampler, as stages see them: values by the names of knobs."""

    def __getattr__(self, name: str) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stop of the stack.

    It is on where one of the knobs that are its `switches` (the first knob, if none are named) is
    not at its default. `place` says where the default order has it: penalties below 50,
    temperature at 50, truncation above; XTC comes last.
    """

    name: str
    label: str
    place: int
    knobs: tuple[Knob, ...]
    switches: tuple[str, ...] = ()

    @property
    def switched_by(self) -> tuple[str, ...]:
        """The names of the knobs that switch it on."""
        return self.switches or (self.knobs[0].name,)

    def is_on(self, settings: Values) -> bool:
        defaults = {knob.name: knob.default for knob in self.knobs}
        return any(getattr(settings, name) != defaults[name] for name in self.switched_by)


@dataclass(frozen=True, slots=True)
class Change:
    """What penalties do to logits: those of `ids` change, all others stay.

    Both directions keep -inf as it is: a token that was masked stays masked.
    """

    ids: Ids  # (n,), rising, no id twice
    factor: float  # repetition penalty of these ids; 1 changes nothing
    lowered: Logits  # (n,), subtracted after that

    def apply(self, logits: Logits) -> Logits:
        """Return the new logits of `ids`, (n,) float32, given the old ones in the same order."""
        factor = np.float32(self.factor)
        return np.where(logits < 0, logits * factor, logits / factor) - self.lowered

    def undo(self, logits: Logits) -> Logits:
        """Return what `apply` was given, up to the rounding of float32.

        It rounds in steps of what was subtracted: a DRY penalty of millions leaves nothing to
        read the old logit from.
        """
        factor = np.float32(self.factor)
        scaled = logits + self.lowered
        return np.where(scaled < 0, scaled / factor, scaled * factor)


NO_CHANGE = Change(np.empty(0, dtype=np.int64), 1.0, np.empty(0, dtype=np.float32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalty(Stage):
    """A stage that lowers logits by what was written before."""

    change: Callable[[Values, Context], Change]


def last(window: int, context: Context) -> Ids:
    """Return the last `window` token ids of a context, all of them for 0."""
    return np.asarray(context, dtype=np.int64)[-window:]


def counted(window: int, context: Context) -> tuple[Ids, Ids]:
    """Return the distinct ids among the last ones, rising, and how often each occurs."""
    return np.unique(last(window, context), return_counts=True)


class Whole(Protocol):
    """A distribution in which nothing is dropped yet."""

    @property
    def logits(self) -> Logits: ...

    def entropy(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Support:
    """What a filter sees: the head's tokens that are left, renormalized, in falling order.

    `tail_top` bounds the probability of every token that is left but not in the head; it is 0
    when there is none. Before the first filter `whole` is the distribution whose head this is.
    """

    probs: Floats
    tail_top: float = 0.0
    whole: Whole | None = None

    @property
    def entropy(self) -> float:
        """The entropy of all tokens that are left, in nats."""
        if self.whole:
            return self.whole.entropy()
        return float(-(self.probs * np.log(self.probs)).sum())

    @property
    def logits(self) -> Logits:
        """The logits of all tokens that are left, up to a constant."""
        return self.whole.logits if self.whole else np.log(self.probs).astype(np.float32)


Filter = Callable[[Support], Mask | None]
"""Says which tokens of a support to keep, or None: the answer lies deeper in the tail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation(Stage):
    """A stage that drops tokens.

    `line` is the probability at which it cuts, from the settings and the largest probability that
    it receives, where that can be drawn; `reach` the mass at which it stops. `sees_all` says that
    the whole distribution decides, such as by its entropy, and not its head alone.
    """

    filter: Callable[[Values], Filter]
    sees_all: bool = False
    line: Callable[[Values, float], float] | None = None
    reach: Callable[[Values], float] | None = None


def floor(threshold: Callable[[Support], float]) -> Filter:
    """Return a filter that keeps what reaches a threshold, and the most probable in any case."""

    def keep(support: Support) -> Mask | None:
        low = threshold(support)
        if support.tail_top > low:
            return None
        kept: Mask = (support.probs >= low) | (support.probs >= support.probs[0])
        return kept

    return keep

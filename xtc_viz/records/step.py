"""One decoded position of one lane: the distribution, XTC's decision on it, and what was drawn."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntFlag
from typing import NamedTuple

from xtc_viz.sampling.rule import Outcome


class Bound(IntFlag):
    """What of a step is a bound and not exact: the model showed its most probable tokens only."""

    NONE = 0
    ENTROPY = 1  # the entropy is the least that it may be
    ELIGIBLE = 2  # more tokens may clear τ
    TRUNCATION = 4  # a truncation stage may have kept other tokens
    SCALE = 8  # a penalty or a temperature changed probabilities whose sum is not known exactly
    DRAW = 16  # a token that was not shown may have won the draw
    DICE = 32  # a server drew the token, but not by the dice that are recorded here


NO_COIN = 1.0 - 2.0**-24
"""Stands for the coin of a step at which a server tossed none; none is larger."""


class Candidate(NamedTuple):
    """One token of a step's distribution: p before XTC, as XTC received it."""

    token: int
    p: float


@dataclass(frozen=True, slots=True)
class Step:
    """One decoded position of one lane. Probabilities are float32 values, entropy is in nats.

    `ids` and `probs` are the K most probable tokens of the distribution that XTC received, in
    falling order (equal ones by rising id), and after them the drawn and the counterfactual token
    where they lie outside; the first `eligible` of them clear τ. With `eligible` at most K this
    is all that XTC looked at.

    `text` is the text that became certain with this token: the texts of a lane add up to it.
    `counterfactual` is what the same noise draws without XTC. `p` and `q` are the drawn token's
    probabilities before XTC and at the end of the stack, `rank` its 1-based place in p.
    `log_z_raw` is the logsumexp of the model's own logits and `log_z` that after penalties and
    temperature. `kept` is the mass that is left after each truncation stage that is on, in order;
    `cut_ids`, `cut_probs` are the most probable tokens that they dropped, with their p before
    truncation, and `cut_by` says by which of those stages. `log_z_final` is the log of Σ p^(1/T)
    over what XTC left, where a temperature alone comes after XTC; else log(1 - removed mass).
    `forced` says that a person chose the token, not the dice.

    Where several stages before XTC change logits, `log_zs` holds the logsumexp behind each of them
    but the last, whose is `log_z`; `kept` and `cut_probs` are then shares of what the last of them
    before the truncation left. `temperature` is the one of this step where it follows the entropy,
    else 0. `final` holds what the tokens of `ids` are drawn with, where more than a temperature
    comes after XTC (`sampling.plan`). `bound` says which of all this is not exact.
    """

    token: int
    text: str
    counterfactual: int
    outcome: Outcome
    coin: float
    eligible: int
    removed: tuple[int, ...]
    removed_mass: float
    removable_mass: float
    entropy: float
    p: float
    q: float
    rank: int
    log_z_raw: float
    log_z: float
    log_z_final: float
    ids: array[int] = field(repr=False)
    probs: array[float] = field(repr=False)
    kept: tuple[float, ...] = ()
    cut_ids: array[int] = field(repr=False, default_factory=lambda: array("i"))
    cut_probs: array[float] = field(repr=False, default_factory=lambda: array("f"))
    cut_by: array[int] = field(repr=False, default_factory=lambda: array("b"))
    forced: bool = False
    log_zs: tuple[float, ...] = ()
    temperature: float = 0.0
    final: array[float] = field(repr=False, default_factory=lambda: array("f"))
    bound: Bound = Bound.NONE

    @property
    def fired(self) -> bool:
        return self.outcome is Outcome.FIRED

    @property
    def changed(self) -> bool:
        """XTC fired and the same random numbers would have drawn another token without it."""
        return self.fired and not self.forced and self.token != self.counterfactual

    @property
    def from_tail(self) -> bool:
        """XTC fired and the token drawn lay below τ before: its share had grown by the firing.

        Whether the same random numbers would have drawn it without XTC is another question, which
        `changed` answers.
        """
        return self.fired and not self.forced and self.rank > self.eligible

    @property
    def underdog(self) -> int | None:
        """The least probable eligible token, ties to the lowest id."""
        if not self.eligible:
            return None
        least = self.probs[self.eligible - 1]
        return min(self.ids[i] for i in range(self.eligible) if self.probs[i] == least)

    @property
    def tail_mass(self) -> float:
        """The mass of all tokens that are not recorded, so that the bars add up to 1."""
        return max(0.0, 1.0 - sum(self.probs))

    def candidates(self) -> Iterator[Candidate]:
        """The recorded tokens, most probable first."""
        return map(Candidate._make, zip(self.ids, self.probs, strict=True))

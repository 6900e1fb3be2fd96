"""What XTC did, step by step: how often it fired, what it removed, how much of what is drawn was
implausible, and what would have been without the veto of protected tokens.

Probabilities are those that XTC received and left: a temperature behind it is not in them, one
before it is. Implausible is what lies below τ there, so a higher temperature before XTC makes more
tokens implausible by itself. In lanes without XTC (ρ = 0) their own τ says so all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xtc_viz.records.columns import OUTCOMES
from xtc_viz.records.packed import Steps
from xtc_viz.records.step import Step
from xtc_viz.sampling.rule import Outcome, expected
from xtc_viz.settings import XTCSettings

Floats = npt.NDArray[np.float64]


class StepArrays:
    """The steps of one generation as arrays, (steps,) each."""

    def __init__(self, steps: Steps, xtc: XTCSettings) -> None:
        def column(name: str) -> npt.NDArray[Any]:
            return np.asarray(steps.column(name)[0])

        outcome, self.eligible = column("outcome"), column("eligible")
        self.fired = outcome == OUTCOMES.index(Outcome.FIRED)
        self.vetoed = outcome == OUTCOMES.index(Outcome.PROTECTED)
        self.forced = column("forced") != 0
        self.removed_mass, self.removable_mass = column("removed_mass"), column("removable_mass")
        # What firing removes, at the steps at which it did or was stopped by the veto alone.
        self.free_mass = np.where(self.vetoed, self.removable_mass, self.removed_mass)
        ids, ends = map(np.asarray, steps.column("ids"))
        first, row = ends[:-1].astype(np.int64), np.repeat(np.arange(len(steps)), np.diff(ends))
        clears = np.arange(len(ids)) - first[row] < self.eligible[row]

        def among_eligible(matches: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
            return np.bincount(row[matches & clears], minlength=len(steps)) > 0

        mass = np.bincount(row[clears], column("probs")[clears], minlength=len(steps))
        self.tail = np.clip(1.0 - mass, 0.0, 1.0)
        removed, removed_ends = map(np.asarray, steps.column("removed"))
        top = np.append(removed, -1)[removed_ends[:-1]]  # the most probable one stands first
        self.top_removed = self.fired & (np.diff(removed_ends) > 0) & (top == ids[first])
        drawn = column("token") != column("counterfactual")
        self.changed = self.fired & ~self.forced & drawn
        self.tail_drawn = column("rank") > self.eligible
        self.tail_without = ~among_eligible(ids == column("counterfactual")[row])
        self.free_expected = xtc.rho * self.removable_mass
        self.expected = self.free_expected.copy()
        for i in np.flatnonzero(among_eligible(np.isin(ids, [*xtc.protected]))):
            step = steps[int(i)]
            n = step.eligible
            self.expected[i] = expected(step.ids[:n], step.probs[:n], xtc)[1]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of each step, and what its mean over steps says.

    `values` gives one for each step, (steps,), NaN where a step does not count. `unit` is empty for
    a share.
    """

    name: str
    label: str
    meaning: str
    values: Callable[[StepArrays], npt.ArrayLike]
    unit: str = ""


def _kl(removed: Floats) -> Floats:
    """Return KL(q‖p) for q renormalized after this mass was removed: Σ q·ln(1/(1 − m))."""
    return 0.0 - np.log1p(-removed)  # not −0


def _lifted(tail: Floats, removed: Floats) -> Floats:
    """Return the share of the tail after this mass was removed."""
    return np.minimum(1.0, tail / (1.0 - removed))


QUANTITIES = (
    Quantity(
        "ambiguous", "Undecided", "The share of steps at which two or more tokens clear τ.",
        lambda steps: steps.eligible >= 2,
    ),
    Quantity(
        "activation", "Fired", "The share of steps at which XTC removed something.",
        lambda steps: steps.fired,
    ),
    Quantity(
        "activation_without_veto", "Would fire without the veto",
        "The same if no token were protected.",
        lambda steps: steps.fired | steps.vetoed,
    ),
    Quantity(
        "top_changed", "Top token removed",
        "The share of steps at which another token became the most probable one.",
        lambda steps: steps.top_removed,
    ),
    Quantity(
        "changed", "Word changed",
        "The share of steps at which the same random numbers would have drawn another token "
        "without XTC.",
        lambda steps: steps.changed,
    ),
    Quantity(
        "eligible", "|E|", "How many tokens clear τ.",
        lambda steps: steps.eligible, unit="tokens",
    ),
    Quantity(
        "removed_mass", "Removed mass",
        "How much probability XTC removed, over all steps: 0 where it did not fire.",
        lambda steps: steps.removed_mass,
    ),
    Quantity(
        "removed_mass_without_veto", "Removed mass without the veto",
        "The same if no token were protected.",
        lambda steps: steps.free_mass,
    ),
    Quantity(
        "removed_mass_fired", "Removed mass where it fired",
        "How much probability XTC removed at the steps at which it fired.",
        lambda steps: np.where(steps.fired, steps.removed_mass, np.nan),
    ),
    Quantity(
        "expected_mass", "Expected removed mass",
        "What it would remove on average over its coin, at these steps.",
        lambda steps: steps.expected,
    ),
    Quantity(
        "expected_mass_without_veto", "Expected removed mass without the veto",
        "ρ·M of the paper's Proposition 3.",
        lambda steps: steps.free_expected,
    ),
    Quantity(
        "kl", "KL(q‖p)", "How far XTC moved the distribution, 0 where it did not fire.",
        lambda steps: _kl(steps.removed_mass), unit="nats",
    ),
    Quantity(
        "kl_without_veto", "KL(q‖p) without the veto", "The same if no token were protected.",
        lambda steps: _kl(steps.free_mass), unit="nats",
    ),
    Quantity(
        "tail_before", "Tail share before",
        "How much probability lay below τ before XTC.",
        lambda steps: steps.tail,
    ),
    Quantity(
        "tail_after", "Tail share after",
        "How much of it there is after XTC, whose removal lifts the tail along with the rest.",
        lambda steps: _lifted(steps.tail, steps.removed_mass),
    ),
    Quantity(
        "tail_after_without_veto", "Tail share after, without the veto",
        "The same if no token were protected.",
        lambda steps: _lifted(steps.tail, steps.free_mass),
    ),
    Quantity(
        "tail_drawn", "Drawn from the tail",
        "The share of tokens that lay below τ and were drawn.",
        lambda steps: np.where(steps.forced, np.nan, steps.tail_drawn),
    ),
    Quantity(
        "tail_drawn_without_xtc", "Drawn from the tail without XTC",
        "The same for what the same random numbers draw without XTC at the same steps.",
        lambda steps: np.where(steps.forced, np.nan, steps.tail_without),
    ),
)  # fmt: skip
"""All of them. For `keep_random`, what a vetoed step would have removed is its mean over the
choices; where a model shows only its most probable tokens, |E| may be too small (`Step.bound`)."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The means of all quantities over some steps, by name; None where no step counts."""

    steps: int
    values: dict[str, float | None]


def observe(steps: Iterable[Step], xtc: XTCSettings) -> Floats:
    """Return the quantities of each step of one generation, (steps, quantities), NaN for None.

    `xtc` are the settings that the steps were made with, in the paper's dialect.
    """
    arrays = StepArrays(steps if isinstance(steps, Steps) else Steps(steps), xtc)
    return np.column_stack(
        [np.asarray(quantity.values(arrays), dtype=np.float64) for quantity in QUANTITIES]
    )


def pooled(observations: Iterable[Floats]) -> Mechanism:
    """Return the means over all steps of some generations: each step counts the same."""
    steps = counts = 0
    sums: Floats = np.zeros(len(QUANTITIES))
    for table in observations:
        steps += len(table)
        counts = counts + (~np.isnan(table)).sum(axis=0)
        sums = sums + np.nansum(table, axis=0)
    return _means(steps, sums, np.broadcast_to(counts, sums.shape))


def by_position(observations: Sequence[Floats]) -> list[Mechanism]:
    """Return the means at each position over the generations that are that long."""
    longest = max(map(len, observations), default=0)
    sums, counts = np.zeros((2, longest, len(QUANTITIES)))
    steps = np.zeros(longest, dtype=np.int64)
    for table in observations:
        steps[: len(table)] += 1
        counts[: len(table)] += ~np.isnan(table)
        sums[: len(table)] += np.nan_to_num(table)
    return [_means(int(steps[i]), sums[i], counts[i]) for i in range(longest)]


def by_label(observations: Iterable[tuple[str, Floats]]) -> dict[str, Mechanism]:
    """Return the means for each label, such as a genre, in the order in which labels occur."""
    tables: dict[str, list[Floats]] = {}
    for label, table in observations:
        tables.setdefault(label, []).append(table)
    return {label: pooled(some) for label, some in tables.items()}


def _means(steps: int, sums: Floats, counts: npt.NDArray[np.generic]) -> Mechanism:
    columns = zip(QUANTITIES, sums.tolist(), counts.tolist(), strict=True)
    return Mechanism(steps, {q.name: total / n if n else None for q, total, n in columns})

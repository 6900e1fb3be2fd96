"""What XTC did, step by step: how often it fired, what it removed, how much of what is drawn was
implausible, and what would have been without the veto of protected tokens.

Probabilities are those that XTC received and left: a temperature behind it is not in them, one
before it is. Implausible is what lies below τ there, so a higher temperature before XTC makes more
tokens implausible by itself. In lanes without XTC (ρ = 0) their own τ says so all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xtc_viz.records.step import Step
from xtc_viz.sampling.rule import Outcome, expected
from xtc_viz.settings import XTCSettings

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of one step, and what its mean over steps says.

    `value` is None where a step does not count. `unit` is empty for a share.
    """

    name: str
    label: str
    meaning: str
    value: Callable[[Step, XTCSettings], float | None]
    unit: str = ""


def _removed(step: Step, *, veto: bool = True) -> float:
    """Return the mass that was removed, or would have been without the veto."""
    if step.outcome is Outcome.PROTECTED and not veto:
        return step.removable_mass
    return step.removed_mass


def _expected(step: Step, xtc: XTCSettings) -> float:
    if not xtc.protected or step.outcome is Outcome.UNAMBIGUOUS:
        return xtc.rho * step.removable_mass
    n = step.eligible
    return expected(step.ids[:n], step.probs[:n], xtc)[1]


def _tail(step: Step) -> float:
    """Return the mass of the tokens below τ as XTC received it."""
    return max(0.0, 1.0 - sum(step.probs[: step.eligible]))


def _kl(removed: float) -> float:
    """Return KL(q‖p) for q renormalized after this mass was removed: Σ q·ln(1/(1 − m))."""
    return -math.log1p(-removed)


QUANTITIES = (
    Quantity(
        "ambiguous", "Undecided", "The share of steps at which two or more tokens clear τ.",
        lambda step, xtc: step.eligible >= 2,
    ),
    Quantity(
        "activation", "Fired", "The share of steps at which XTC removed something.",
        lambda step, xtc: step.fired,
    ),
    Quantity(
        "activation_without_veto", "Would fire without the veto",
        "The same if no token were protected.",
        lambda step, xtc: step.fired or step.outcome is Outcome.PROTECTED,
    ),
    Quantity(
        "top_changed", "Top token removed",
        "The share of steps at which another token became the most probable one.",
        lambda step, xtc: step.fired and step.ids[0] in step.removed,
    ),
    Quantity(
        "changed", "Word changed",
        "The share of steps at which the same random numbers would have drawn another token "
        "without XTC.",
        lambda step, xtc: step.changed,
    ),
    Quantity(
        "eligible", "|E|", "How many tokens clear τ.",
        lambda step, xtc: step.eligible, unit="tokens",
    ),
    Quantity(
        "removed_mass", "Removed mass",
        "How much probability XTC removed, over all steps: 0 where it did not fire.",
        lambda step, xtc: _removed(step),
    ),
    Quantity(
        "removed_mass_without_veto", "Removed mass without the veto",
        "The same if no token were protected.",
        lambda step, xtc: _removed(step, veto=False),
    ),
    Quantity(
        "removed_mass_fired", "Removed mass where it fired",
        "How much probability XTC removed at the steps at which it fired.",
        lambda step, xtc: step.removed_mass if step.fired else None,
    ),
    Quantity(
        "expected_mass", "Expected removed mass",
        "What it would remove on average over its coin, at these steps.",
        _expected,
    ),
    Quantity(
        "expected_mass_without_veto", "Expected removed mass without the veto",
        "ρ·M of the paper's Proposition 3.",
        lambda step, xtc: xtc.rho * step.removable_mass,
    ),
    Quantity(
        "kl", "KL(q‖p)", "How far XTC moved the distribution, 0 where it did not fire.",
        lambda step, xtc: _kl(_removed(step)), unit="nats",
    ),
    Quantity(
        "kl_without_veto", "KL(q‖p) without the veto", "The same if no token were protected.",
        lambda step, xtc: _kl(_removed(step, veto=False)), unit="nats",
    ),
    Quantity(
        "tail_before", "Tail share before",
        "How much probability lay below τ before XTC.",
        lambda step, xtc: _tail(step),
    ),
    Quantity(
        "tail_after", "Tail share after",
        "How much of it there is after XTC, whose removal lifts the tail along with the rest.",
        lambda step, xtc: min(1.0, _tail(step) / (1 - _removed(step))),
    ),
    Quantity(
        "tail_after_without_veto", "Tail share after, without the veto",
        "The same if no token were protected.",
        lambda step, xtc: min(1.0, _tail(step) / (1 - _removed(step, veto=False))),
    ),
    Quantity(
        "tail_drawn", "Drawn from the tail",
        "The share of tokens that lay below τ and were drawn.",
        lambda step, xtc: None if step.forced else step.rank > step.eligible,
    ),
    Quantity(
        "tail_drawn_without_xtc", "Drawn from the tail without XTC",
        "The same for what the same random numbers draw without XTC at the same steps.",
        lambda step, xtc: None if step.forced
        else step.counterfactual not in step.ids[: step.eligible],
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
    values = [[quantity.value(step, xtc) for quantity in QUANTITIES] for step in steps]
    return np.array(values, dtype=np.float64).reshape(len(values), len(QUANTITIES))


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

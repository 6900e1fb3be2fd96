"""What XTC finds in a model: how often its head is ambiguous, and how much is removed there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from xtc_viz.models.base import LanguageModel
from xtc_viz.records.step import Step
from xtc_viz.runs.protection import NOTHING
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

POSITIONS = 64  # as in the paper's "Mechanism diagnostics"
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def text(self, unit: str = "") -> str:
        """Such as `41.2 % (38.0 to 44.5)` for the unit `%`, or `1.53 (1.47 to 1.60)`."""
        if unit == "%":
            value, low, high = (f"{100 * x:.1f}" for x in (self.value, self.low, self.high))
            return f"{value} % ({low} to {high})"
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def ratio(numerators: Sequence[float], denominators: Sequence[float], seed: int = 0) -> Estimate:
    """Σ numerator / Σ denominator over prompts, resampled by prompt.

    Steps of one prompt are alike, so the prompts and not the steps are what is drawn again.
    """
    above, below = np.asarray(numerators, float), np.asarray(denominators, float)
    draws = np.random.default_rng(seed).integers(len(above), size=(RESAMPLES, len(above)))
    if not below.any():  # the mean of nothing, such as the removed mass where XTC never acts
        return Estimate(np.nan, np.nan, np.nan)
    values = above[draws].sum(1) / np.maximum(below[draws].sum(1), 1e-12)
    low, high = np.quantile(values, [0.025, 0.975])
    return Estimate(float(above.sum() / below.sum()), float(low), float(high))


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The paper's token-level diagnostics of one XTC setting."""

    tau: float
    rho: float
    steps: int
    ambiguous: Estimate  # share of steps with at least two eligible tokens
    fired: Estimate  # share of steps at which XTC acted
    changed: Estimate  # share of steps whose token would have been another one
    eligible: Estimate  # mean |E| over all steps
    eligible_ambiguous: Estimate  # mean |E| over the ambiguous ones
    removed: Estimate  # mean removed mass where it acted
    expected: Estimate  # mean rho * M over all steps
    expected_ambiguous: Estimate  # mean rho * M over the ambiguous ones


def lane(tau: float, rho: float) -> LaneSettings:
    """A lane with plain XTC at temperature 1, as in the paper: nothing protected."""
    return LaneSettings(f"{tau}", SamplerSettings(xtc=XTCSettings(rho=rho, tau=tau)))


def mechanism(
    model: LanguageModel,
    prompts: Sequence[str],
    *,
    taus: Sequence[float],
    rho: float,
    seeds: Sequence[int],
) -> list[Mechanism]:
    """Decodes every prompt with every seed, one lane a tau, and sums up their steps."""
    lanes = tuple(lane(tau, rho) for tau in taus)
    by_tau: list[list[list[Step]]] = [[] for _ in taus]  # and by prompt
    for prompt in prompts:
        requests = [
            Request(prompt, RunSettings(lanes=lanes, seed=seed, max_new_tokens=POSITIONS), NOTHING)
            for seed in seeds
        ]
        traces = [record(model, request) for request in requests]
        for number, by_prompt in enumerate(by_tau):
            by_prompt.append([step for trace in traces for step in trace.lanes[number].steps])
    return [summarize(by_prompt, tau, rho) for by_prompt, tau in zip(by_tau, taus, strict=True)]


def summarize(by_prompt: Sequence[Sequence[Step]], tau: float, rho: float) -> Mechanism:
    """The figures of one setting from its steps, prompt by prompt."""

    def total(of: Callable[[Step], float]) -> list[float]:
        return [sum(map(of, steps)) for steps in by_prompt]

    steps = total(lambda _: 1)
    ambiguous = total(lambda s: s.eligible >= 2)
    fired = total(lambda s: s.fired)
    mass = total(lambda s: rho * s.removable_mass)  # M is 0 where fewer than two are eligible
    return Mechanism(
        tau=tau,
        rho=rho,
        steps=int(sum(steps)),
        ambiguous=ratio(ambiguous, steps),
        fired=ratio(fired, steps),
        changed=ratio(total(lambda s: s.changed), steps),
        eligible=ratio(total(lambda s: s.eligible), steps),
        eligible_ambiguous=ratio(total(lambda s: s.eligible * (s.eligible >= 2)), ambiguous),
        removed=ratio(total(lambda s: s.removed_mass), fired),
        expected=ratio(mass, steps),
        expected_ambiguous=ratio(mass, ambiguous),
    )

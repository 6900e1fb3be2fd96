"""What other XTC settings would have decided along a recorded text, without the model.

Every recorded step is decided again, by the same rule and with its own coin, on the distribution
that XTC received there. The text stays as it is: this is no new generation. It is exact for every
τ above the least recorded probability of a step, and so for every τ ≥ 1/K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log, log1p

from xtc_viz.records.trace import Step
from xtc_viz.sampling.rule import Decision, Outcome, decide, eligible_count, expected
from xtc_viz.settings import SamplerSettings, XTCPlace, XTCSettings


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The decisions along a fixed text, one a step, and their expectation over the coins.

    `exact` is False when a step may have had more eligible tokens than were recorded.
    `expected_interventions` counts steps, `expected_removed_mass` is a sum over the steps; both
    take the veto of protected tokens into account.
    """

    decisions: tuple[Decision, ...]
    exact: bool
    expected_interventions: float
    expected_removed_mass: float

    def count(self, outcome: Outcome) -> int:
        """How many steps have this outcome."""
        return sum(decision.outcome is outcome for decision in self.decisions)


def evaluate(steps: Sequence[Step], xtc: XTCSettings, top_candidates: int) -> WhatIf:
    """Decide every step again with other settings.

    `top_candidates` is K of the run that recorded the steps.
    """
    decisions = []
    exact = True
    interventions = mass = 0.0
    for step in steps:
        n, complete = _eligible(step, xtc, top_candidates)
        ids, probs = step.ids[:n], step.probs[:n]
        decisions.append(decide(ids, probs, step.coin, xtc))
        exact = exact and complete
        fires, removed = expected(ids, probs, xtc)
        interventions += fires
        mass += removed
    return WhatIf(tuple(decisions), exact, interventions, mass)


def decided(step: Step, decision: Decision, sampler: SamplerSettings) -> Step:
    """Return a recorded step as `decision` would have left it; its token stays as it was."""
    log_z_final = log1p(-decision.removed_mass)
    if sampler.temperature == 0.0:
        log_z_final = step.log_z_final
    elif sampler.xtc_place is XTCPlace.BEFORE_TEMPERATURE:
        # Σ p^(1/T) over what is left: put back what was removed, take out what would be.
        powers = {
            v: p ** (1.0 / sampler.temperature) for v, p in zip(step.ids, step.probs, strict=True)
        }
        back = sum(powers[v] for v in step.removed) - sum(powers[v] for v in decision.removed)
        log_z_final = log(exp(step.log_z_final) + back)
    return replace(
        step,
        outcome=decision.outcome,
        eligible=len(decision.eligible),
        removed=decision.removed,
        removed_mass=decision.removed_mass,
        removable_mass=decision.removable_mass,
        log_z_final=log_z_final,
    )


@dataclass(frozen=True, slots=True)
class IntensityMap:
    """Expected interventions and removed mass per step over a grid, rows by ρ, columns by τ."""

    rhos: tuple[float, ...]
    taus: tuple[float, ...]
    interventions: tuple[tuple[float, ...], ...]
    removed_mass: tuple[tuple[float, ...], ...]


def intensity_map(
    steps: Sequence[Step],
    xtc: XTCSettings,
    rhos: Sequence[float],
    taus: Sequence[float],
    top_candidates: int,
) -> IntensityMap:
    """Return how strongly XTC would act along a text for every pair of ρ and τ.

    Strategy and protected tokens are those of `xtc`. Both expectations grow linearly with ρ, so
    each τ is looked at once.
    """
    at_one = []
    for tau in taus:
        settings = replace(xtc, rho=1.0, tau=tau)
        found = [(step, _eligible(step, settings, top_candidates)[0]) for step in steps]
        pairs = [expected(step.ids[:n], step.probs[:n], settings) for step, n in found]
        count = max(1, len(pairs))
        at_one.append((sum(f for f, _ in pairs) / count, sum(m for _, m in pairs) / count))
    return IntensityMap(
        tuple(rhos),
        tuple(taus),
        tuple(tuple(rho * fires for fires, _ in at_one) for rho in rhos),
        tuple(tuple(rho * mass for _, mass in at_one) for rho in rhos),
    )


def _eligible(step: Step, xtc: XTCSettings, top_candidates: int) -> tuple[int, bool]:
    """How many recorded tokens clear τ, and whether no unrecorded one can."""
    recorded = min(len(step.ids), top_candidates)
    n = eligible_count(step.probs[:recorded], xtc.tau32)
    return n, n < recorded or recorded < top_candidates or xtc.tau >= 1 / top_candidates

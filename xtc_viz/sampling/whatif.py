"""What other XTC settings would have decided along a recorded text, without the model.

Every recorded step is decided again, by the same rule and with its own coin, on the distribution
that XTC received there. The text stays as it is: this is no new generation. It is exact for every
τ above the least recorded probability of a step, and so for every τ ≥ 1/K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log

import numpy as np

from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.rule import Decision, Outcome, decide, eligible_count, expected
from xtc_viz.sampling.stack import final_of, late
from xtc_viz.sampling.stageview import ROUNDING, recorded
from xtc_viz.settings import SamplerSettings, XTCSettings


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
    """Decide every step again with other settings, XTC as it acts in a plan (`Plan.xtc`).

    `top_candidates` is K of the run that recorded the steps.
    """
    decisions = []
    exact = True
    interventions = mass = 0.0
    for step in steps:
        ids, probs, complete = cleared(step, xtc, top_candidates)
        decisions.append(decide(ids, probs, step.coin, xtc))
        exact = exact and complete
        fires, removed = expected(ids, probs, xtc)
        interventions += fires
        mass += removed
    return WhatIf(tuple(decisions), exact, interventions, mass)


def decided(
    step: Step, decision: Decision, sampler: SamplerSettings, context: Sequence[int]
) -> Step:
    """Return a recorded step as `decision` would have left it; its token stays as it was.

    `sampler` holds the settings that decided, `context` the token ids before the step, prompt
    included.
    """
    plan = plan_of(sampler)
    log_z_final, final, bound = step.log_z_final, step.final, step.bound
    if plan.late_temperature is None:
        if decision.gone != step.removed:
            log_z_final = log(recorded(step).mass_without(decision.gone))
        tokens = np.asarray(context, np.int64)
        passage = late(plan, recorded(step), decision.gone, tokens)
        final = final_of(passage.distribution, step.ids)
        bound |= passage.bound
    elif decision.removed != step.removed and plan.late_temperature == 1.0:
        log_z_final = log(recorded(step).mass_without(decision.removed))
    elif decision.removed != step.removed and plan.late_temperature != 0.0:
        log_z_final = _scaled(step, decision.removed, plan.late_temperature)
    return replace(
        step,
        outcome=decision.outcome,
        eligible=len(decision.eligible),
        removed=decision.removed,
        removed_mass=decision.removed_mass,
        removable_mass=decision.removable_mass,
        log_z_final=log_z_final,
        final=final,
        bound=bound,
    )


def _scaled(step: Step, removed: Sequence[int], temperature: float) -> float:
    """The log of Σ p^(1/T) over what is left without other `removed` tokens than the step's."""
    ids = np.array(step.ids)
    with np.errstate(divide="ignore"):
        powers = np.log(np.array(step.probs, np.float64)) / temperature
    kept = np.logaddexp.reduce(powers[~np.isin(ids, step.removed)], initial=-np.inf)
    # What the step's own sum holds beyond the recorded tokens is the tail, if not rounding.
    tail = 1.0 - exp(min(0.0, kept - step.log_z_final))
    tail = step.log_z_final + log(tail) if tail > ROUNDING else -np.inf
    left = powers[~np.isin(ids, removed)]
    return float(np.logaddexp(np.logaddexp.reduce(left, initial=-np.inf), tail))


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
        records = [cleared(step, settings, top_candidates) for step in steps]
        pairs = [expected(ids, probs, settings) for ids, probs, _ in records]
        count = max(1, len(pairs))
        at_one.append((sum(f for f, _ in pairs) / count, sum(m for _, m in pairs) / count))
    return IntensityMap(
        tuple(rhos),
        tuple(taus),
        tuple(tuple(rho * fires for fires, _ in at_one) for rho in rhos),
        tuple(tuple(rho * mass for _, mass in at_one) for rho in rhos),
    )


def cleared(
    step: Step, xtc: XTCSettings, top_candidates: int
) -> tuple[Sequence[int], Sequence[float], bool]:
    """Return the recorded tokens that clear τ, with their p, and whether no other token does.

    `top_candidates` is K of the run that recorded the step.
    """
    recorded = min(len(step.ids), top_candidates)
    n = eligible_count(step.probs[:recorded], xtc)
    if step.bound & Bound.ENTROPY:  # the model may have shown fewer than are recorded otherwise
        complete = n < recorded or step.tail_mass < xtc.tau32
    else:
        complete = n < recorded or recorded < top_candidates or xtc.tau >= 1 / top_candidates
    return step.ids[:n], step.probs[:n], complete

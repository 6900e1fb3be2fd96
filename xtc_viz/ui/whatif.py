"""What-if for the page: the recorded steps of a lane under other XTC settings, without the model.

Always along the text that was written; never a new generation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xtc_viz.knobs import KNOBS
from xtc_viz.records.step import Step
from xtc_viz.records.trace import LaneTrace, Trace
from xtc_viz.runs.stats import OUTCOMES
from xtc_viz.sampling.plan import Plan, plan_of
from xtc_viz.sampling.whatif import IntensityMap, decided, evaluate, intensity_map
from xtc_viz.settings import LaneSettings, XTCSettings

RHOS = tuple(i / 10 for i in range(11))
TAUS = (0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5)
_NUMBER = {outcome: str(i) for i, outcome in enumerate(OUTCOMES)}


def with_xtc(lane: LaneSettings, xtc: XTCSettings) -> LaneSettings:
    return replace(lane, sampler=replace(lane.sampler, xtc=xtc))


def plan_with(lane: LaneSettings, xtc: XTCSettings) -> Plan:
    """Return the plan of a lane with other XTC settings."""
    return plan_of(with_xtc(lane, xtc).sampler)


def what_if(
    lane: LaneTrace, xtc: XTCSettings, top_candidates: int, thought: int = 0
) -> dict[str, Any]:
    """Return each step's outcome as a digit, how many tokens each would have, and the sums.

    The sums leave the first `thought` steps out. `recorded` is how many candidates a step holds
    at most; `exact` says that no other token of any step could be eligible.
    """
    acting = plan_with(lane.settings, xtc).xtc
    before = evaluate(lane.steps[:thought], acting, top_candidates)
    after = evaluate(lane.steps[thought:], acting, top_candidates)
    decisions = (*before.decisions, *after.decisions)
    count = max(1, len(after.decisions))
    return {
        "outcomes": "".join(_NUMBER[d.outcome] for d in decisions),
        "eligible": [len(d.eligible) for d in decisions],
        "mass": [round(1e4 * d.removed_mass) for d in decisions],
        "counts": [after.count(outcome) for outcome in OUTCOMES],
        "recorded": top_candidates,
        "exact": before.exact and after.exact,
        "expected": round(after.expected_interventions, 2),
        "removed": round(after.expected_removed_mass / count, 5),
    }


def imagined(trace: Trace, others: Mapping[int, XTCSettings]) -> Trace:
    """Return a trace whose lanes are what these settings, by lane, would have made of them."""
    lanes = list(trace.lanes)
    for k, xtc in others.items():
        lane, top = lanes[k], trace.settings.top_candidates
        steps = steps_under(lane.steps, lane.settings, xtc, top, trace.prompt_ids)
        lanes[k] = replace(lane, settings=with_xtc(lane.settings, xtc), steps=tuple(steps))
    return replace(trace, lanes=tuple(lanes))


def steps_under(
    steps: Sequence[Step],
    lane: LaneSettings,
    xtc: XTCSettings,
    top_candidates: int,
    context: Sequence[int],
) -> list[Step]:
    """Return these steps of a lane under other settings; `context` are the tokens before them."""
    plan = plan_with(lane, xtc)
    decisions = evaluate(steps, plan.xtc, top_candidates).decisions
    tokens = [*context, *(step.token for step in steps)]
    return [
        decided(step, decision, plan.settings, tokens[: len(context) + i])
        for i, (step, decision) in enumerate(zip(steps, decisions, strict=True))
    ]


def strength_grid(
    lane: LaneTrace, xtc: XTCSettings, top_candidates: int, thought: int = 0
) -> IntensityMap:
    """Return the expected interventions and removed mass per step over a grid of ρ and τ.

    τ goes down to where the record is exact, 1/K. The first `thought` steps are left out.
    """
    least = max(KNOBS["tau"].slider[0], 1.0 / top_candidates)
    taus = [tau for tau in TAUS if tau >= least]
    plan = plan_with(lane.settings, xtc)
    steps = () if plan.bypassed else lane.steps[thought:]
    return intensity_map(steps, plan.xtc, RHOS, taus, top_candidates)


def strength_map(
    lane: LaneTrace, xtc: XTCSettings, top_candidates: int, thought: int = 0
) -> dict[str, Any]:
    """Return that grid for the page."""
    grid = strength_grid(lane, xtc, top_candidates, thought)
    return {
        "rhos": grid.rhos,
        "taus": grid.taus,
        "interventions": [[round(v, 4) for v in row] for row in grid.interventions],
        "removed": [[round(v, 4) for v in row] for row in grid.removed_mass],
    }

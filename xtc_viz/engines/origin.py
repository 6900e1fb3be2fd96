"""What is known of a step's distribution where chains begin, and on the way of the lane's own.

A record holds the most probable tokens of what XTC received, and of what truncation dropped. Behind
each of the lane's stages this tells a part of the distribution, and the mass of the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from xtc_viz.errors import SettingsError
from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.distribution import Distribution, Ids
from xtc_viz.sampling.plan import Plan, plan_of, truncates
from xtc_viz.sampling.stack import CUT_SHOWN
from xtc_viz.sampling.stageview import ROUNDING, view
from xtc_viz.settings import TEMPERATURE, XTC, SamplerSettings


@dataclass(frozen=True, slots=True)
class Point:
    """A distribution that is known, behind these stages.

    Unless it is `sure`, a token that is not here may be more probable than one that is.
    """

    stages: tuple[str, ...]
    distribution: Distribution
    sure: bool = True
    bound: Bound = Bound.NONE


@dataclass(frozen=True, slots=True)
class Origin:
    """Where chains begin: what the model gave, and what is known behind the lane's own stages."""

    points: tuple[Point, ...]
    coin: float
    context: Ids

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens that are known of what the model gave, in falling order."""
        ids = self.points[0].distribution.ids
        assert ids is not None
        return tuple(ids.tolist())

    def on_the_way(self, plan: Plan) -> list[Point]:
        """Return the points that a plan comes by before XTC, at least the first.

        Penalties work on the model's own logits, which the first alone has.
        """
        begun = [p for p in self.points if plan.before[: len(p.stages)] == p.stages]
        return [
            p for p in begun if not p.stages or all(map(_monotonic, plan.stages[len(p.stages) :]))
        ]


def _monotonic(stage: str) -> bool:
    """Whether a stage leaves the more probable token the more probable one."""
    return stage in (XTC, TEMPERATURE) or truncates(stage)


def of_record(
    step: Step, sampler: SamplerSettings, context: Sequence[int], top_candidates: int
) -> Origin:
    """Return what a record shows; the arguments are those of `chain.at_step`."""
    plan, stages = plan_of(sampler), view(step, sampler, context)
    p_of = [dict(zip(stages.ids, stage.probs, strict=True)) for stage in stages.stages]
    points: list[Point] = []
    names: tuple[str, ...] = ()
    for stage, probs in zip(stages.stages, p_of, strict=True):
        if XTC in stage.stages:
            break
        names = (*names, *stage.stages)
        known, sure = _surely_known(step, plan, names, probs, top_candidates)
        ids = sorted(known, key=lambda v: (-probs[v], v))
        shown = [probs[v] for v in ids]
        log_z = 0.0 if names else step.log_z_raw
        bound = step.bound & (Bound.TRUNCATION | Bound.SCALE) if names else Bound.NONE
        points.append(Point(names, distribution_of(ids, shown, tail_of(shown), log_z), sure, bound))
    return Origin(tuple(points), step.coin, np.asarray(context, np.int64))


def of_probs(ids: Sequence[int], probs: Sequence[float], coin: float) -> Origin:
    """Return what somebody typed in: `probs`, in any order, of a model after no text.

    Raises:
        SettingsError: they are no probabilities, or more than 1 together.
    """
    for p in probs:
        if not 0.0 <= p <= 1.0:
            raise SettingsError("probs", "probabilities, each in [0, 1]", p)
    if not any(probs) or fsum(probs) > 1.0 + ROUNDING:
        raise SettingsError("probs", "more than 0 and at most 1 together", fsum(probs))
    raw = distribution_of(ids, probs, tail_of(probs))
    return Origin((Point((), raw),), coin, np.array([], np.int64))


def _surely_known(
    step: Step, plan: Plan, behind: tuple[str, ...], probs: Mapping[int, float], top: int
) -> tuple[list[int], bool]:
    """Return the recorded tokens that no other token precedes behind some stages.

    They are those of the first K tokens that each run of truncation met, while it is sure that
    these were recorded: no more than `CUT_SHOWN` of them were dropped. Tokens that were recorded
    because they were drawn lie further out. Behind a penalty nobody knows what others precede.
    """
    ahead = plan.before[len(behind) :]
    first = list(step.ids[: max(min(len(step.ids), top), step.eligible)])
    cut = [v for v in step.cut_ids if probs[v] > 0.0]
    known = [v for v in dict.fromkeys((*first, *cut)) if probs[v] > 0.0]
    if tail_of([probs[v] for v in known]) == 0.0:
        return known, True
    if not all(map(_monotonic, ahead)):
        return known, False
    floor = 0.0
    number = 0
    for run in plan.truncation_runs:
        dropped = [
            probs[v]
            for v, by in zip(step.cut_ids, step.cut_by, strict=True)
            if number <= by < number + len(run)
        ]
        number += len(run)
        if len(dropped) == CUT_SHOWN:
            floor = max(floor, min(dropped))
    if cut:
        falling = sorted((probs[v] for v in known), reverse=True)
        floor = max(floor, falling[min(top, len(falling)) - 1])
    return [v for v in known if probs[v] >= floor], True


def tail_of(probs: Sequence[float]) -> float:
    """Return what probabilities leave of 1, if it is more than rounding."""
    rest = 1.0 - fsum(probs)
    return rest if rest > ROUNDING else 0.0


def distribution_of(
    ids: Sequence[int], probs: Sequence[float], outside: float, log_z: float = 0.0
) -> Distribution:
    """Return a part of a distribution. `probs` stay as they are, to the last digit."""
    tokens, p = np.array(ids, np.int64), np.array(probs, np.float32)
    order = np.lexsort((tokens, -p))
    tokens, p = tokens[order], p[order]
    with np.errstate(divide="ignore"):
        logits = (np.log(p.astype(np.float64)) + log_z).astype(np.float32)
    return Distribution(logits, p, log_z, tokens, outside)

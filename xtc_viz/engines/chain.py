"""What each engine's whole chain leaves of a step: the lane's stages in the engine's own order.

Every chain begins with the model's raw distribution as far as the record shows it. As long as an
engine goes through the same stages as the lane did, what was recorded is taken, to its last digit;
from then on the stages are run again on what is known, and what is a bound is marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import (
    Answer,
    Left,
    Question,
    Received,
    fired,
    if_fired,
    left,
    rule_alone,
    verdict,
)
from xtc_viz.engines.reasons import (
    Case,
    Part,
    Reason,
    called,
    differing,
    joined,
    listed,
    reason,
    smallest,
    taken_over,
)
from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.distribution import Distribution, Ids, PartialLogits
from xtc_viz.sampling.passage import through
from xtc_viz.sampling.plan import BY_NAME, Plan, plan_of, truncates
from xtc_viz.sampling.rule import eligible_count
from xtc_viz.sampling.stack import CUT_SHOWN
from xtc_viz.sampling.stageview import ROUNDING, StageProbs, view
from xtc_viz.settings import TEMPERATURE, XTC, SamplerSettings

LACKS, ORDER = "lacks", "order"
"""The properties of a chain beside those of its rule."""

SAME = 1e-5
"""Probabilities that differ by less are the same: the records are float32."""


class Both(NamedTuple):
    """The two questions about a step: of the rule alone, and of the whole chain."""

    rule: Question
    chain: Question

    def to_dict(self) -> dict[str, Any]:
        return {"rule": self.rule.to_dict(), "chain": self.chain.to_dict()}


def at_step(
    step: Step,
    sampler: SamplerSettings,
    context: Sequence[int],
    top_candidates: int,
    engines: Mapping[str, Engine] = ENGINES,
) -> Both:
    """Ask every engine about a recorded step.

    Args:
        step: of a lane with these settings; `sampler.xtc.dialect` is the chosen engine's, whose
            chain is the lane as it was run.
        context: the token ids before the step, prompt included.
        top_candidates: K of the run.
    """
    rule = rule_alone(step.ids, step.probs, step.coin, sampler, engines)
    origin = _of_record(step, sampler, context, top_candidates)
    return Both(rule, _answers(origin, sampler, engines))


def of_numbers(
    probs: Sequence[float],
    sampler: SamplerSettings,
    coin: float,
    engines: Mapping[str, Engine] = ENGINES,
) -> Both:
    """Ask every engine about a distribution that somebody typed in.

    Args:
        probs: what a model gives to tokens 0, 1, 2 …, at most 1 together. What they leave of 1 is
            the mass of others, none of them more probable than the least of these.
        sampler: the lane's settings. No text stands before the step, so that penalties change
            nothing.
        coin: uniform in [0, 1).
    """
    ids = sorted(range(len(probs)), key=lambda i: (-probs[i], i))
    falling = [probs[i] for i in ids]
    raw = _distribution(ids, falling, _tail(falling))
    origin = _Origin((_Point((), raw),), coin, np.array([], np.int64))
    received = _run(origin, sampler, fires=False).received
    rule = rule_alone(received.ids, received.probs, coin, sampler, engines)
    return Both(rule, _answers(origin, sampler, engines))


@dataclass(frozen=True, slots=True)
class _Point:
    """A distribution that is known, behind these stages.

    Unless it is `sure`, a token that is not here may be more probable than one that is.
    """

    stages: tuple[str, ...]
    distribution: Distribution
    sure: bool = True
    bound: Bound = Bound.NONE


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where chains begin: what the model gave, and what is known behind the lane's own stages."""

    points: tuple[_Point, ...]
    coin: float
    context: Ids

    def on_the_way(self, plan: Plan) -> list[_Point]:
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


def _of_record(
    step: Step, sampler: SamplerSettings, context: Sequence[int], top_candidates: int
) -> _Origin:
    plan, stages = plan_of(sampler), view(step, sampler, context)
    p_of = [dict(zip(stages.ids, stage.probs, strict=True)) for stage in stages.stages]
    points: list[_Point] = []
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
        points.append(_Point(names, _distribution(ids, shown, _tail(shown), log_z), sure, bound))
    return _Origin(tuple(points), step.coin, np.asarray(context, np.int64))


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
    if _tail([probs[v] for v in known]) == 0.0:
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


def _tail(probs: Sequence[float]) -> float:
    """Return what probabilities leave of 1, if it is more than rounding."""
    rest = 1.0 - fsum(probs)
    return rest if rest > ROUNDING else 0.0


def _distribution(
    ids: Sequence[int], probs: Sequence[float], outside: float, log_z: float = 0.0
) -> Distribution:
    with np.errstate(divide="ignore"):
        log_probs = np.log(np.array(probs, np.float64)).astype(np.float32)
    known = Distribution.partly(PartialLogits(np.array(ids, np.int64), log_probs, outside))
    return replace(known, logits=known.logits + np.float32(log_z), log_z=log_z)


@dataclass(frozen=True, slots=True)
class _Run:
    """A chain at its end: what it left of the question's tokens, and what XTC received in it."""

    left: Left
    received: Received
    bound: Bound


def _run(origin: _Origin, sampler: SamplerSettings, fires: bool) -> _Run:
    coin = origin.coin
    if fires:
        coin, sampler = if_fired(coin, sampler.xtc), fired(sampler)
    plan = plan_of(sampler)
    ids = _ids(origin)
    points = origin.on_the_way(plan)
    stages = [_seen(p.stages[len(q.stages) :], p.distribution, ids) for q, p in _steps(points)]
    last = points[-1]
    distribution, bound = last.distribution, last.bound
    for stage in plan.before[len(last.stages) :]:
        passage = through((stage,), sampler, distribution, origin.context)
        distribution, bound = passage.distribution, bound | passage.bound
        stages.append(_seen((stage,), distribution, ids))
    cut = distribution.head(1, sampler.xtc.tau).cut
    if (distribution.outside and not last.sure) or (cut and eligible_count([cut], sampler.xtc)):
        bound |= Bound.ELIGIBLE
    assert distribution.ids is not None
    shown, probs = distribution.ids.tolist(), distribution.p.tolist()
    received = Received(tuple(shown), tuple(probs), distribution.outside)
    result = left(received, verdict(shown, probs, coin, plan.xtc), plan.xtc.rho)
    distribution = _distribution(shown, result.probs, result.rest, distribution.log_z)
    stages.append(_seen((XTC,), distribution, ids))
    for stage in plan.after:
        if stage == TEMPERATURE and plan.greedy:
            distribution = _most_probable(distribution)
        else:
            passage = through((stage,), sampler, distribution, origin.context)
            distribution, bound = passage.distribution, bound | passage.bound
        stages.append(_seen((stage,), distribution, ids))
    end = stages[-1]
    result = replace(result, probs=end.probs, rest=end.rest, stages=tuple(stages))
    return _Run(result, received, bound)


def _steps(points: Sequence[_Point]) -> list[tuple[_Point, _Point]]:
    """Pair each point with the one before it, the first with itself."""
    return list(zip((points[0], *points), points, strict=False))


def _ids(origin: _Origin) -> tuple[int, ...]:
    ids = origin.points[0].distribution.ids
    assert ids is not None
    return tuple(ids.tolist())


def _seen(stages: tuple[str, ...], distribution: Distribution, ids: Sequence[int]) -> StageProbs:
    assert distribution.ids is not None
    p_of = dict(zip(distribution.ids.tolist(), distribution.p.tolist(), strict=True))
    probs = tuple(p_of.get(v, 0.0) for v in ids)
    return StageProbs(stages, probs, _tail(probs))


def _most_probable(distribution: Distribution) -> Distribution:
    assert distribution.ids is not None
    return _distribution(distribution.ids[:1].tolist(), [1.0], 0.0)


def _answers(origin: _Origin, sampler: SamplerSettings, engines: Mapping[str, Engine]) -> Question:
    chosen = {fires: _run(origin, sampler, fires) for fires in (False, True)}
    name = sampler.xtc.dialect.name
    _none: tuple[str, ...] = ()
    answers = []
    for engine in engines.values():
        runs, lacks = chosen, _none
        if engine.name != name:
            lacks = _lacking(sampler, engine)
            theirs = _as(sampler, engine, (LACKS, ORDER, *_properties(sampler, engine)))
            runs = {
                fires: _beside(origin, sampler, engine, theirs, run, fires)
                for fires, run in chosen.items()
            }
        bound = runs[False].bound | runs[True].bound
        answers.append(Answer(engine.name, runs[False].left, runs[True].left, lacks, bound))
    raw = chosen[False].left.stages[0]
    return Question(name, _ids(origin), raw.probs, raw.rest, tuple(answers))


def _same(one: Left, other: Left) -> bool:
    """Whether two chains leave the same, whatever they call it."""
    pairs = zip((*one.probs, one.rest), (*other.probs, other.rest), strict=True)
    return set(one.removed) == set(other.removed) and all(abs(p - q) < SAME for p, q in pairs)


def _lacking(sampler: SamplerSettings, engine: Engine) -> tuple[str, ...]:
    """Return the stages that are on in the lane and unknown to the engine."""
    return tuple(stage for stage in plan_of(sampler).stages if stage not in engine.order)


def _properties(sampler: SamplerSettings, engine: Engine) -> tuple[str, ...]:
    return differing(sampler.xtc.dialect, engine.dialect)


@lru_cache(maxsize=1024)
def _as(sampler: SamplerSettings, engine: Engine, names: tuple[str, ...]) -> SamplerSettings:
    """Return a lane's settings with some properties of an engine."""
    changes: dict[str, Any] = {}
    if LACKS in names:
        for stage in _lacking(sampler, engine):
            changes |= {knob.name: knob.default for knob in BY_NAME[stage].knobs}
    if ORDER in names:
        changes["order"] = engine.order
    rule = [name for name in names if name not in (LACKS, ORDER)]
    dialect = taken_over(sampler.xtc.dialect, engine.dialect, rule)
    return replace(sampler, xtc=replace(sampler.xtc, dialect=dialect), **changes)


def _beside(
    origin: _Origin,
    sampler: SamplerSettings,
    engine: Engine,
    theirs: SamplerSettings,
    chosen: _Run,
    fires: bool,
) -> _Run:
    run = _run(origin, theirs, fires)
    if _same(run.left, chosen.left):
        return run
    names: list[str] = [LACKS] if _lacking(sampler, engine) else []
    if plan_of(_as(sampler, engine, (ORDER,))).stages != plan_of(sampler).stages:
        names.append(ORDER)
    names += _properties(sampler, engine)

    def explains(some: tuple[str, ...]) -> bool:
        return _same(_run(origin, _as(sampler, engine, some), fires).left, run.left)

    left_, received = run.left, run.received
    xtc = replace(theirs.xtc, dialect=engine.dialect)
    case = Case(received.ids, received.probs, xtc, left_.eligible, left_.removed, left_.underdogs)
    reasons = []
    for cause in smallest(names, explains):
        if cause == LACKS:
            reasons.append(_lacks(engine, _lacking(sampler, engine)))
        elif cause == ORDER:
            reasons.append(_order(engine, plan_of(sampler), plan_of(theirs), chosen.left, left_))
        else:
            reasons.append(reason(cause, case))
    return replace(run, left=replace(left_, reasons=tuple(reasons)))


def _label(stage: str) -> str:
    return "XTC" if stage == XTC else BY_NAME[stage].label


def _named(stages: Sequence[str]) -> str:
    *most, last = map(_label, stages)
    return f"{', '.join(most)} and {last}" if most else last


def _lacks(engine: Engine, stages: Sequence[str]) -> Reason:
    return Reason(LACKS, (f"{called(engine.name)} has no {_named(stages)}",))


def _order(engine: Engine, ours: Plan, theirs: Plan, chosen: Left, other: Left) -> Reason:
    """Say which stages an engine runs on the other side of XTC, and who is eligible by that."""
    later = [stage for stage in ours.before if stage in theirs.after]
    sooner = [stage for stage in ours.after if stage in theirs.before]
    moved = [
        f"{_named(stages)} {side} XTC"
        for stages, side in ((later, "after"), (sooner, "before"))
        if stages
    ]
    moved = moved or [_named(theirs.stages) + ", in this order"]
    words: list[Part] = [f"{called(engine.name)} runs {' and '.join(moved)}"]
    lost = [v for v in chosen.eligible if v not in other.eligible]
    gained = [v for v in other.eligible if v not in chosen.eligible]
    if lost:
        words += [
            ", where ",
            *listed(lost),
            " does not clear τ" if len(lost) == 1 else " do not clear τ",
        ]
    if gained:
        joint = " and " if lost else ", where "
        words += [joint, *listed(gained), " clears τ" if len(gained) == 1 else " clear τ"]
    return Reason(ORDER, joined(words))

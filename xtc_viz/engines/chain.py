"""What each engine's whole chain leaves of a step: the lane's stages in the engine's own order.

Every chain begins with the model's raw distribution as far as the record shows it. As long as an
engine goes through the same stages as the lane did, what was recorded is taken, to its last digit;
from then on the stages are run again on what is known, and what is a bound is marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from xtc_viz.engines.base import Engine
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import (
    Answer,
    Left,
    Question,
    Received,
    acting,
    acting_coin,
    case_of,
    left,
    rule_alone,
    unknown,
    verdict,
)
from xtc_viz.engines.origin import Origin, distribution_of, of_probs, of_record, tail_of
from xtc_viz.engines.reasons import (
    Reason,
    called,
    differing,
    reason,
    smallest,
    taken_over,
)
from xtc_viz.parts import Part, joined, listed
from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.distribution import Distribution, Ids
from xtc_viz.sampling.passage import through
from xtc_viz.sampling.plan import BY_NAME, Plan, plan_of
from xtc_viz.sampling.rule import eligible_count
from xtc_viz.sampling.stageview import StageProbs
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
    origin = of_record(step, sampler, context, top_candidates)
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

    Raises:
        SettingsError: `probs` are no probabilities, or more than 1 together.
    """
    origin = of_probs(range(len(probs)), probs, coin)
    received = _run(origin, sampler, fires=False).received
    rule = rule_alone(received.ids, received.probs, coin, sampler, engines)
    return Both(rule, _answers(origin, sampler, engines))


@dataclass(frozen=True, slots=True)
class _Run:
    """A chain at its end: what it left of the question's tokens, and what XTC received in it."""

    left: Left
    received: Received
    bound: Bound


def _run(origin: Origin, sampler: SamplerSettings, fires: bool) -> _Run:
    coin = origin.coin
    if fires:
        coin, sampler = acting_coin(coin, sampler.xtc), acting(sampler)
    plan = plan_of(sampler)
    stages: list[StageProbs] = []
    for point in (points := origin.on_the_way(plan)):
        named = sum(len(stage.stages) for stage in stages)
        stages.append(_seen(point.stages[named:], point.distribution, origin.ids))
    point = points[-1]
    distribution, bound = point.distribution, point.bound
    for stage in plan.before[len(point.stages) :]:
        distribution, more = _next(stage, plan, distribution, origin.context)
        stages.append(_seen((stage,), distribution, origin.ids))
        bound |= more
    cut = distribution.head(1, sampler.xtc.tau).cut
    if (distribution.outside and not point.sure) or (cut and eligible_count([cut], sampler.xtc)):
        bound |= Bound.ELIGIBLE
    assert distribution.ids is not None
    ids, probs = distribution.ids.tolist(), distribution.p.tolist()
    received = Received(tuple(ids), tuple(probs), distribution.outside)
    result = left(received, verdict(ids, probs, coin, plan.xtc), plan.xtc.rho)
    bound |= unknown(received, result)
    distribution = distribution_of(ids, result.probs, result.rest, distribution.log_z)
    stages.append(_seen((XTC,), distribution, origin.ids))
    for stage in plan.after:
        distribution, more = _next(stage, plan, distribution, origin.context)
        stages.append(_seen((stage,), distribution, origin.ids))
        bound |= more
    end = stages[-1]
    result = replace(result, probs=end.probs, rest=end.rest, stages=tuple(stages))
    return _Run(result, received, bound)


def _next(
    stage: str, plan: Plan, distribution: Distribution, context: Ids
) -> tuple[Distribution, Bound]:
    """Return what a stage makes of a distribution, and what is not exact then."""
    if stage == TEMPERATURE and plan.greedy:
        assert distribution.ids is not None
        return distribution_of(distribution.ids[:1].tolist(), [1.0], 0.0), Bound.NONE
    passage = through((stage,), plan.settings, distribution, context)
    return passage.distribution, passage.bound


def _seen(stages: tuple[str, ...], distribution: Distribution, ids: Sequence[int]) -> StageProbs:
    assert distribution.ids is not None
    p_of = dict(zip(distribution.ids.tolist(), distribution.p.tolist(), strict=True))
    probs = tuple(p_of.get(v, 0.0) for v in ids)
    return StageProbs(stages, probs, tail_of(probs))


def _answers(origin: Origin, sampler: SamplerSettings, engines: Mapping[str, Engine]) -> Question:
    chosen = [_run(origin, sampler, fires) for fires in (False, True)]
    answers = []
    for engine in engines.values():
        lacks: tuple[str, ...] = ()
        own, at_one = chosen
        if engine.name != sampler.xtc.dialect.name:
            lacks = _lacking(sampler, engine)
            own, at_one = (
                _beside(origin, sampler, engine, run, fires)
                for fires, run in zip((False, True), chosen, strict=True)
            )
        bound = own.bound | at_one.bound
        answers.append(Answer(engine.name, own.left, at_one.left, lacks, bound))
    raw = chosen[0].left.stages[0]
    return Question(sampler.xtc.dialect.name, origin.ids, raw.probs, raw.rest, tuple(answers))


def _same(one: Left, other: Left) -> bool:
    """Whether two chains leave the same, whatever they call it."""
    pairs = zip((*one.probs, one.rest), (*other.probs, other.rest), strict=True)
    return set(one.removed) == set(other.removed) and all(abs(p - q) < SAME for p, q in pairs)


def _lacking(sampler: SamplerSettings, engine: Engine) -> tuple[str, ...]:
    """Return the stages that are on in the lane and unknown to the engine."""
    return tuple(stage for stage in plan_of(sampler).stages if stage not in engine.order)


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
    origin: Origin, sampler: SamplerSettings, engine: Engine, chosen: _Run, fires: bool
) -> _Run:
    """Run an engine's chain and say why it leaves something else than the chosen one."""
    rule = differing(sampler.xtc.dialect, engine.dialect)
    theirs = _as(sampler, engine, (LACKS, ORDER, *rule))
    run = _run(origin, theirs, fires)
    if _same(run.left, chosen.left):
        return run
    names: list[str] = [LACKS] if _lacking(sampler, engine) else []
    if plan_of(_as(sampler, engine, (ORDER,))).stages != plan_of(sampler).stages:
        names.append(ORDER)
    names += rule

    def explains(some: tuple[str, ...]) -> bool:
        return _same(_run(origin, _as(sampler, engine, some), fires).left, run.left)

    case = case_of(run.received, replace(theirs.xtc, dialect=engine.dialect), run.left)
    reasons = []
    for cause in smallest(names, explains):
        if cause == LACKS:
            reasons.append(_lacks(engine, _lacking(sampler, engine)))
        elif cause == ORDER:
            reasons.append(_order(engine, plan_of(sampler), plan_of(theirs), chosen.left, run.left))
        else:
            reasons.append(reason(cause, case))
    return replace(run, left=replace(run.left, reasons=tuple(reasons)))


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
        do = "does" if len(lost) == 1 else "do"
        words += [", where ", *listed(lost), f" {do} not clear τ"]
    if gained:
        clear = "clears" if len(gained) == 1 else "clear"
        words += [" and " if lost else ", where ", *listed(gained), f" {clear} τ"]
    return Reason(ORDER, joined(words))

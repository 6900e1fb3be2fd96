"""A recorded step seen stage by stage: how each stop of the stack changed the same candidates.

Works on the record alone. Probabilities before XTC and behind it are exact for the recorded tokens,
and so are those of the last stage; every other token is in the `rest` of its stage, so each stage
adds up to 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, fsum, log

import numpy as np

from xtc_viz.records.step import Step
from xtc_viz.sampling.distribution import Distribution, Floats, Ids, PartialLogits
from xtc_viz.sampling.passage import through
from xtc_viz.sampling.plan import Plan, plan_of, truncates
from xtc_viz.sampling.rescaling import change_by
from xtc_viz.settings import TEMPERATURE, XTC, SamplerSettings

ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class StageProbs:
    """One stage that is on; `stages` are several where an old record knows only all of them.

    `probs` holds the probability behind it of each token of `StageView.ids`, 0 for those that were
    dropped here or before; `rest` that of all other tokens together. Empty `stages`: what the model
    gave.
    """

    stages: tuple[str, ...]
    probs: tuple[float, ...]
    rest: float

    @property
    def name(self) -> str:
        return " + ".join(self.stages) or "raw"


@dataclass(frozen=True, slots=True)
class StageView:
    """All stages of a step in running order, from `raw` to the distribution drawn from."""

    ids: tuple[int, ...]
    stages: tuple[StageProbs, ...]


def view(step: Step, sampler: SamplerSettings, context: Sequence[int]) -> StageView:
    """Return a step's stages. `context` are the token ids before the step, prompt included.

    A chosen token that never reached XTC is here only if it is among those that truncation cut.
    """
    plan = plan_of(sampler)
    ids = np.array([*step.ids, *step.cut_ids], np.int64)
    here = [i for i in range(len(ids)) if i >= len(step.ids) or step.probs[i]]
    return StageView(
        tuple(ids[here].tolist()),
        tuple(
            StageProbs(stages, tuple(shown := [probs[i] for i in here]), max(0.0, 1.0 - sum(shown)))
            for stages, probs in (
                *_before(step, plan, ids, np.asarray(context, np.int64)),
                *_after(step, plan, len(step.cut_ids), np.asarray(context, np.int64)),
            )
        ),
    )


def final_probs(step: Step, sampler: SamplerSettings) -> list[float]:
    """Return q, what is drawn from, for the tokens of `step.ids`; removed ones are 0."""
    plan = plan_of(sampler)
    if plan.greedy:
        drawn = _most_probable(step) if step.forced else step.token
        return [float(v == drawn) for v in step.ids]
    if plan.late_temperature is None:
        return step.final.tolist()
    removed = set(step.removed)
    return [
        exp(log(p) / plan.late_temperature - step.log_z_final)
        if p > 0 and v not in removed
        else 0.0
        for v, p in zip(step.ids, step.probs, strict=True)
    ]


def _most_probable(step: Step) -> int:
    """The token that temperature 0 takes of what XTC and the stages behind it left."""
    weights = step.final or step.probs
    left = [(p, -v) for v, p in zip(step.ids, weights, strict=True) if v not in step.removed]
    return -max(left)[1]


def tail_shares(step: Step, sampler: SamplerSettings) -> tuple[float, float]:
    """Return the mass of all tokens below τ, as XTC received it and in what is drawn from.

    Each is what the eligible tokens leave of 1, and so at most this where `Bound.ELIGIBLE` says
    that more tokens may be eligible. What float32 rounds off is no tail.
    """
    head = step.probs[: step.eligible]
    final = final_probs(step, sampler)[: step.eligible] if head else []
    before, after = (1.0 - fsum(part) for part in (head, final))
    return before if before > ROUNDING else 0.0, after if after > ROUNDING else 0.0


def recorded(step: Step) -> Distribution:
    """Return what XTC received at a step, as far as it was recorded.

    What is missing from a sum of 1 by float32's rounding is no token.
    """
    outside = step.tail_mass if step.tail_mass > ROUNDING else 0.0
    probs = np.array(step.probs, np.float64)
    with np.errstate(divide="ignore"):
        log_probs = np.log(probs).astype(np.float32)
    return Distribution.partly(PartialLogits(np.array(step.ids), log_probs, outside))


Probabilities = tuple[tuple[str, ...], list[float]]


def _before(step: Step, plan: Plan, ids: Ids, context: Ids) -> Iterator[Probabilities]:
    """Yield what the model gave, and what each stage before XTC made of it."""
    cut_by = np.array([*[len(plan.before)] * len(step.ids), *step.cut_by])
    log_zs = dict(zip(plan.rescalings[::-1], (step.log_z, *step.log_zs[::-1]), strict=False))
    # Behind each stage: the log-normalizer of logits, None where an old record lacks it, and who
    # is left. `scale` is the normalizer of what the truncation stages share.
    norms: list[float | None] = [step.log_z_raw]
    scales = []
    scale: float | None = step.log_z_raw
    truncations = 0
    for stage in plan.before:
        if not truncates(stage):
            scale = log_zs.get(stage)
            norms.append(scale)
        else:
            assert scale is not None
            norms.append(scale + log(step.kept[truncations]))
            truncations += 1
        scales.append(scale)
    # Back from what XTC received to the model's logits; tokens join where they were dropped.
    last = norms[-1]
    assert last is not None
    with np.errstate(divide="ignore"):
        probs, cut = (np.array(values, np.float64) for values in (step.probs, step.cut_probs))
        logits = np.concatenate((np.log(probs) + last, np.log(cut)))
    behind = [logits]
    for stage, scale in zip(plan.before[::-1], scales[::-1], strict=True):
        logits = logits.copy()
        if not truncates(stage):
            joined = cut_by >= truncations
            logits[joined] = _undone(stage, plan, step, ids, logits, context)[joined]
        else:
            truncations -= 1
            assert scale is not None
            logits[cut_by == truncations] += scale
        behind.append(logits)
    together: tuple[str, ...] = ()
    for number, (norm, logits) in enumerate(zip(norms, behind[::-1], strict=True)):
        if number:
            stage = plan.before[number - 1]
            truncations += truncates(stage)
            together = (*together, stage)
        if number == len(plan.before):  # as they were held against τ, to the last digit
            yield together, [*step.probs, *[0.0] * len(step.cut_ids)]
        elif norm is not None:
            left = cut_by >= truncations
            yield together, np.where(left, np.exp(logits - norm), 0.0).tolist()
            together = ()


def _undone(stage: str, plan: Plan, step: Step, ids: Ids, logits: Floats, context: Ids) -> Floats:
    """Return the logits (n,) of `ids` before a stage that made these of them."""
    if stage == TEMPERATURE:
        return logits * (step.temperature or plan.settings.temperature)
    change = change_by(stage, plan.settings, context)
    full = np.zeros(len(change.ids), np.float32)
    places = np.searchsorted(change.ids, ids).clip(max=max(0, len(change.ids) - 1))
    hit = change.ids[places] == ids if len(change.ids) else np.zeros(len(ids), np.bool_)
    full[places[hit]] = logits[hit]
    result = logits.copy()
    result[hit] = change.undo(full)[places[hit]]
    return result


def _after(step: Step, plan: Plan, cut: int, context: Ids) -> Iterator[Probabilities]:
    """Yield what XTC left, and what each stage behind it made of that."""
    received = recorded(step)
    scaled = plan.late_temperature not in (None, 1.0)
    remaining = received.mass_without(step.removed) if scaled else exp(step.log_z_final)
    left = [
        0.0 if v in step.removed else p / remaining
        for v, p in zip(step.ids, step.probs, strict=True)
    ]
    dropped = [0.0] * cut
    yield (XTC,), left + dropped
    *between, end = plan.after or (None,)
    distribution = received.without(step.removed)
    for stage in between:
        distribution = through((stage,), plan.settings, distribution, context).distribution
        yield (stage,), [distribution.probability(v) for v in step.ids] + dropped
    if end:
        yield (end,), final_probs(step, plan.settings) + dropped

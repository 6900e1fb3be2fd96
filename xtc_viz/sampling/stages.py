"""A recorded step seen stage by stage: how each stop of the stack changed the same candidates.

Works on the record alone. Probabilities are exact for the recorded tokens; every other token is
in the `rest` of its stage, so each stage adds up to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from xtc_viz.records.trace import Step
from xtc_viz.settings import SamplerSettings, XTCPlace

TRUNCATIONS = ("top_k", "top_p", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
"""The truncation settings in the order in which the stack runs them."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage that is on.

    `probs` holds the probability behind this stage of each token of `StageView.ids`, 0 for those
    that were dropped here or before; `rest` that of all other tokens together.
    """

    name: str
    probs: tuple[float, ...]
    rest: float


@dataclass(frozen=True, slots=True)
class StageView:
    """All stages of a step in running order, from `raw` to the distribution drawn from."""

    ids: tuple[int, ...]
    stages: tuple[Stage, ...]


def active_truncations(sampler: SamplerSettings) -> tuple[str, ...]:
    """Return the truncation stages that are on, in running order (`Step.kept`, `Step.cut_by`)."""
    off = SamplerSettings()
    return tuple(name for name in TRUNCATIONS if getattr(sampler, name) != getattr(off, name))


def view(step: Step, sampler: SamplerSettings, context: frozenset[int]) -> StageView:
    """Return a step's stages.

    `context` are the distinct tokens before the step, prompt included: those that a repetition
    penalty lowered.
    """
    ids = (*step.ids, *step.cut_ids)
    cut_by = (*[-1] * len(step.ids), *step.cut_by)
    # p of every recorded token before truncation, and its logit behind penalties and temperature.
    whole = [p * step.kept_mass for p in step.probs] + list(step.cut_probs)
    late = sampler.xtc_place is XTCPlace.BEFORE_TEMPERATURE or sampler.temperature == 0.0
    temperature = 1.0 if late else sampler.temperature
    penalized = [(log(p) + step.log_z) * temperature if p > 0 else None for p in whole]
    logits = [
        _unpenalized(x, sampler.repetition_penalty) if x is not None and v in context else x
        for v, x in zip(ids, penalized, strict=True)
    ]
    stages = [_stage("raw", [0.0 if x is None else exp(x - step.log_z_raw) for x in logits])]
    warps = [
        name
        for name, on in (
            ("repetition_penalty", sampler.repetition_penalty != 1.0),
            ("temperature", temperature != 1.0),
        )
        if on
    ]
    if warps:  # the record holds what both made of the logits, not what each did
        stages.append(_stage(" + ".join(warps), whole))
    for number, (name, kept) in enumerate(zip(active_truncations(sampler), step.kept, strict=True)):
        left = [
            p / kept if by < 0 or by > number else 0.0 for p, by in zip(whole, cut_by, strict=True)
        ]
        stages.append(_stage(name, left))
    received = [*step.probs, *[0.0] * len(step.cut_ids)]
    remaining = 1.0 - step.removed_mass
    after = [
        0.0 if v in step.removed else p / remaining for v, p in zip(ids, received, strict=True)
    ]
    stages.append(_stage("xtc", after))
    if late and sampler.temperature != 1.0:
        final = [*final_probs(step, sampler), *[0.0] * len(step.cut_ids)]
        stages.append(_stage("temperature", final))
    return StageView(ids, tuple(stages))


def final_probs(step: Step, sampler: SamplerSettings) -> list[float]:
    """Return q, what is drawn from, for the tokens of `step.ids`; removed ones are 0."""
    if sampler.temperature == 0.0:
        return [float(v == step.token) for v in step.ids]
    removed = set(step.removed)
    t = sampler.temperature if sampler.xtc_place is XTCPlace.BEFORE_TEMPERATURE else 1.0
    return [
        exp(log(p) / t - step.log_z_final) if p > 0 and v not in removed else 0.0
        for v, p in zip(step.ids, step.probs, strict=True)
    ]


def _stage(name: str, probs: list[float]) -> Stage:
    return Stage(name, tuple(probs), max(0.0, 1.0 - sum(probs)))


def _unpenalized(logit: float, penalty: float) -> float:
    """Undo the repetition penalty, which divides positive logits and multiplies the others."""
    return logit * penalty if logit > 0 else logit / penalty

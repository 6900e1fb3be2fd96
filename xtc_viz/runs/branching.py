"""Branches: a lane continued from any step with a token that a person chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from xtc_viz.errors import SettingsError
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.step import Step
from xtc_viz.records.trace import Branch, FinishReason, LaneTrace, Trace
from xtc_viz.sampling.stageview import final_probs
from xtc_viz.settings import LaneSettings


def branch(model: LanguageModel, trace: Trace, lane: int, position: int, token: int) -> LaneTrace:
    """Return the beginning of a branch: a lane's steps before `position`, then `token`.

    `token` is any recorded candidate of that step, also one that XTC or truncation removed there.
    Decode on with the result's tokens as the lane's prefix (`decode_lanes`).

    Raises:
        SettingsError: no such lane, position or candidate.
    """
    if not 0 <= lane < len(trace.lanes):
        raise SettingsError("lane", f"in [0, {len(trace.lanes)})", lane)
    parent = trace.lanes[lane]
    if not 0 <= position < len(parent.steps):
        raise SettingsError("position", f"in [0, {len(parent.steps)})", position)
    before = parent.steps[:position]
    step = _forced(parent.steps[position], parent.settings, token)
    detokenizer = model.detokenizer([*trace.prompt_ids, *(s.token for s in before)])
    text = detokenizer.push(token)
    ends = token in model.info.eos_ids
    return LaneTrace(
        settings=replace(parent.settings, name=_name(parent.settings.name, trace.lanes)),
        steps=(*before, replace(step, text=text + detokenizer.flush() if ends else text)),
        finish=FinishReason.EOS if ends else None,
        branch=Branch(lane, position),
    )


def _forced(step: Step, lane: LaneSettings, token: int) -> Step:
    """The step with another token, whose probabilities follow from the record."""
    if token in step.ids:
        place = step.ids.index(token)
        p, q, rank = step.probs[place], final_probs(step, lane.sampler)[place], place + 1
    elif token in step.cut_ids:  # truncation had dropped it: it comes after all that was left
        p, q, rank = 0.0, 0.0, len(step.ids) + 1 + step.cut_ids.index(token)
    else:
        raise SettingsError("token", "one of the step's recorded candidates", token)
    ids, probs, final = step.ids[:], step.probs[:], step.final[:]
    if token not in ids:
        ids.append(token)
        probs.append(0.0)
        if final:
            final.append(0.0)
    return replace(
        step,
        token=token,
        p=p,
        q=min(1.0, q),
        rank=rank,
        ids=ids,
        probs=probs,
        final=final,
        forced=True,
    )


def _name(parent: str, lanes: Sequence[LaneTrace]) -> str:
    """A name for the branch that no lane has yet."""
    taken = {lane.settings.name for lane in lanes}
    base = parent.split(" ↳")[0]
    return next(name for n in count(1) if (name := f"{base} ↳{n}") not in taken)

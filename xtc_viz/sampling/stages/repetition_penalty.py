"""Repetition penalty: lower tokens that occurred, by a factor."""

from __future__ import annotations

import math

import numpy as np

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import NO_CHANGE, Change, Context, Penalty, counted


def repetition(penalty: float, window: int, context: Context) -> Change:
    """Divide positive logits of tokens that occurred by `penalty`, multiply others with it.

    With window 0 this is transformers' `RepetitionPenaltyLogitsProcessor` (Keskar et al., 2019,
    section 4.1, made to lower negative logits too), bit for bit.

    Args:
        penalty: above 0; above 1 it discourages, below 1 it encourages, 1 is off.
        window: how many of the last tokens count, 0 for all: `repetition_penalty_range` of
            text-generation-webui, `repeat_last_n` of llama.cpp (where 0 is off).
        context: (T,), the token ids so far, prompt included.
    """
    if penalty == 1.0:
        return NO_CHANGE
    ids, _ = counted(window, context)
    return Change(ids, penalty, np.zeros(len(ids), dtype=np.float32))


STAGE = Penalty(
    name="repetition_penalty",
    label="Repetition penalty",
    place=10,
    knobs=(
        Knob(
            "repetition_penalty",
            "Repetition penalty",
            1.0,
            0.1,
            10.0,
            0.01,
            "Lowers the scores of tokens that already occurred. 1 is off.",
            soft_low=0.5,
            soft_high=2.0,
        ),
        Knob(
            "penalty_window",
            "Penalty window",
            0,
            0,
            math.inf,
            1,
            "How many of the last tokens the repetition, presence and frequency penalties look "
            "at. 0 means all.",
            integer=True,
            soft_high=4096,
        ),
    ),
    change=lambda settings, context: repetition(
        settings.repetition_penalty, settings.penalty_window, context
    ),
)

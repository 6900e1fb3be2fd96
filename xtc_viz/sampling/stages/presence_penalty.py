"""Presence penalty: lower tokens that occurred, however often."""

from __future__ import annotations

import numpy as np

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import NO_CHANGE, Change, Context, Penalty, counted


def presence(penalty: float, window: int, context: Context) -> Change:
    """Lower the logits of tokens that occurred by `penalty`, however often they did.

    OpenAI's `presence_penalty` (from -2 to 2 there; negative encourages, 0 is off), as in
    llama.cpp's `llama_sampler_penalties_apply`. `window` and `context` as for `repetition`.
    """
    if penalty == 0.0:
        return NO_CHANGE
    ids, _ = counted(window, context)
    return Change(ids, 1.0, np.full(len(ids), penalty, dtype=np.float32))


STAGE = Penalty(
    name="presence_penalty",
    label="Presence penalty",
    place=20,
    knobs=(
        Knob(
            "presence_penalty",
            "Presence penalty",
            0.0,
            -2.0,
            2.0,
            0.05,
            "Lowers the scores of tokens that already occurred by this much. 0 is off.",
        ),
    ),
    change=lambda settings, context: presence(
        settings.presence_penalty, settings.penalty_window, context
    ),
)

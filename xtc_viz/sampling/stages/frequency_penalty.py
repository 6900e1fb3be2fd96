"""Frequency penalty: lower tokens by how often they occurred."""

from __future__ import annotations

import numpy as np

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import NO_CHANGE, Change, Context, Penalty, counted


def frequency(penalty: float, window: int, context: Context) -> Change:
    """Lower the logits of tokens that occurred by `penalty` for each time that they did.

    OpenAI's `frequency_penalty` (from -2 to 2 there; negative encourages, 0 is off), as in
    llama.cpp's `llama_sampler_penalties_apply`. `window` and `context` as for `repetition`.
    """
    if penalty == 0.0:
        return NO_CHANGE
    ids, counts = counted(window, context)
    return Change(ids, 1.0, counts.astype(np.float32) * np.float32(penalty))


STAGE = Penalty(
    name="frequency_penalty",
    label="Frequency penalty",
    place=30,
    knobs=(
        Knob(
            "frequency_penalty",
            "Frequency penalty",
            0.0,
            -2.0,
            2.0,
            0.05,
            "Lowers the score of a token by this much for each time that it occurred. 0 is off.",
        ),
    ),
    change=lambda settings, context: frequency(
        settings.frequency_penalty, settings.penalty_window, context
    ),
)

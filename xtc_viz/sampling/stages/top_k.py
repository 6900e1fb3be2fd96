"""Top-k: keep the k most probable tokens, and all that tie with the last of them."""

from __future__ import annotations

import math

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import Filter, Mask, Support, Truncation


def top_k(k: int) -> Filter:
    def keep(support: Support) -> Mask | None:
        if support.tail_top and len(support.probs) < k:
            return None
        kept: Mask = support.probs >= support.probs[min(k, len(support.probs)) - 1]
        return kept

    return keep


STAGE = Truncation(
    name="top_k",
    label="Top-k",
    place=70,
    knobs=(
        Knob(
            "top_k",
            "Top-k",
            0,
            0,
            math.inf,
            1,
            "Keeps the k most probable tokens. 0 is off.",
            integer=True,
            soft_high=200,
        ),
    ),
    filter=lambda settings: top_k(settings.top_k),
)

"""Top-p (nucleus): keep the most probable tokens that together reach a mass."""

from __future__ import annotations

import numpy as np

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import Filter, Mask, Support, Truncation


def top_p(mass: float) -> Filter:
    def keep(support: Support) -> Mask | None:
        through = np.cumsum(support.probs)
        if support.tail_top and through[-1] < mass:
            return None
        return through - support.probs < mass

    return keep


STAGE = Truncation(
    name="top_p",
    label="Top-p",
    place=80,
    knobs=(
        Knob(
            "top_p",
            "Top-p",
            1.0,
            0.0,
            1.0,
            0.01,
            "Keeps the most probable tokens that together reach p. 1 is off.",
            low_open=True,
            soft_low=0.01,
        ),
    ),
    filter=lambda settings: top_p(settings.top_p),
    reach=lambda settings: settings.top_p,
)

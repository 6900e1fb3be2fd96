"""Min-p: keep tokens with at least a share of the top token's probability."""

from __future__ import annotations

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import Filter, Truncation, floor


def min_p(share: float) -> Filter:
    return floor(lambda support: share * float(support.probs[0]))


STAGE = Truncation(
    name="min_p",
    label="Min-p",
    place=90,
    knobs=(
        Knob(
            "min_p",
            "Min-p",
            0.0,
            0.0,
            1.0,
            0.01,
            "Keeps tokens with at least this share of the top token's probability. 0 is off.",
        ),
    ),
    filter=lambda settings: min_p(settings.min_p),
    line=lambda settings, top: settings.min_p * top,
)

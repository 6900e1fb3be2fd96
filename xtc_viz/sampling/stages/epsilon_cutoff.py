"""Epsilon cutoff: drop tokens below a probability."""

from __future__ import annotations

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import Filter, Truncation, floor


def epsilon(cutoff: float) -> Filter:
    return floor(lambda support: cutoff)


STAGE = Truncation(
    name="epsilon_cutoff",
    label="Epsilon cutoff",
    place=110,
    knobs=(
        Knob(
            "epsilon_cutoff",
            "Epsilon cutoff",
            0.0,
            0.0,
            1.0,
            0.0001,
            "Drops tokens below this probability. 0 is off.",
            high_open=True,
            soft_high=0.01,
        ),
    ),
    filter=lambda settings: epsilon(settings.epsilon_cutoff),
    line=lambda settings, top: settings.epsilon_cutoff,
)

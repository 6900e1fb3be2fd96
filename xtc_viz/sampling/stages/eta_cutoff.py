"""Eta cutoff: drop tokens below a floor that falls with the entropy (Hewitt et al., 2022)."""

from __future__ import annotations

from math import exp, sqrt

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import Filter, Truncation, floor


def eta(cutoff: float) -> Filter:
    return floor(lambda support: min(cutoff, sqrt(cutoff) * exp(-support.entropy)))


STAGE = Truncation(
    name="eta_cutoff",
    label="Eta cutoff",
    place=120,
    knobs=(
        Knob(
            "eta_cutoff",
            "Eta cutoff",
            0.0,
            0.0,
            1.0,
            0.0001,
            "Drops tokens below a floor that falls as the distribution gets flatter. 0 is off.",
            high_open=True,
            soft_high=0.01,
        ),
    ),
    sees_all=True,
    filter=lambda settings: eta(settings.eta_cutoff),
)

"""Typical-p: keep the tokens whose surprise is closest to the entropy, up to a mass."""

from __future__ import annotations

from math import log

import numpy as np

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import Filter, Mask, Support, Truncation


def typical_p(mass: float) -> Filter:
    def keep(support: Support) -> Mask | None:
        distance = np.abs(-np.log(support.probs) - support.entropy)
        order = np.argsort(distance)
        through = np.cumsum(support.probs[order])
        last = int(np.count_nonzero(through < mass))
        farthest = float(distance[order[min(last, len(order) - 1)]])
        if support.tail_top:
            # Every token of the tail is at least this far from the entropy.
            nearest_tail = -log(support.tail_top) - support.entropy
            if last == len(order) or nearest_tail <= farthest:
                return None
        return distance <= farthest

    return keep


STAGE = Truncation(
    name="typical_p",
    label="Typical-p",
    place=100,
    knobs=(
        Knob(
            "typical_p",
            "Typical-p",
            1.0,
            0.0,
            1.0,
            0.01,
            "Keeps the tokens whose surprise is closest to the average, up to mass p. 1 is off.",
            low_open=True,
            soft_low=0.01,
        ),
    ),
    sees_all=True,
    filter=lambda settings: typical_p(settings.typical_p),
    reach=lambda settings: settings.typical_p,
)

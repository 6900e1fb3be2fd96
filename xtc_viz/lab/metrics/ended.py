"""End-of-text rate: how many generations the model itself ended."""

from __future__ import annotations

import numpy as np

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples
from xtc_viz.records.trace import FinishReason


def ended(samples: Samples) -> float | None:
    """Return the share of generations that ended at an end of text, in [0, 1].

    None where a generation's end is not known, and without a generation.
    """
    reasons = [one.finish for one in samples.generations]
    if not reasons or None in reasons:
        return None
    return float(np.mean([reason is FinishReason.EOS for reason in reasons]))


METRICS = (
    Metric(
        name="ended",
        label="End of text",
        place=120,
        family=Family.LENGTH,
        direction=Direction.NEITHER,
        meaning="The share of generations that the model ended by itself, before their longest "
        "length.",
        source="a count",
        value=ended,
    ),
)

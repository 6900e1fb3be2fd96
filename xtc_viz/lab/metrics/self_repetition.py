"""Self-repetition: how much of a text's phrases another sample says too."""

from __future__ import annotations

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples


def self_repetition(samples: Samples) -> float | None:
    """Return the mean over texts of the different 4-grams that occur in another text as well /
    different 4-grams, in [0, 1].

    None for fewer than two texts of four words.
    """
    present = samples.counts[3] > 0
    present = present[present.any(axis=1)]
    if len(present) < 2:
        return None
    shared = present[:, present.sum(axis=0) > 1]
    return float((shared.sum(axis=1) / present.sum(axis=1)).mean())


METRICS = (
    Metric(
        name="self_repetition",
        label="Self-repetition",
        place=70,
        family=Family.WORDS,
        direction=Direction.ALIKE,
        meaning="The share of a text's phrases of four words that another sample has as well.",
        source="ours, after Salkar et al. 2022; their ln(1 + …) has no upper bound and cannot give "
        "the paper's values of 0.016 to 0.058, this share lies on their scale",
        value=self_repetition,
    ),
)

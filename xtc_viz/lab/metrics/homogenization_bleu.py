"""Homogenization (BLEU): how alike two texts are in their wording."""

from __future__ import annotations

from xtc_viz.lab.bleu import pairwise
from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples


def homogenization_bleu(samples: Samples) -> float | None:
    """Return the mean BLEU-4 over all ordered pairs of two texts, in [0, 1]; None for fewer than
    two."""
    n = len(samples.texts)
    if n < 2:
        return None
    scores = pairwise(samples.counts)
    return max(0.0, min(1.0, float((scores.sum() - scores.trace()) / (n * (n - 1)))))


METRICS = (
    Metric(
        name="homogenization_bleu",
        label="Homogenization BLEU",
        place=40,
        family=Family.WORDS,
        direction=Direction.ALIKE,
        meaning="How much of its wording a text shares with one other text, on average.",
        source="Padmakumar and He 2024 with BLEU-4, within one prompt; the paper gives no formula",
        value=homogenization_bleu,
    ),
)

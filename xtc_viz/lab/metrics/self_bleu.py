"""Self-BLEU-4: how much of each text could be put together from the others."""

from __future__ import annotations

from xtc_viz.lab.bleu import against_others
from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples


def self_bleu(samples: Samples) -> float | None:
    """Return the mean BLEU-4 of each text with all others as its references, in [0, 1].

    None for fewer than two texts.
    """
    if len(samples.texts) < 2:
        return None
    return float(against_others(samples.counts).mean())


METRICS = (
    Metric(
        name="self_bleu",
        label="Self-BLEU-4",
        place=30,
        family=Family.WORDS,
        direction=Direction.ALIKE,
        meaning="How much of each text's wording, up to four words in a row, the others have too.",
        source="Zhu et al. 2018, all other texts as references; the paper speaks of pairs, but its "
        "values lie far above its pairwise ones; smoothed as sacrebleu does",
        value=self_bleu,
    ),
)

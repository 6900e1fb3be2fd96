"""Repeated trigrams: how much of a text are words that it says more than once."""

from __future__ import annotations

import numpy as np

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples


def repeated_trigrams(samples: Samples) -> float | None:
    """Return the mean over texts of the trigrams that occur more than once / trigrams, in [0, 1].

    Every occurrence counts, the first as well; the numbers over a lane on the page count those
    after the first, 1 − Distinct-3. None where no text has three words.
    """
    counts = samples.counts[2]
    totals = counts.sum(axis=1)
    counts, totals = counts[totals > 0], totals[totals > 0]
    repeated = np.where(counts > 1, counts, 0).sum(axis=1)
    return float((repeated / totals).mean()) if len(totals) else None


METRICS = (
    Metric(
        name="repeated_trigrams",
        label="Repeated trigrams",
        place=20,
        family=Family.WORDS,
        direction=Direction.REPETITIVE,
        meaning="The share of a text's triples of words that occur in it more than once.",
        source="the paper's words; it leaves open whether occurrences or different trigrams count: "
        "here occurrences",
        value=repeated_trigrams,
    ),
)

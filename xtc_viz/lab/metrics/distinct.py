"""Distinct-n: how many of a text's n-grams are different ones."""

from __future__ import annotations

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples


def distinct(samples: Samples, n: int) -> float | None:
    """Return the mean over texts of different n-grams / n-grams, in (0, 1].

    Of each text by itself, not of all texts together as in Li et al. 2016: the paper says "unique
    n-grams in a text". It falls with the length of a text. None where no text has n words.
    """
    counts = samples.counts[n - 1]
    totals = counts.sum(axis=1)
    counts, totals = counts[totals > 0], totals[totals > 0]
    return float(((counts > 0).sum(axis=1) / totals).mean()) if len(totals) else None


def _metric(n: int, gram: str) -> Metric:
    return Metric(
        name=f"distinct_{n}",
        label=f"Distinct-{n}",
        place=10 + n,
        family=Family.WORDS,
        direction=Direction.VARIED,
        meaning=f"The share of different {gram} in a text; it falls as texts get longer.",
        source="Li et al. 2016, within one text as in the paper; by words, which it leaves open",
        value=lambda samples: distinct(samples, n),
    )


METRICS = (_metric(1, "words"), _metric(2, "pairs of words"), _metric(3, "triples of words"))

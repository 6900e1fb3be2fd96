"""Homogenization (ROUGE-L), which is the pairwise ROUGE-L."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from rapidfuzz.distance import Indel

from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples

_FIRST = 0xE000  # behind the surrogates, which a string should not hold
_LAST = 0x10FFFF - _FIRST


def homogenization_rouge(samples: Samples) -> float | None:
    """Return the mean ROUGE-L F1 over all pairs of two texts, in [0, 1]; None for fewer than two.

    F1 is 2·LCS/(a + b), the longest common subsequence over the words of both: the similarity of
    the words as characters. As it is the same both ways, the homogenization score (the mean over
    texts of a text's mean with the others) and the mean over pairs are one number.
    """
    rows = ["".join(chr(_FIRST + min(number, _LAST)) for number in row) for row in samples.numbers]
    pairs = list(combinations(rows, 2))
    return float(np.mean([Indel.normalized_similarity(a, b) for a, b in pairs])) if pairs else None


METRICS = (
    Metric(
        name="homogenization_rouge",
        label="Homogenization ROUGE-L",
        place=50,
        family=Family.WORDS,
        direction=Direction.ALIKE,
        meaning="How much of two texts is one sequence of words with gaps, on average over pairs.",
        source="Lin 2004 (F1), Padmakumar and He 2024, within one prompt; the same as the pairwise "
        "ROUGE-L; the paper gives no formula",
        value=homogenization_rouge,
    ),
)

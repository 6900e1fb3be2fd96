"""Whether two numbers of each prompt rise together: Spearman's rank correlation."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from xtc_viz.lab.statistics import CONFIDENCE, Interval

Floats = npt.NDArray[np.float64]
FEWEST = 5
"""Prompts of which an interval can be told at all: four can lie in order by chance too easily."""


def ranks(x: Floats) -> Floats:
    """Return the ranks of x (n,), from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: Floats = last - (counts - 1) / 2
    return shared[place]


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> Interval:
    """Return the rank correlation of x and y, (n,) each, with its 95 % interval.

    The interval is that of Fisher's z with the variance (1 + r²/2)/(n − 3) (Bonett and Wright
    2000). A perfect order counts as the one next to it, whose z is finite. Pairs with a NaN are
    left out; the mean is NaN where one of both is constant, the ends where there are fewer than
    `FEWEST` pairs.
    """
    pairs = np.column_stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    n = len(pairs)
    nothing = Interval(math.nan, math.nan, math.nan, n)
    if n < 2 or (np.ptp(pairs, axis=0) == 0).any():
        return nothing
    r = float(np.corrcoef(ranks(pairs[:, 0]), ranks(pairs[:, 1]))[0, 1])
    if n < FEWEST:
        return Interval(r, math.nan, math.nan, n)
    largest = 1 - 12 / (n * (n * n - 1))  # two neighbours exchanged
    z = math.atanh(max(-largest, min(largest, r)))
    reach = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * math.sqrt((1 + r * r / 2) / (n - 3))
    return Interval(r, math.tanh(z - reach), math.tanh(z + reach), n)

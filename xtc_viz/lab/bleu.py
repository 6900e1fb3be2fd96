"""BLEU-4 (Papineni et al. 2002) from n-gram counts, for the few texts of one group.

As sacrebleu computes it for a sentence: the effective order, and exponential smoothing, where the
k-th precision without a match is 1/(2ᵏ·total) (Chen and Cherry 2014, method 3); 0 where not one
word matches. Unlike sacrebleu's it is in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from xtc_viz.lab.ngrams import Counts

Floats = npt.NDArray[np.float64]
ORDER = 4


def pairwise(counts: Sequence[Counts]) -> Floats:
    """Return BLEU-4 of each text (row) against each other one (column), (N, N), 1 on the diagonal.

    `counts` are the n-gram counts (`words.ngram_counts`), n from 1 to 4; no text may be empty.
    """
    lengths = counts[0].sum(axis=1)
    matches = np.stack(
        [np.stack([np.minimum(row, table).sum(axis=1) for row in table]) for table in counts], -1
    )
    totals = np.stack([table.sum(axis=1) for table in counts], -1)[:, None, :]
    return _score(matches, np.broadcast_to(totals, matches.shape), lengths[:, None], lengths[None])


def against_others(counts: Sequence[Counts]) -> Floats:
    """Return BLEU-4 of each text with all others as its references, (N,) for N ≥ 2 texts.

    The reference length is the nearest one, the shorter of two that are equally near.
    """
    lengths = counts[0].sum(axis=1)
    matches = np.stack([_clipped(table) for table in counts], -1)
    totals = np.stack([table.sum(axis=1) for table in counts], -1)
    references = [_nearest(np.delete(lengths, i), length) for i, length in enumerate(lengths)]
    return _score(matches, totals, lengths, np.array(references))


def _clipped(table: Counts) -> Counts:
    """Return how many n-grams of each text occur in another one, each as often as in one of them
    at most, (N,)."""
    if not table.shape[1]:
        return np.zeros(len(table), dtype=np.int64)
    second, first = np.partition(table, len(table) - 2, axis=0)[-2:]
    others = np.where(table == first, second, first)  # with two firsts, the second equals it
    clipped: Counts = np.minimum(table, others).sum(axis=1)
    return clipped


def _nearest(references: Counts, length: int) -> int:
    order = np.lexsort((references, np.abs(references - length)))
    return int(references[order[0]])


def _score(matches: Counts, totals: Counts, lengths: Counts, references: Counts) -> Floats:
    """Return BLEU from matches and totals (…, 4) and lengths (…) of texts and references."""
    misses = (matches == 0) & (totals > 0)
    smoothed = 0.5 ** np.cumsum(misses, axis=-1)
    precision = np.where(misses, smoothed, matches) / np.maximum(totals, 1)
    logs = np.where(totals > 0, np.log(np.where(totals > 0, precision, 1.0)), 0.0)
    order = np.maximum((totals > 0).sum(axis=-1), 1)
    brevity = np.minimum(0.0, 1.0 - references / np.maximum(lengths, 1))
    score: Floats = np.exp(brevity + logs.sum(axis=-1) / order)
    return np.where(matches.any(axis=-1), score, 0.0)

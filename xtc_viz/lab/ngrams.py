"""Words as counted n-grams."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def ngram_counts(texts: Sequence[Sequence[int]], longest: int) -> list[Counts]:
    """Count the n-grams of some texts, for n from 1 to `longest`.

    Each text is a row of numbers, one for each different word. Returns for each n an array
    (texts, different n-grams): how often each occurs in each text. A text of fewer than n words
    has a row of zeros. It takes 8 bytes for each text and different n-gram.
    """
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    base = np.array([word for text in texts for word in text], dtype=np.int64)
    row = np.repeat(np.arange(len(texts)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(base))  # words to the end
    width = int(base.max(initial=0)) + 1
    counts, codes = [], base
    for n in range(1, longest + 1):
        if n > 1:
            # The (n−1)-gram at each place and the word behind it, where the text still has one.
            whole = left >= n
            behind = np.roll(base, 1 - n)
            codes = np.where(whole, codes * width + behind, 0)
        else:
            whole = left >= 1
        present, numbers = np.unique(codes[whole], return_inverse=True)
        grams = len(present)
        flat = np.bincount(row[whole] * grams + numbers, minlength=len(texts) * grams)
        counts.append(flat.reshape(len(texts), grams))
        codes = np.zeros_like(codes)
        codes[whole] = numbers
    return counts

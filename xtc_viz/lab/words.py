"""Texts as words, and words as counted n-grams: the one tokenization of all word metrics.

A word is a longest run of characters that are neither space nor punctuation, apostrophes within it
included; every punctuation mark is a word of its own, and so is every Chinese or Japanese
character. Upper and lower case are one. These are words, not the model's tokens, so that models
with different vocabularies can be compared; the paper does not say which it counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]

_MARKS = r"!-/:-@\[-`{-~¡-¿\u2010-\u2027\u2030-\u205e\u3001-\u303f\uff01-\uff0f\uff1a-\uff20"
_SINGLE = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = rf"[^\s{_MARKS}{_SINGLE}]+"
_WORD = re.compile(rf"{_RUN}(?:['’]{_RUN})*|[{_MARKS}{_SINGLE}]")


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return _WORD.findall(text.lower())


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

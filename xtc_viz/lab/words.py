"""Texts as words: the one tokenization of all word metrics, and words as people count them.

A word is a longest run of characters that are neither space nor punctuation, apostrophes within it
included; every punctuation mark is a word of its own, and so is every Chinese or Japanese
character. Upper and lower case are one. These are words, not the model's tokens, so that models
with different vocabularies can be compared; the paper does not say which it counts.
"""

from __future__ import annotations

import re

_MARKS = r"!-/:-@\[-`{-~¡-¿\u2010-\u2027\u2030-\u205e\u3001-\u303f\uff01-\uff0f\uff1a-\uff20"
_SINGLE = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = rf"[^\s{_MARKS}{_SINGLE}]+"
_WORD = re.compile(rf"{_RUN}(?:['’]{_RUN})*|[{_MARKS}{_SINGLE}]")
_SPOKEN = re.compile(r"\w+(?:['’-]\w+)*")


def words(text: str) -> list[str]:
    """Return the words and marks of a text."""
    return _WORD.findall(text.lower())


def spoken(text: str) -> list[str]:
    """Return the words of a text as people count them, in lower case: no marks, and `don't` and
    `well-known` are one each."""
    return _SPOKEN.findall(text.casefold())

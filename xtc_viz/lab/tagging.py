"""Parts of speech, where textblob is installed; its tagger needs no data beside the package."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

Tagger = Callable[[str], list[str]]
"""A text to the Penn tags of its words, punctuation left out."""


def tagger() -> Tagger | None:
    """Return textblob's pattern tagger for English; None where it is not installed."""
    if find_spec("textblob") is None:
        return None
    from textblob.en import tag  # a second; it brings nltk

    def tags(text: str) -> list[str]:
        return [name for _, name in tag(text) if name.isalpha()]

    return tags

"""Texts within a width: plotly breaks no line by itself, and leaves out none that is too long."""

from __future__ import annotations

import re
from html import unescape

LETTER = 7
"""Pixels of a letter of a figure's text, about."""
_TAG = re.compile(r"<[^>]*>")


def pixels(text: str) -> int:
    """Return about how wide one line of a figure's text is shown, without its tags."""
    return LETTER * len(unescape(_TAG.sub("", text)))


def wrapped(text: str, width: float) -> str:
    """Return the text with lines of at most `width` pixels, broken at its spaces; a word that is
    wider stays whole."""
    lines: list[str] = []
    for line in text.split("<br>"):
        words = line.split(" ")
        lines.append(words[0])
        for word in words[1:]:
            longer = f"{lines[-1]} {word}"
            if pixels(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
    return "<br>".join(lines)


def line_count(text: str) -> int:
    """Return how many lines a text has."""
    return text.count("<br>") + 1

"""A sentence as its parts: a `str` is text, an `int` a token id that is shown as a token.

Token text never becomes part of a sentence, so that no view can mistake it for markup.
"""

from __future__ import annotations

from collections.abc import Sequence

Part = str | int

NAMED = 4
"""How many tokens a sentence lists before it says "and 3 more"."""


def listed(tokens: Sequence[int]) -> list[Part]:
    """`a`, `a and b`, `a, b, c, d and 3 more`."""
    named, rest = tokens[:NAMED], len(tokens) - NAMED
    parts: list[Part] = []
    for i, token in enumerate(named):
        last = i == len(named) - 1 and rest <= 0
        parts += [" and " if last else ", ", token] if i else [token]
    return [*parts, f" and {rest} more"] if rest > 0 else parts


def joined(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return a sentence in which no text follows a text."""
    result: list[Part] = []
    for part in parts:
        if isinstance(part, str) and result and isinstance(result[-1], str):
            result[-1] += part
        else:
            result.append(part)
    return tuple(result)

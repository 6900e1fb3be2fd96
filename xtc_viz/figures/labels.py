"""Token text and numbers as plotly shows them.

Plotly reads tags and entities in any text: token text is escaped here and passed on nowhere else.
"""

from __future__ import annotations

_SIGNS = {" ": "·", "\u00a0": "·", "\n": "↵", "\t": "⇥", "\r": "↵"}
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
LONGEST = 24


def token(text: str) -> str:
    """Return a token's text with white space made visible, cut where it is long, and escaped."""
    core = text.strip(" ")
    inner = core if core else ""
    left = len(text) - len(text.lstrip(" ")) if core else len(text)
    right = len(text) - len(text.rstrip(" ")) if core else 0
    shown = "·" * left + "".join(_SIGNS.get(c, c) if c != " " else c for c in inner) + "·" * right
    if len(shown) > LONGEST:
        shown = shown[: LONGEST - 1] + "…"
    return escaped(shown) or "∅"


def escaped(text: str) -> str:
    """Return text that plotly takes for text, whatever it holds."""
    return "".join(_ESCAPES.get(c, c) for c in text if c.isprintable())


def percent(p: float) -> str:
    """A probability as people read it: `41 %`, `3.2 %`, `0.04 %`."""
    value = 100.0 * p
    if value >= 9.95 or value == 0.0:
        return f"{value:.0f}\u00a0%"
    return f"{value:.2g}\u00a0%" if value >= 0.0095 else "under\u00a00.01\u00a0%"


def setting(value: float) -> str:
    """A setting: at least two decimals, more where they say something."""
    return f"{value:.3g}" if value < 0.01 else f"{value:.3f}".removesuffix("0")

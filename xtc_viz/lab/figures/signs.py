"""How conditions are told apart: a colour and a marker for each kind, and a label for each one.

Plotly reads tags and entities in any text, so names pass `escaped`, and places on axes are numbers:
two names that are cut alike stay two rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.labels import escaped
from xtc_viz.figures.theme import Theme
from xtc_viz.lab.figures.view import View, stack
from xtc_viz.lab.statistics import Interval

LONGEST = 26
"""Characters of a condition's name on an axis."""
HOVER = 120
KINDS = {
    "baseline": "the baseline",
    "other": "without XTC",
    "xtc": "XTC",
    "both": "XTC with another sampler",
}
_SYMBOLS = {"baseline": "diamond", "other": "circle", "xtc": "square", "both": "triangle-up"}
_PATTERNS = {"xtc": "/", "both": "x"}


def kind(view: View, condition: str) -> str:
    """Return which of `KINDS` a condition is, beside this baseline."""
    if condition == view.results.baseline:
        return "baseline"
    every = view.results.conditions
    sampler = every[condition].sampler
    alike = stack(sampler) == stack(every[view.results.baseline].sampler)
    if sampler.xtc.rho == 0:
        return "other"
    return "xtc" if alike else "both"


def colour(kind: str, theme: Theme) -> str:
    return {
        "baseline": theme.ink_2,
        "other": theme.eligible,
        "xtc": theme.removed,
        "both": theme.kept,
    }[kind]


def marker(kind: str, theme: Theme, *, hollow: bool = False, size: int = 9) -> dict[str, Any]:
    """Return a kind's marker; a hollow one is of a difference that is not shown."""
    own = colour(kind, theme)
    symbol = _SYMBOLS[kind]
    fill = theme.paper if hollow else own
    return {"symbol": symbol, "size": size, "color": fill, "line": {"color": own, "width": 2}}


_SERIES = (
    ("removed", "solid", "square"),
    ("eligible", "dash", "circle"),
    ("kept", "dot", "triangle-up"),
    ("changed", "dashdot", "diamond"),
    ("protected", "solid", "cross"),
    ("skipped", "dash", "star"),
)
MOST_SERIES = len(_SERIES)


def series(names: Sequence[str]) -> list[str]:
    """Return the conditions that one plot can hold: all, or `MOST_SERIES` evenly spread."""
    n = len(names)
    if n <= MOST_SERIES:
        return list(names)
    return [names[i * (n - 1) // (MOST_SERIES - 1)] for i in range(MOST_SERIES)]


def series_sign(i: int, theme: Theme) -> tuple[str, str, str]:
    """Return colour, dash and symbol of the condition in place i of a plot."""
    name, dash, symbol = _SERIES[i % MOST_SERIES]
    return getattr(theme, name), dash, symbol


def mixed(one: str, other: str, share: float) -> str:
    """Return a colour between two, `share` of the way to the other; both as `#rrggbb`."""
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (one, other)]
    parts = (round(a + (b - a) * share) for a, b in zip(*ends, strict=True))
    return "#" + "".join(f"{part:02x}" for part in parts)


def bar(kind: str, theme: Theme) -> dict[str, Any]:
    """Return a kind's bar: hatched where XTC may fire."""
    own = colour(kind, theme)
    plain = {"color": own, "line": {"color": own, "width": 1}}
    if kind not in _PATTERNS:
        return plain
    ground = theme.removed_wash if kind == "xtc" else theme.paper
    pattern = {"shape": _PATTERNS[kind], "fgcolor": own, "bgcolor": ground, "size": 6}
    return plain | {"color": ground, "pattern": pattern}


def whiskers(means: Sequence[Interval], ink: str) -> dict[str, Any]:
    """Return the error bars of these means."""
    return {
        "type": "data", "symmetric": False, "color": ink, "thickness": 1.5, "width": 0,
        "array": [mean.high - mean.mean for mean in means],
        "arrayminus": [mean.mean - mean.low for mean in means],
    }  # fmt: skip


def cut(text: str, longest: int = LONGEST) -> str:
    """Return a text as plotly shows it: short, escaped, never empty."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    short = plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"
    return escaped(short) or "∅"


def labels(names: Iterable[str], longest: int = LONGEST) -> list[str]:
    """Return the names as an axis shows them; those that are cut alike carry their number."""
    every = list(names)
    short = [cut(name, longest) for name in every]
    alike = {text for text in short if short.count(text) > 1}
    return [
        f"{cut(name, longest - 5)} ({i})" if text in alike else text
        for i, (name, text) in enumerate(zip(every, short, strict=True), 1)
    ]


def kinds_of(view: View, names: Iterable[str]) -> list[str]:
    """Return what the kinds of these conditions are called."""
    kinds = {kind(view, name) for name in names}
    return [words for one, words in KINDS.items() if one in kinds]


def key_of_kinds(
    figure: go.Figure, view: View, names: Iterable[str], *, bars: bool = False
) -> None:
    """Add what colours and markers mean to the legend, for the kinds of these conditions."""
    kinds = {kind(view, name) for name in names}
    for one, words in KINDS.items():
        if one in kinds and bars:
            figure.add_bar(x=[None], y=[None], marker=bar(one, view.theme), name=words)
        elif one in kinds:
            add_key(figure, words, marker(one, view.theme))


def add_key(figure: go.Figure, words: str, own: dict[str, Any]) -> None:
    """Add a line to the legend that belongs to no trace."""
    figure.add_scatter(
        x=[None], y=[None], mode="markers", marker=own, name=words, hoverinfo="skip",
        showlegend=True,
    )  # fmt: skip

"""How conditions are told apart: a colour and a marker for each kind, and a label for each one.

Plotly reads tags and entities in any text, so names pass `escaped`, and places on axes are numbers:
two names that are cut alike stay two rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.labels import escaped
from xtc_viz.figures.theme import Theme
from xtc_viz.lab.figures.view import View, stack

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


def bar(kind: str, theme: Theme) -> dict[str, Any]:
    """Return a kind's bar: hatched where XTC may fire."""
    own = colour(kind, theme)
    plain = {"color": own, "line": {"color": own, "width": 1}}
    if kind not in _PATTERNS:
        return plain
    ground = theme.removed_wash if kind == "xtc" else theme.paper
    pattern = {"shape": _PATTERNS[kind], "fgcolor": own, "bgcolor": ground, "size": 6}
    return plain | {"color": ground, "pattern": pattern}


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


def key_of_kinds(
    figure: go.Figure, view: View, names: Iterable[str], *, bars: bool = False
) -> None:
    """Add what colours and markers mean to the legend, for the kinds of these conditions."""
    found = {kind(view, name) for name in names}
    for one, words in KINDS.items():
        if one in found and bars:
            figure.add_bar(x=[None], y=[None], marker=bar(one, view.theme), name=words)
        elif one in found:
            add_key(figure, words, marker(one, view.theme))


def add_key(figure: go.Figure, words: str, own: dict[str, Any]) -> None:
    """Add a line to the legend that belongs to no trace."""
    figure.add_scatter(
        x=[None], y=[None], mode="markers", marker=own, name=words, hoverinfo="skip",
        showlegend=True,
    )  # fmt: skip

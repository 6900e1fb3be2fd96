"""One meaning, one colour, in every figure; and beside each colour a second sign.

The colours are those of the page (`assets/web/core/base.css`), light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


@dataclass(frozen=True, slots=True)
class Theme:
    """Paper, inks, and a colour for each meaning, as CSS colours."""

    paper: str
    ink: str
    ink_2: str
    line: str
    tail: str
    eligible: str
    removed: str
    removed_wash: str
    kept: str
    changed: str
    skipped: str
    protected: str


LIGHT = Theme(
    paper="#ffffff",
    ink="#17181a",
    ink_2="#575b61",
    line="#dfe0dd",
    tail="#b4b7bb",
    eligible="#0072b2",
    removed="#d55e00",
    removed_wash="#fdebdf",
    kept="#009e73",
    changed="#cc79a7",
    skipped="#56b4e9",
    protected="#e69f00",
)
DARK = Theme(
    paper="#141517",
    ink="#ececea",
    ink_2="#a3a7ad",
    line="#2e3135",
    tail="#5d6268",
    eligible="#2b8fc9",
    removed="#e36f17",
    removed_wash="#3c2414",
    kept="#14b183",
    changed="#cc79a7",
    skipped="#56b4e9",
    protected="#e69f00",
)


def bar(kind: str, theme: Theme) -> dict[str, Any]:
    """Return a bar's marker: removed is hatched, kept ringed, protected dotted, the rest hollow."""
    if kind == "removed":
        return {
            "color": theme.removed_wash,
            "line": {"color": theme.removed, "width": 1},
            "pattern": {
                "shape": "/",
                "fgcolor": theme.removed,
                "bgcolor": theme.removed_wash,
                "size": 6,
            },
        }
    if kind == "kept":
        return {"color": theme.kept, "line": {"color": theme.ink, "width": 2}}
    if kind == "protected":
        pattern = {"shape": ".", "fgcolor": theme.ink, "bgcolor": theme.protected, "size": 6}
        return {"color": theme.protected, "pattern": pattern}
    if kind == "rest":
        return {"color": theme.paper, "line": {"color": theme.tail, "width": 1}}
    return {"color": theme.eligible if kind == "eligible" else theme.tail}


def axis(theme: Theme, **values: Any) -> dict[str, Any]:
    """Return an axis with thin lines; `values` are added."""
    return {
        "gridcolor": theme.line,
        "linecolor": theme.line,
        "zerolinecolor": theme.line,
        "tickfont": {"color": theme.ink_2, "size": 12},
        "fixedrange": True,
    } | values


def token_axis(theme: Theme, labels: Sequence[str]) -> dict[str, Any]:
    """Return the axis of figures whose rows are tokens, the first one on top."""
    rows = list(range(len(labels)))
    return axis(
        theme,
        range=[len(labels) - 0.5, -0.5],
        tickvals=rows,
        ticktext=list(labels),
        tickfont={"color": theme.ink, "size": 13},
        automargin=True,
        showgrid=False,
        zeroline=False,
    )


def layout(theme: Theme, height: int, **values: Any) -> dict[str, Any]:
    """Return the layout that all figures share; `height` in pixels, `values` are added."""
    return {
        "template": "none",
        "height": height,
        "margin": {"l": 16, "r": 24, "t": 76, "b": 36},
        "paper_bgcolor": theme.paper,
        "plot_bgcolor": theme.paper,
        "font": {"family": FONT, "color": theme.ink, "size": 13},
        "hoverlabel": {"bgcolor": theme.paper, "font": {"color": theme.ink, "family": FONT}},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "top", "yref": "container"},
        "bargap": 0.25,
    } | values

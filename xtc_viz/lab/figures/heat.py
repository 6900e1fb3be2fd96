"""Tables of coloured cells with their numbers in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.theme import Theme, axis
from xtc_viz.lab.figures.fitting import wrapped
from xtc_viz.lab.figures.signs import mixed

CELL = 46  # pixels of a row
STRONGEST = 0.5
"""Of a colour in a cell, so that its number can be read on it."""
SHOWN, OPEN = "●", "○"
"""The signs of a difference that the interval shows, and of one that it does not."""


@dataclass(frozen=True, slots=True)
class HeatCell:
    """What stands in a cell: `shade` from −1 to 1 is its colour, `hover` a line for the pointer."""

    shade: float
    text: str
    hover: str = ""


def add_cells(
    figure: go.Figure,
    cells: Mapping[tuple[int, int], HeatCell],
    size: tuple[int, int],
    axes: tuple[str, str],
    theme: Theme,
    *,
    across: float,
    plain: bool = False,
) -> None:
    """Add cells by column and row, `size` of them, each `across` pixels wide; what is not there
    stays empty.

    Blue is more and orange less than nothing; where `plain`, the stronger the grey, the more.
    """
    wide, high = size
    places = [[cells.get((i, j)) for i in range(wide)] for j in range(high)]
    scale: list[list[Any]] = [
        [0.0, mixed(theme.paper, theme.removed, STRONGEST)],
        [0.5, theme.paper],
        [1.0, mixed(theme.paper, theme.eligible, STRONGEST)],
    ]
    if plain:
        scale[2][1] = mixed(theme.paper, theme.ink_2, STRONGEST)
    figure.add_heatmap(
        x=list(range(wide)), y=list(range(high)),
        z=[[cell.shade if cell else None for cell in row] for row in places],
        zmin=-1, zmax=1, colorscale=scale, showscale=False, xgap=2, ygap=2, hoverinfo="text",
        hoverongaps=False, text=[[cell.hover if cell else "" for cell in row] for row in places],
        xaxis=axes[0], yaxis=axes[1],
    )  # fmt: skip
    there = [(i, j, cell) for (i, j), cell in cells.items()]
    figure.add_scatter(
        x=[i for i, _, _ in there], y=[j for _, j, _ in there], mode="text",
        text=[wrapped(cell.text, across) for _, _, cell in there],
        textfont={"color": theme.ink, "size": 12},
        hoverinfo="skip", showlegend=False, xaxis=axes[0], yaxis=axes[1],
    )  # fmt: skip


def cell_axis(
    theme: Theme, labels: Sequence[str], title: str = "", **values: Any
) -> dict[str, Any]:
    """Return an axis of cells."""
    n = len(labels)
    head = {"text": title, "font": {"size": 12, "color": theme.ink_2}, "standoff": 6}
    return axis(
        theme, range=[-0.5, n - 0.5], tickvals=list(range(n)), ticktext=list(labels),
        showgrid=False, zeroline=False, showline=False, ticks="", title=head, automargin=True,
        **values,
    )  # fmt: skip


def shades(values: Mapping[Any, float]) -> dict[Any, float]:
    """Return each value's share of the largest one, its sign kept."""
    largest = max((abs(value) for value in values.values()), default=0.0)
    return {key: value / largest if largest else 0.0 for key, value in values.items()}

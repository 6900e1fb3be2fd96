"""Samplers × XTC: the mean of a metric for each combination."""

from __future__ import annotations

import math

import plotly.graph_objects as go

from xtc_viz.lab.figures.base import MAIN, LabFigure, one_of
from xtc_viz.lab.figures.factors import factorial, xtc_words
from xtc_viz.lab.figures.fitting import pixels, wrapped
from xtc_viz.lab.figures.heat import CELL, HeatCell, add_cells, cell_axis
from xtc_viz.lab.figures.panels import Grid, names, panels_layout
from xtc_viz.lab.figures.signs import HOVER, cut, labels
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import claims
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.wording import number, with_ends


def lack(view: View) -> str:
    own = factorial(view)
    if len(own.rows) < 2 or not own.combinations:
        return "It takes two samplers with the same XTC: each alone, both together, and neither."
    if not _differences(view):
        return f"No prompt has values both with {quoted(own.rows[0])} and another condition yet."
    return ""


def _differences(view: View) -> dict[str, Interval]:
    """Return what the conditions differ by from the one of neither factor, by name."""
    own = factorial(view)
    others = [name for name in own.cells.values() if name != own.rows[0]]
    by_name = {name: view.difference(view.metric, own.rows[0], name) for name in others}
    return {name: one for name, one in by_name.items() if one.n}


def _picture(view: View) -> go.Figure:
    figure, theme, own = go.Figure(), view.theme, factorial(view)
    means = {
        cell: mean for cell, name in own.cells.items() if (mean := view.mean(view.metric, name))
    }
    low = min(mean.mean for mean in means.values())
    span = max(mean.mean for mean in means.values()) - low or 1.0
    size, called = (len(own.columns), len(own.rows)), labels(own.rows)
    margin = max(map(pixels, called))
    grid = Grid(view.width, 1, (CELL + 8) * size[1], margin=margin, top=48, bottom=48)
    across = grid.panel / size[0]
    cells = {
        (j, i): HeatCell(
            (mean.mean - low) / span,
            f"<b>{number(mean.mean)}</b><br>{number(mean.low)} – {number(mean.high)}"
            if math.isfinite(mean.low)
            else f"<b>{number(mean.mean)}</b>",
            f"{cut(own.cells[i, j], HOVER)}<br>{with_ends(mean)}",
        )
        for (i, j), mean in means.items()
    }
    add_cells(figure, cells, size, names(0), theme, across=across, plain=True)
    columns = [wrapped(xtc_words(xtc), across) for xtc in own.columns]
    rows = cell_axis(theme, called)
    rows["range"] = rows["range"][::-1]  # the first on top
    figure.update_layout(
        panels_layout(
            theme, grid, [f"{view.title(view.metric)}, mean and 95 % interval"],
            [cell_axis(theme, columns)], [rows],
        )
    )  # fmt: skip
    return figure


def _words(view: View) -> str:
    base, metric, by_name = factorial(view).rows[0], view.of(view.metric), _differences(view)
    return (
        f"{metric.label} ({metric.direction}) against {quoted(base)}, on "
        f"{prompts([one.n for one in by_name.values()])}: {claims(by_name)}. Whether the effects "
        "add up is another question: see the figure of the sum and the two together."
    )


FIGURE = LabFigure(
    name="interaction",
    label="Samplers × XTC",
    place=80,
    meaning="The mean for each sampler (rows) with each setting of XTC (columns): the stronger "
    "the grey, the higher.",
    lack=lack,
    picture=_picture,
    words=_words,
    metrics=one_of(*MAIN),
)

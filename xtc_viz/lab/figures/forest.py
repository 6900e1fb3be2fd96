"""What each condition differs by from the baseline, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from xtc_viz.figures.theme import Theme
from xtc_viz.lab.comparison import Comparison
from xtc_viz.lab.figures.base import MAIN, LabFigure, all_of
from xtc_viz.lab.figures.panels import names, rows_grid, rows_layout
from xtc_viz.lab.figures.signs import (
    HOVER,
    KINDS,
    add_key,
    colour,
    cut,
    key_of_kinds,
    kind,
    kinds_of,
    labels,
    marker,
    whiskers,
)
from xtc_viz.lab.figures.view import View
from xtc_viz.lab.figures.words import against_baseline
from xtc_viz.lab.wording import says, with_ends

ROW = 24  # pixels


def lack(view: View) -> str:
    if view.with_differences:
        return ""
    return "There is no condition yet to compare with the baseline on the same prompts."


def _picture(view: View) -> go.Figure:
    shown = view.with_differences
    return forest(view, shown, labels(shown))


def forest(view: View, shown: Sequence[str], rows: Sequence[str]) -> go.Figure:
    """Draw the differences of these conditions from the baseline, as rows of these labels."""
    figure, theme = go.Figure(), view.theme
    hollow = "hollow: no difference shown"
    keys = [*kinds_of(view, shown), hollow]
    grid = rows_grid(view.width, len(view.metrics), ROW, rows, keys)
    for i, metric in enumerate(view.metrics):
        x, y = names(i)
        figure.add_scatter(
            x=[0, 0], y=[-0.5, len(shown) - 0.5], mode="lines", xaxis=x, yaxis=y,
            line={"color": theme.ink, "width": 1}, hoverinfo="skip", showlegend=False,
        )  # fmt: skip
        for own in KINDS:
            there = [
                (row, one)
                for row, name in enumerate(shown)
                if kind(view, name) == own and (one := view.compared(metric, name))
            ]
            if there:
                _add(figure, theme, own, there, (x, y))
    key_of_kinds(figure, view, shown)
    add_key(figure, hollow, marker("baseline", theme, hollow=True))
    titles = [view.title(metric) for metric in view.metrics]
    figure.update_layout(rows_layout(theme, grid, titles, rows))
    return figure


def _add(
    figure: go.Figure, theme: Theme, own: str, there: Sequence[tuple[int, Comparison]],
    axes: tuple[str, str],
) -> None:  # fmt: skip
    """Add the points of a kind: row and comparison of each."""
    differences = [one.difference for _, one in there]
    ink = colour(own, theme)
    fills = [ink if one.excludes_zero else theme.paper for one in differences]
    figure.add_scatter(
        x=[one.mean for one in differences], y=[row for row, _ in there], mode="markers",
        xaxis=axes[0], yaxis=axes[1], marker=marker(own, theme) | {"color": fills},
        error_x=whiskers(differences, ink) | {"thickness": 2}, showlegend=False, hoverinfo="text",
        hovertext=[
            f"{cut(one.condition, HOVER)}<br>{with_ends(one.difference, signed=True)}<br>"
            f"p = {one.p_holm:.2g} after Holm<br>{says(one)}" for _, one in there
        ],
    )  # fmt: skip


FIGURE = LabFigure(
    name="forest",
    label="Differences from the baseline",
    place=20,
    meaning="Condition − baseline, paired by prompt and seed, with 95 % intervals: filled where "
    "the interval leaves zero out, hollow where it does not.",
    lack=lack,
    picture=_picture,
    words=against_baseline,
    metrics=all_of(*MAIN),
)

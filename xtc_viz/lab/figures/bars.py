"""Each condition's mean in each metric, as a bar with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from xtc_viz.figures.theme import Theme
from xtc_viz.lab.figures.base import MAIN, LabFigure, all_of
from xtc_viz.lab.figures.panels import names, rows_grid, rows_layout
from xtc_viz.lab.figures.signs import (
    HOVER,
    KINDS,
    bar,
    cut,
    key_of_kinds,
    kind,
    kinds_of,
    labels,
    whiskers,
)
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import MOST, against_baseline, listed
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.wording import with_ends

ROW = 24  # pixels


def _lack(view: View) -> str:
    return "" if view.with_means else "No condition has a value yet."


def _picture(view: View) -> go.Figure:
    figure, theme = go.Figure(), view.theme
    shown = view.with_means
    rows = labels(shown)
    grid = rows_grid(view.width, len(view.metrics), ROW, rows, kinds_of(view, shown))
    for i, metric in enumerate(view.metrics):
        x, y = names(i)
        for own in KINDS:
            there = [
                (row, name, mean)
                for row, name in enumerate(shown)
                if kind(view, name) == own and (mean := view.mean(metric, name))
            ]
            if there:
                _add(figure, theme, own, there, (x, y))
        if base := view.mean(metric, view.results.baseline):
            figure.add_scatter(
                x=[base.mean] * 2, y=[-0.5, len(shown) - 0.5], mode="lines", xaxis=x, yaxis=y,
                line={"color": theme.ink, "width": 1, "dash": "dot"}, hoverinfo="skip",
                showlegend=False,
            )  # fmt: skip
    key_of_kinds(figure, view, shown, bars=True)
    titles = [view.title(metric) for metric in view.metrics]
    figure.update_layout(rows_layout(theme, grid, titles, rows))
    return figure


def _add(
    figure: go.Figure, theme: Theme, own: str, there: Sequence[tuple[int, str, Interval]],
    axes: tuple[str, str],
) -> None:  # fmt: skip
    """Add the bars of a kind: row, name and mean of each."""
    figure.add_bar(
        x=[mean.mean for _, _, mean in there], y=[row for row, _, _ in there], orientation="h",
        xaxis=axes[0], yaxis=axes[1], width=0.62, marker=bar(own, theme),
        error_x=whiskers([mean for _, _, mean in there], theme.ink) | {"width": 4},
        showlegend=False, hoverinfo="text",
        hovertext=[f"{cut(name, HOVER)}<br>{with_ends(mean)}" for _, name, mean in there],
    )  # fmt: skip


def _words(view: View) -> str:
    if view.with_differences:
        return against_baseline(view)
    parts, counts = [], []
    for name in view.with_means[:MOST]:
        means = {m: mean for m in view.metrics if (mean := view.mean(m, name))}
        counts += [mean.n for mean in means.values()]
        values = [f"{view.of(m).label} {with_ends(mean)}" for m, mean in means.items()]
        parts.append(f"{quoted(name)} has {listed(values)}")
    return f"On {prompts(counts)}: {'; '.join(parts)}. Nothing is there yet to compare."


FIGURE = LabFigure(
    name="bars",
    label="Means",
    place=10,
    meaning="The mean of each metric over prompts, with its 95 % interval; the dotted line is the "
    "baseline's. ↑ more is preferred, ↓ less is.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=all_of(*MAIN),
)

"""Each condition's mean in each metric, as a bar with its interval."""

from __future__ import annotations

import plotly.graph_objects as go

from xtc_viz.lab.figures.base import MAIN, LabFigure, all_of
from xtc_viz.lab.figures.panels import Grid, names, rows_layout
from xtc_viz.lab.figures.signs import HOVER, bar, cut, key_of_kinds, kind, labels
from xtc_viz.lab.figures.view import View
from xtc_viz.lab.figures.words import against_baseline
from xtc_viz.lab.wording import with_ends

ROW = 24  # pixels


def _lack(view: View) -> str:
    return "" if view.with_means else "No condition has a value yet."


def _picture(view: View) -> go.Figure:
    figure, theme = go.Figure(), view.theme
    shown = view.with_means
    grid = Grid(len(view.metrics), max(70, ROW * len(shown)))
    for i, metric in enumerate(view.metrics):
        x, y = names(i)
        for row, name in enumerate(shown):
            mean = view.mean(metric, name)
            if mean is None:
                continue
            figure.add_bar(
                x=[mean.mean], y=[row], orientation="h", xaxis=x, yaxis=y, width=0.62,
                marker=bar(kind(view, name), theme),
                error_x={
                    "type": "data", "symmetric": False, "array": [mean.high - mean.mean],
                    "arrayminus": [mean.mean - mean.low], "color": theme.ink, "thickness": 1.5,
                    "width": 4,
                },
                showlegend=False,
                hoverinfo="text", hovertext=f"{cut(name, HOVER)}<br>{with_ends(mean)}",
            )  # fmt: skip
        if base := view.mean(metric, view.results.baseline):
            figure.add_scatter(
                x=[base.mean] * 2, y=[-0.5, len(shown) - 0.5], mode="lines", xaxis=x, yaxis=y,
                line={"color": theme.ink, "width": 1, "dash": "dot"}, hoverinfo="skip",
                showlegend=False,
            )  # fmt: skip
    key_of_kinds(figure, view, shown, bars=True)
    titles = [view.title(metric) for metric in view.metrics]
    figure.update_layout(rows_layout(theme, grid, titles, labels(shown)))
    return figure


FIGURE = LabFigure(
    name="bars",
    label="Means",
    place=10,
    meaning="The mean of each metric over prompts, with its 95 % interval; the dotted line is the "
    "baseline's. ↑ more is preferred, ↓ less is.",
    lack=_lack,
    picture=_picture,
    words=against_baseline,
    metrics=all_of(*MAIN),
)

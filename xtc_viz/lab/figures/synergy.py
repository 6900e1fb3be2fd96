"""Whether the effects of a sampler and of XTC add up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from xtc_viz.lab.figures.base import MAIN, LabFigure, one_of
from xtc_viz.lab.figures.factors import factorial
from xtc_viz.lab.figures.interaction import lack
from xtc_viz.lab.figures.panels import names, rows_grid, rows_layout
from xtc_viz.lab.figures.signs import HOVER, add_key, colour, cut, labels, marker, whiskers
from xtc_viz.lab.figures.view import View, prompts
from xtc_viz.lab.figures.words import claims
from xtc_viz.lab.results import DICE
from xtc_viz.lab.statistics import Additivity, Interval, additivity, by_prompt
from xtc_viz.lab.wording import with_ends

ROW = 34  # pixels


def interactions(view: View) -> dict[str, Additivity]:
    """Return what each combination does alone and together, by the condition of both."""
    by_name = {}
    for four in factorial(view).combinations:
        _, table = by_prompt(view.results.scores[view.metric], four)
        if len(table):
            neither, first, second, both = table.T
            rng = np.random.default_rng(DICE)
            by_name[four.both] = additivity(neither, first, second, both, rng)
    return by_name


def _lack(view: View) -> str:
    if why := lack(view):
        return why
    return "" if interactions(view) else "No prompt has values in all four conditions yet."


def _picture(view: View) -> go.Figure:
    figure, theme, by_name = go.Figure(), view.theme, interactions(view)
    keys = ("the sum of the two alone", "the two together", "hollow: no interaction shown")
    rows = labels(by_name)
    grid = rows_grid(view.width, 2, ROW, rows, keys)
    for i in range(2):
        x, y = names(i)
        figure.add_scatter(
            x=[0, 0], y=[-0.5, len(by_name) - 0.5], mode="lines", xaxis=x, yaxis=y,
            line={"color": theme.ink, "width": 1}, hoverinfo="skip", showlegend=False,
        )  # fmt: skip
    for row, (name, one) in enumerate(by_name.items()):
        total = one.first.mean + one.second.mean
        figure.add_scatter(
            x=[total], y=[row - 0.14], mode="markers", marker=marker("baseline", theme, size=10),
            showlegend=False, hoverinfo="text",
            hovertext=f"{cut(name, HOVER)}<br>the sum {total:+.3f}",
        )  # fmt: skip
        _add(figure, view, name, one.joint, row + 0.14, names(0), "both")
        _add(figure, view, name, one.interaction, row, names(1), "xtc")
    add_key(figure, keys[0], marker("baseline", theme))
    add_key(figure, keys[1], marker("both", theme))
    add_key(figure, keys[2], marker("xtc", theme, hollow=True))
    titles = [f"{view.title(view.metric)}, difference", "<b>Together − sum</b>"]
    figure.update_layout(rows_layout(theme, grid, titles, rows))
    return figure


def _add(
    figure: go.Figure, view: View, name: str, one: Interval, row: float, axes: tuple[str, str],
    kind: str,
) -> None:  # fmt: skip
    on: dict[str, Any] = {"xaxis": axes[0], "yaxis": axes[1]}
    figure.add_scatter(
        x=[one.mean], y=[row], mode="markers", showlegend=False, hoverinfo="text",
        marker=marker(kind, view.theme, hollow=kind == "xtc" and not one.excludes_zero),
        error_x=whiskers([one], colour(kind, view.theme)) | {"thickness": 2},
        hovertext=f"{cut(name, HOVER)}<br>{with_ends(one, signed=True)}", **on,
    )  # fmt: skip


def _words(view: View) -> str:
    by_name: Mapping[str, Additivity] = interactions(view)
    interaction = {name: one.interaction for name, one in by_name.items()}
    counts = prompts([one.n for one in interaction.values()])
    words = claims(interaction, what="combinations").replace("no difference", "no interaction")
    return (
        f"{view.of(view.metric).label}, what a sampler and XTC do together against the sum of what "
        f"each does alone, on {counts}: {words}. No interaction shown is not shown to be none: "
        "the intervals say how large one could be."
    )


FIGURE = LabFigure(
    name="synergy",
    label="Do the effects add up?",
    place=90,
    meaning="Left the sum of the two effects beside what they do together, right the difference of "
    "the two with its 95 % interval: right of zero more than the sum, left of it less.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=one_of(*MAIN),
)

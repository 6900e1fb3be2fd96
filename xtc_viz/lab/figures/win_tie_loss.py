"""On how many prompts each condition is better than the baseline, equal, and worse."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.theme import Theme
from xtc_viz.lab.figures.base import MAIN, LabFigure, all_of
from xtc_viz.lab.figures.forest import lack
from xtc_viz.lab.figures.panels import key, names, rows_grid, rows_layout
from xtc_viz.lab.figures.signs import HOVER, cut, labels
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import claims

ROW = 24  # pixels


def _kinds(view: View) -> tuple[str, str, str]:
    """Return what wins, ties and losses are called: a metric may prefer neither."""
    if any(view.of(metric).direction.sign for metric in view.metrics):
        return "better", "equal", "worse"
    return "more", "equal", "less"


def _marker(place: int, theme: Theme) -> dict[str, Any]:
    if place == 0:
        return {"color": theme.kept, "line": {"color": theme.kept, "width": 1}}
    if place == 1:
        return {"color": theme.paper, "line": {"color": theme.tail, "width": 1}}
    pattern = {"shape": "/", "fgcolor": theme.removed, "bgcolor": theme.removed_wash, "size": 6}
    line = {"color": theme.removed, "width": 1}
    return {"color": theme.removed_wash, "line": line, "pattern": pattern}


def _picture(view: View) -> go.Figure:
    figure, theme = go.Figure(), view.theme
    shown, kinds = view.with_differences, _kinds(view)
    rows = labels(shown)
    grid = rows_grid(view.width, len(view.metrics), ROW, rows, kinds)
    ranges: dict[str, Any] = {}
    for i, metric in enumerate(view.metrics):
        x, y = names(i)
        counted = [
            (row, one) for row, name in enumerate(shown) if (one := view.compared(metric, name))
        ]
        for place, words in enumerate(kinds):
            counts = [one.prompts[place] for _, one in counted]
            figure.add_bar(
                x=counts, y=[row for row, _ in counted], orientation="h", xaxis=x, yaxis=y,
                width=0.68, marker=_marker(place, theme), name=words, legendgroup=words,
                showlegend=i == 0, hoverinfo="text",
                hovertext=[
                    f"{cut(one.condition, HOVER)}<br>{words} on {one.prompts[place]} of "
                    f"{sum(one.prompts)} prompts" for _, one in counted
                ],
            )  # fmt: skip
        # Numbers at both ends, where no hatching is behind them.
        longest = max((sum(one.prompts) for _, one in counted), default=1)
        for place in (0, 2):
            figure.add_scatter(
                x=[0 if place == 0 else sum(one.prompts) for _, one in counted],
                y=[row for row, _ in counted], xaxis=x, yaxis=y, mode="text",
                text=[f"<b>{one.prompts[place]}</b>" for _, one in counted],
                textposition="middle right", textfont={"color": theme.ink, "size": 12},
                cliponaxis=False, hoverinfo="skip", showlegend=False,
            )  # fmt: skip
        ranges[key(x)] = {"range": [0, longest * 1.15], "nticks": 4}
    titles = [view.title(metric) for metric in view.metrics]
    figure.update_layout(rows_layout(theme, grid, titles, rows, barmode="stack"))
    figure.update_layout(ranges)
    return figure


def _words(view: View) -> str:
    better = _kinds(view)[0]
    counts, sentences = [], []
    for metric in view.metrics:
        comparisons = {name: one for name in view.others if (one := view.compared(metric, name))}
        if not comparisons:
            continue
        counts += [one.difference.n for one in comparisons.values()]
        most = max(comparisons, key=lambda name: comparisons[name].prompts.wins)
        wins, all_of_them = comparisons[most].prompts.wins, sum(comparisons[most].prompts)
        sentences.append(
            f"{view.of(metric).label}: {better} on up to {wins} of {all_of_them} (with "
            f"{quoted(most)}); by the intervals of the means "
            f"{claims({name: one.difference for name, one in comparisons.items()}, numbers=False)}."
        )
    base = quoted(view.results.baseline)
    return f"Prompts on which a condition differs from {base}, of {prompts(counts)}. " + " ".join(
        sentences
    )


FIGURE = LabFigure(
    name="win_tie_loss",
    label="Prompts won and lost",
    place=30,
    meaning="On how many prompts a condition is better than the baseline (left), equal, and worse "
    "(right); where a metric prefers neither, better is more.",
    lack=lack,
    picture=_picture,
    words=_words,
    metrics=all_of(*MAIN[:-1]),
)

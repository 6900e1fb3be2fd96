"""What XTC changes in each genre, and in open and narrow prompts."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

import numpy as np
import plotly.graph_objects as go

from xtc_viz.lab.figures.base import MAIN, LabFigure, one_of
from xtc_viz.lab.figures.panels import Grid, key, names, over, panels_layout, row_axis, value_axis
from xtc_viz.lab.figures.signs import HOVER, cut, labels, mixed, series, series_sign, whiskers
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import claims
from xtc_viz.lab.results import DICE
from xtc_viz.lab.statistics import Interval, interval, paired
from xtc_viz.lab.wording import with_ends

LINE = 15  # pixels of a condition in a row
ENOUGH = 8
"""Prompts of a label from which on its interval is drawn and claimed of."""
NONE = "no genre"


def _conditions(view: View) -> list[str]:
    """Return the conditions shown: those with XTC where there are any, as many as fit."""
    there = [name for name in view.others if view.compared(view.metric, name)]
    own = [name for name in there if view.conditions[name].sampler.xtc.rho > 0]
    return series(own or there)[:4]


def _gains(view: View, condition: str, by: str) -> dict[str, list[float]]:
    """Return what each prompt differs by, by its genre or openness."""
    pairs = paired(view.results.scores[view.metric], view.results.baseline, condition)
    gains: dict[str, list[float]] = {}
    for prompt, gain in zip(pairs.prompts, pairs.difference.tolist(), strict=True):
        own = view.results.prompts.get(prompt)
        label = str(getattr(own, by) or "") if own else ""
        if label or by == "genre":
            gains.setdefault(label or NONE, []).append(gain)
    return gains


def _labels(view: View, by: str) -> list[str]:
    """Return the genres or degrees of openness that have values, in the order of the suite."""
    there = {label for name in _conditions(view) for label in _gains(view, name, by)}
    order = dict.fromkeys(
        str(getattr(prompt, by) or "") for prompt in view.results.prompts.values()
    )
    return [label for label in order if label in there] + sorted(there - order.keys())


def _interval(gains: list[float]) -> Interval:
    """Return the mean with its interval, whose ends are NaN for fewer than `ENOUGH` prompts."""
    if len(gains) < ENOUGH:
        return Interval(fmean(gains), np.nan, np.nan, len(gains))
    return interval(np.array(gains), np.random.default_rng(DICE))


def _lack(view: View) -> str:
    if not _conditions(view):
        return "There is no condition yet to compare with the baseline on the same prompts."
    if len(_labels(view, "genre")) + len(_labels(view, "openness")) < 2:
        return "Its prompts are all of one genre."
    return ""


def _picture(view: View) -> go.Figure:
    figure, theme = go.Figure(), view.theme
    shown = _conditions(view)
    rows = {by: own for by in ("genre", "openness") if (own := _labels(view, by))}
    every = labels(shown)
    longest = max(map(len, rows.values()))
    top, high = over(every, view.width), max(80, (LINE * len(shown) + 8) * longest)
    grid = Grid(view.width, len(rows), high, columns=2, least=240, top=top)
    for i, (by, own) in enumerate(rows.items()):
        x, y = names(i)
        figure.add_scatter(
            x=[0, 0], y=[-0.5, len(own) - 0.5], mode="lines", xaxis=x, yaxis=y,
            line={"color": theme.ink, "width": 1}, hoverinfo="skip", showlegend=False,
        )  # fmt: skip
        for k, name in enumerate(shown):
            _add(figure, view, name, by, own, (i, k, len(shown), every[k]))
    titles = [f"{view.title(view.metric)}, by {by}" for by in rows]
    up = [row_axis(theme, labels(own, 18), named=True) for own in rows.values()]
    figure.update_layout(panels_layout(theme, grid, titles, [value_axis(theme) for _ in rows], up))
    for i, own in enumerate(rows.values()):
        # Rows are as high in either panel.
        low, up_to = grid.domain(i)[1]
        domain = [up_to - (up_to - low) * len(own) / longest, up_to]
        figure.update_layout({key(names(i)[1]): {"domain": domain}})
    if grid.wide == 2:
        # Names stand between the panels, so the second one begins farther right.
        figure.update_layout({key("x"): {"domain": [0, 0.5]}, key("x2"): {"domain": [0.64, 1]}})
    return figure


def _add(
    figure: go.Figure, view: View, name: str, by: str, own: list[str],
    place: tuple[int, int, int, str],
) -> None:  # fmt: skip
    i, k, count, label = place
    x, y = names(i)
    theme = view.theme
    ink, _, symbol = series_sign(k, theme)
    gains: Mapping[str, list[float]] = _gains(view, name, by)
    there = [(row, gains[text]) for row, text in enumerate(own) if text in gains]
    shift = (k - (count - 1) / 2) * min(0.22, 0.7 / count)
    means = [_interval(values) for _, values in there]
    figure.add_scatter(
        x=[gain for _, values in there for gain in values],
        y=[row + shift for row, values in there for _ in values],
        xaxis=x, yaxis=y, mode="markers", hoverinfo="skip", showlegend=False,
        marker={"symbol": symbol, "size": 4, "color": mixed(theme.paper, ink, 0.55)},
    )  # fmt: skip
    hollow = [not mean.excludes_zero for mean in means]
    figure.add_scatter(
        x=[mean.mean for mean in means], y=[row + shift for row, _ in there], xaxis=x, yaxis=y,
        mode="markers", name=label, legendgroup=str(k), showlegend=i == 0,
        marker={"symbol": symbol, "size": 9, "line": {"color": ink, "width": 2},
                "color": [theme.paper if empty else ink for empty in hollow]},
        error_x=whiskers(means, ink),
        hoverinfo="text",
        hovertext=[
            f"{cut(name, HOVER)}<br>{cut(own[row])}: {with_ends(mean, signed=True)}, "
            f"{prompts([mean.n])}" for (row, _), mean in zip(there, means, strict=True)
        ],
    )  # fmt: skip


def _words(view: View) -> str:
    sentences, counts = [], []
    metric = view.of(view.metric)
    for name in _conditions(view):
        gains = _gains(view, name, "genre")
        counts.append(sum(map(len, gains.values())))
        above = sum(fmean(values) > 0 for values in gains.values())
        words = f"{quoted(name)}: the mean difference is above zero in {above} of {len(gains)} "
        words += f"genre{'' if len(gains) == 1 else 's'}"
        means = {text: _interval(own) for text, own in _gains(view, name, "openness").items()}
        large = {f"{text} prompts": one for text, one in means.items() if one.n >= ENOUGH}
        sentences.append(f"{words}{f'; {claims(large)}' if large else ''}.")
    sizes = [
        len(values) for name in _conditions(view) for values in _gains(view, name, "genre").values()
    ]
    words = f"{metric.label} against {quoted(view.results.baseline)}, on {prompts(counts)}. "
    words += " ".join(sentences)
    if min(sizes) < ENOUGH:
        words += f" Counts of genres are no test; of one, with {prompts(sizes)}, nothing is said."
    return words


FIGURE = LabFigure(
    name="genre",
    label="Gain by genre and openness",
    place=130,
    meaning="What the metric differs by from the baseline: small signs are prompts, large ones "
    f"means; intervals from {ENOUGH} prompts on, filled where zero is left out.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=one_of(*MAIN),
)

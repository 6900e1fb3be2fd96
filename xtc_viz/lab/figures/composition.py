"""Each sampler alone, and with XTC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from xtc_viz.lab.figures.base import ANSWERS, TEXTS, LabFigure, all_of
from xtc_viz.lab.figures.factors import factorial, xtc_words
from xtc_viz.lab.figures.panels import names, rows_grid, rows_layout
from xtc_viz.lab.figures.signs import HOVER, add_key, colour, cut, labels, marker, whiskers
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import claims
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.wording import with_ends

ROW = 34  # pixels
APART = 0.16  # of a row, between a sampler alone and with XTC
Pair = tuple[str, str]
"""The names of two conditions: a sampler alone, and with XTC."""


def _rows(view: View) -> dict[Pair, str]:
    """Return the pairs that have values, with what each row is called."""
    pairs = factorial(view).pairs
    several = len({xtc for _, _, xtc in pairs}) > 1
    rows = {}
    for alone, both, xtc in pairs:
        if any(view.mean(m, alone) and view.mean(m, both) for m in view.metrics):
            short = labels([alone], 16 if several else 26)[0]
            rows[alone, both] = f"{short} · {xtc_words(xtc)}" if several else short
    return rows


def _lack(view: View) -> str:
    rows = _rows(view)
    if len({alone for alone, _ in rows}) < 2:
        return "It takes two samplers, at least, that are there alone and with XTC."
    if any(differences(view, metric, [*rows]) for metric in view.metrics):
        return ""
    return "No sampler has prompts in common alone and with XTC yet."


def _picture(view: View) -> go.Figure:
    figure, theme, rows = go.Figure(), view.theme, _rows(view)
    keys = ("alone", "with XTC", "filled: the interval of their difference leaves zero out")
    grid = rows_grid(view.width, len(view.metrics), ROW, [*rows.values()], keys)
    for i, metric in enumerate(view.metrics):
        for row, pair in enumerate(rows):
            _add(figure, view, metric, pair, row, names(i))
    add_key(figure, keys[0], marker("other", theme))
    add_key(figure, keys[1], marker("xtc", theme, hollow=True))
    add_key(figure, keys[2], marker("xtc", theme))
    titles = [view.title(metric) for metric in view.metrics]
    figure.update_layout(rows_layout(theme, grid, titles, list(rows.values())))
    return figure


def _add(
    figure: go.Figure, view: View, metric: str, pair: Pair, row: int, axes: tuple[str, str]
) -> None:
    alone, both = (view.mean(metric, name) for name in pair)
    if not alone or not both:
        return
    difference = view.difference(metric, *pair)
    on: dict[str, Any] = {"xaxis": axes[0], "yaxis": axes[1], "showlegend": False}
    figure.add_scatter(
        x=[alone.mean, both.mean], y=[row - APART, row + APART], mode="lines", hoverinfo="skip",
        line={"color": view.theme.tail, "width": 1}, **on,
    )  # fmt: skip
    for name, mean, place, kind in ((pair[0], alone, -1, "other"), (pair[1], both, 1, "xtc")):
        hollow = kind == "xtc" and not difference.excludes_zero
        words = [cut(name, HOVER), with_ends(mean)]
        if kind == "xtc":
            words.append(f"difference {with_ends(difference, signed=True)}")
        figure.add_scatter(
            x=[mean.mean], y=[row + place * APART], mode="markers",
            marker=marker(kind, view.theme, hollow=hollow),
            error_x=whiskers([mean], colour(kind, view.theme)),
            hoverinfo="text", hovertext="<br>".join(words), **on,
        )  # fmt: skip


def differences(view: View, metric: str, pairs: Sequence[Pair]) -> dict[str, Interval]:
    """Return what XTC adds to each sampler, by the name of the condition with it."""
    by_pair = {both: view.difference(metric, alone, both) for alone, both in pairs}
    return {name: one for name, one in by_pair.items() if one.n}


def _words(view: View) -> str:
    pairs, sentences, counts = [*_rows(view)], [], []
    for metric in view.metrics:
        if by_pair := differences(view, metric, pairs):
            counts += [one.n for one in by_pair.values()]
            own = view.of(metric)
            said = claims(by_pair, numbers=len(view.metrics) == 1)
            sentences.append(f"{own.label} ({own.direction}): {said}.")
    alone = quoted(pairs[0][0])
    return (
        f"Each against the same sampler without XTC, such as {alone}, on {prompts(counts)}. "
        f"{' '.join(sentences)}"
    )


FIGURE = LabFigure(
    name="composition",
    label="Samplers alone and with XTC",
    place=70,
    meaning="Each sampler's mean alone (above) and with XTC (below), with 95 % intervals; whether "
    "they differ is said by the difference, paired by prompt.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=all_of(*ANSWERS, *TEXTS[:4]),
)

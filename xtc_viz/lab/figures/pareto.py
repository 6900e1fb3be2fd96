"""Variety against its cost: which conditions no other outdoes in both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from xtc_viz.lab.figures.base import LabFigure
from xtc_viz.lab.figures.fitting import pixels
from xtc_viz.lab.figures.panels import (
    LEFT,
    RIGHT,
    Grid,
    names,
    over,
    panels_layout,
    value_axis,
)
from xtc_viz.lab.figures.placing import Point, beside
from xtc_viz.lab.figures.signs import (
    HOVER,
    colour,
    cut,
    key_of_kinds,
    kind,
    kinds_of,
    labels,
    marker,
    mixed,
    whiskers,
)
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import some, verdict
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.wording import with_ends

COST = "repeated_trigrams"
PLANES = (
    ("distinct_2", "passed"),
    ("distinct_2", COST),
    ("embedding_distance", COST),
    ("distinct_2", "self_bleu"),
)
"""Variety and cost of each plane; the first two that have values are drawn."""
LINE = 18  # pixels of a name in the list
NUMBER = 50  # pixels of what stands with a name there
MANY = 10
"""Conditions beyond which intervals are drawn faintly, so that points can be seen."""


def _planes(known: Sequence[str], chosen: str) -> tuple[str, ...]:
    """Return the metrics of the planes, variety and cost in turn."""
    planes: Sequence[tuple[str, str]] = PLANES
    if chosen:
        planes = (("distinct_2" if chosen == COST else chosen, COST),)
    there = [plane for plane in planes if {*plane} <= {*known}]
    return tuple(name for plane in there[:2] for name in plane)


def _pairs(view: View) -> list[tuple[str, str]]:
    return list(zip(view.metrics[::2], view.metrics[1::2], strict=True))


def _means(view: View, plane: tuple[str, str]) -> dict[str, tuple[Interval, Interval]]:
    """Return the means of variety and cost of the conditions that have both."""
    points = {}
    for name in view.conditions:
        variety, cost = (view.mean(metric, name) for metric in plane)
        if variety and cost:
            points[name] = variety, cost
    return points


def undominated(points: Mapping[str, Point]) -> list[str]:
    """Return the names that no other point is at least as good as in both and better in one; more
    is better in each."""

    def outdoes(one: Point, other: Point) -> bool:
        return one != other and all(a >= b for a, b in zip(one, other, strict=True))

    return [
        name
        for name, point in points.items()
        if not any(outdoes(other, point) for other in points.values())
    ]


def _front(view: View, plane: tuple[str, str]) -> list[str]:
    signs = [view.of(metric).direction.sign for metric in plane]
    points = {
        name: (signs[0] * variety.mean, signs[1] * cost.mean)
        for name, (variety, cost) in _means(view, plane).items()
    }
    return undominated(points)


def _lack(view: View) -> str:
    if not all(view.of(metric).direction.sign for metric in view.metrics):
        return "It takes metrics of which one direction is preferred."
    if any(len(_means(view, plane)) > 1 for plane in _pairs(view)):
        return ""
    return "It takes two conditions with values, at least."


def _picture(view: View) -> go.Figure:
    figure, theme = go.Figure(), view.theme
    planes = _pairs(view)
    shown = [name for name in view.conditions if any(name in _means(view, p) for p in planes)]
    numbers = {name: i for i, name in enumerate(shown, 1)}
    outdone = "outdone by no other mean"
    top = over([*kinds_of(view, shown), outdone], view.width)
    bottom = 72 + LINE * -(-len(shown) // _columns(view, shown))
    grid = Grid(view.width, len(planes), 330, least=260, top=top, bottom=bottom)
    signs: list[dict[str, Any]] = []
    for i, plane in enumerate(planes):
        _plane(figure, view, plane, names(i))
        signs += _numbers(view, plane, names(i), numbers)
    key_of_kinds(figure, view, shown)
    ring = marker("baseline", theme, hollow=True, size=13) | {"symbol": "circle-open"}
    figure.add_scatter(
        x=[None], y=[None], mode="lines+markers",
        line={"color": theme.ink, "width": 1, "dash": "dot"},
        marker=ring | {"color": theme.ink}, name=outdone, hoverinfo="skip",
    )  # fmt: skip
    titles = [view.title(variety) for variety, _ in planes]
    figure.update_layout(
        panels_layout(
            theme, grid, titles,
            [value_axis(theme, title=_axis_title(view, cost)) for _, cost in planes],
            [value_axis(theme, automargin=True, ticksuffix=" ") for _ in planes],
            annotations=signs + _list(view, shown),
        )
    )  # fmt: skip
    return figure


def _axis_title(view: View, metric: str) -> dict[str, Any]:
    own = view.of(metric)
    text = f"{own.label} {own.direction.arrow}"
    return {"text": text, "font": {"size": 12, "color": view.theme.ink_2}, "standoff": 8}


def _plane(figure: go.Figure, view: View, plane: tuple[str, str], axes: tuple[str, str]) -> None:
    theme, means, front = view.theme, _means(view, plane), _front(view, plane)
    on = {"xaxis": axes[0], "yaxis": axes[1]}
    order = sorted(front, key=lambda name: means[name][1].mean)
    figure.add_scatter(
        x=[means[name][1].mean for name in order], y=[means[name][0].mean for name in order],
        mode="lines+markers", line={"color": theme.ink, "width": 1, "dash": "dot"},
        marker={"symbol": "circle-open", "size": 20, "color": theme.ink, "line": {"width": 1.5}},
        hoverinfo="skip", showlegend=False, **on,
    )  # fmt: skip
    faint = 0.0 if len(means) <= MANY else 0.6
    for name, (variety, cost) in means.items():
        own = kind(view, name)
        ink = mixed(colour(own, theme), theme.paper, faint)
        figure.add_scatter(
            x=[cost.mean], y=[variety.mean], mode="markers", marker=marker(own, theme, size=10),
            error_x=whiskers([cost], ink), error_y=whiskers([variety], ink),
            showlegend=False, hoverinfo="text",
            hovertext=f"{cut(name, HOVER)}<br>{view.of(plane[0]).label} {with_ends(variety)}<br>"
            f"{view.of(plane[1]).label} {with_ends(cost)}", **on,
        )  # fmt: skip


def _numbers(
    view: View, plane: tuple[str, str], axes: tuple[str, str], numbers: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the numbers beside the points of a plane."""
    means, theme = _means(view, plane), view.theme
    points = {name: (cost.mean, variety.mean) for name, (variety, cost) in means.items()}
    spans = (_span([cost for _, cost in means.values()]), _span([v for v, _ in means.values()]))
    return [
        {
            "x": points[name][0], "y": points[name][1], "xref": axes[0], "yref": axes[1],
            "xshift": right, "yshift": up, "text": f"<b>{numbers[name]}</b>", "showarrow": False,
            "font": {"size": 12, "color": theme.ink}, "bgcolor": theme.paper, "borderpad": 0,
        }
        for name, (right, up) in beside(points, spans).items()
    ]  # fmt: skip


def _span(means: Sequence[Interval]) -> float:
    """Return how far an axis of these means reaches with their intervals."""
    known = [x for one in means for x in (one.mean, one.low, one.high) if math.isfinite(x)]
    return max(known, default=0.0) - min(known, default=0.0)


def _columns(view: View, shown: Sequence[str]) -> int:
    """Return how many columns of names fit into the figure."""
    each = max(map(pixels, labels(shown))) + NUMBER
    return max(1, min(3, (view.width - LEFT - RIGHT) // each))


def _list(view: View, shown: Sequence[str]) -> list[dict[str, Any]]:
    """Return the names of the numbers, in columns under the planes."""
    fronts = {name for plane in _pairs(view) for name in _front(view, plane)}
    columns = _columns(view, shown)
    lines = -(-len(shown) // columns)
    return [
        {
            "text": f"<b>{i + 1}</b> {label}{' ◎' if name in fronts else ''}",
            "xref": "paper", "yref": "paper", "x": i // lines / columns, "y": 0,
            "xanchor": "left", "yanchor": "top", "yshift": -56 - LINE * (i % lines),
            "showarrow": False, "font": {"size": 12, "color": view.theme.ink},
        }
        for i, (name, label) in enumerate(zip(shown, labels(shown), strict=True))
    ]  # fmt: skip


def _words(view: View) -> str:
    sentences, counts = [], []
    base = view.results.baseline
    for plane in _pairs(view):
        counts += [mean.n for pair in _means(view, plane).values() for mean in pair]
        signs = [view.of(metric).direction.sign for metric in plane]
        both, variety_only = [], []
        for name in view.others:
            comparisons = [view.compared(metric, name) for metric in plane]
            better = [
                verdict(one.difference) == ("more" if sign > 0 else "less")
                for one, sign in zip(comparisons, signs, strict=True)
                if one
            ]
            if better == [True, True]:
                both.append(quoted(name))
            elif better[:1] == [True] and comparisons[1] and comparisons[1].better < 0:
                variety_only.append(quoted(name))
        first, second = (view.of(metric).label for metric in plane)
        words = f"{first} and {second}: better than {quoted(base)} in both with {some(both)}"
        if not both:
            words = (
                f"{first} and {second}: nothing is shown to be better than {quoted(base)} in both"
            )
        if variety_only:
            words += f"; better in {first} and worse in {second} with {some(variety_only)}"
        front = [quoted(name) for name in _front(view, plane)]
        sentences.append(f"{words}. By means alone, no other outdoes {some(front)}.")
    return f"On {prompts(counts)}. {' '.join(sentences)}"


FIGURE = LabFigure(
    name="pareto",
    label="Variety and its cost",
    place=40,
    meaning="Each condition by its means, with 95 % intervals. ◎ and the dotted line: no other "
    "condition's mean is as good in both, whatever the intervals say.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=_planes,
)

"""All metrics of a condition at once: how far each lies from the baseline, outwards better."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from xtc_viz.figures.theme import layout
from xtc_viz.lab.figures.base import LabFigure
from xtc_viz.lab.figures.fitting import wrapped
from xtc_viz.lab.figures.panels import LEGEND, over
from xtc_viz.lab.figures.signs import MOST_SERIES, labels, series, series_sign
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import listed
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.statistics import paired
from xtc_viz.lab.wording import number

FEWEST = 3  # axes
FARTHEST = 3.0
"""Standard deviations at which an axis ends: beyond it nothing is drawn farther out."""


def _directed(known: Sequence[str], chosen: str) -> tuple[str, ...]:
    """Return all metrics of which one direction is preferred, whatever is chosen."""
    return tuple(name for name in known if METRICS[name].direction.sign)


def effect(view: View, metric: str, condition: str) -> float:
    """Return the mean difference in standard deviations of the prompts' differences, more is
    better; 0 where none differs, NaN where that is not defined."""
    pairs = paired(view.results.scores[metric], view.results.baseline, condition)
    x = pairs.difference
    if len(x) < 2:
        return math.nan
    mean, spread = view.of(metric).direction.sign * float(x.mean()), float(x.std(ddof=1))
    if spread <= 1e-12:
        return 0.0 if abs(mean) <= 1e-12 else math.copysign(FARTHEST, mean)
    return mean / spread


def _lack(view: View) -> str:
    if len(view.metrics) < FEWEST:
        return f"It takes {FEWEST} metrics of which one direction is preferred."
    if any(not math.isnan(effect(view, m, name)) for name in view.others for m in view.metrics):
        return ""
    return "No condition has two prompts in common with the baseline yet."


def _shown(view: View) -> list[str]:
    """Return the conditions that one plot can hold, those with XTC before the others."""
    there = view.with_differences
    with_xtc = [name for name in there if view.conditions[name].sampler.xtc.rho > 0]
    others = [name for name in there if name not in with_xtc]
    chosen = {*series(with_xtc), *others[: max(0, MOST_SERIES - len(with_xtc))]}
    return [name for name in there if name in chosen]


def _picture(view: View) -> go.Figure:
    figure, theme, shown = go.Figure(), view.theme, _shown(view)
    side = min(120, max(76, view.width // 5))
    axes = [wrapped(METRICS[metric].label.replace(" (", "<br>("), side) for metric in view.metrics]
    around = [*axes, axes[0]]
    figure.add_scatterpolar(
        r=[0.0] * len(around), theta=around, mode="lines", hoverinfo="skip",
        line={"color": theme.ink, "width": 2}, name="the baseline",
    )  # fmt: skip
    every = labels(shown)
    for k, name in enumerate(shown):
        ink, dash, symbol = series_sign(k, theme)
        raw = [effect(view, metric, name) for metric in view.metrics]
        values = [max(-FARTHEST, min(FARTHEST, x)) if not math.isnan(x) else None for x in raw]
        figure.add_scatterpolar(
            r=[*values, values[0]], theta=around, mode="lines+markers", name=every[k],
            line={"color": ink, "width": 2, "dash": dash},
            marker={"symbol": symbol, "size": 8, "color": ink}, connectgaps=False,
            hoverinfo="text",
            hovertext=[
                f"{every[k]}<br>{axis}: {number(x, True)} standard deviations"
                for axis, x in zip(around, [*raw, raw[0]], strict=True)
            ],
        )  # fmt: skip
    top = over(["the baseline", *every], view.width)
    across = view.width - 2 * side
    grey = {"gridcolor": theme.line, "linecolor": theme.line}
    figure.update_layout(
        layout(
            theme, min(440, across + 80) + top, legend=LEGEND,
            margin={"l": side, "r": side, "t": top, "b": 40},
            polar={
                "bgcolor": theme.paper,
                "radialaxis": grey | {
                    "range": [-FARTHEST, FARTHEST], "tickvals": [-2, 0, 2],
                    "ticktext": ["−2 sd", "0", "+2 sd"], "angle": 90, "tickangle": 90,
                    "tickfont": {"size": 11, "color": theme.ink_2},
                },
                "angularaxis": grey | {
                    "tickfont": {"size": 12, "color": theme.ink}, "rotation": 90,
                    "direction": "clockwise",
                },
            },
        )
    )  # fmt: skip
    return figure


def _words(view: View) -> str:
    sentences, counts = [], []
    for name in _shown(view):
        comparisons = [one for metric in view.metrics if (one := view.compared(metric, name))]
        counts += [one.difference.n for one in comparisons]
        counted = {
            words: sum(one.better == way for one in comparisons)
            for words, way in (("better in", 1), ("worse in", -1), ("not shown to differ in", 0))
        }
        parts = [f"{words} {n}" for words, n in counted.items() if n]
        sentences.append(f"{quoted(name)} is {listed(parts)} of {len(comparisons)} metrics")
    base, left = quoted(view.results.baseline), len(view.with_differences) - len(_shown(view))
    words = f"Against {base}, on {prompts(counts)}, by 95 % intervals: {'; '.join(sentences)}."
    return f"{words} {left} more conditions are not drawn." if left else words


FIGURE = LabFigure(
    name="radar",
    label="All metrics at once",
    place=140,
    meaning="How far each condition's mean lies from the baseline's (the ring at 0), in standard "
    "deviations of the prompts' differences: outwards is better. It draws no intervals.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=_directed,
)

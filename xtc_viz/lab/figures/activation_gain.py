"""Whether the prompts at which XTC fires more gain more: a point for each prompt."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go

from xtc_viz.lab.correlation import spearman
from xtc_viz.lab.figures.base import MAIN, LabFigure, one_of
from xtc_viz.lab.figures.panels import Grid, over, panels_layout, value_axis
from xtc_viz.lab.figures.signs import HOVER, cut, labels, series, series_sign
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import listed, verdict
from xtc_viz.lab.statistics import Interval, paired
from xtc_viz.lab.wording import with_ends


class Points(NamedTuple):
    """The prompts of a condition: how often XTC fired, and what the metric differs by."""

    prompts: list[str]
    activation: list[float]
    gain: list[float]

    @property
    def correlation(self) -> Interval:
        return spearman(self.activation, self.gain)


def points(view: View, condition: str) -> Points:
    """Return the prompts that both numbers are known of."""
    seen = view.observed(condition)
    pairs = paired(view.results.scores[view.metric], view.results.baseline, condition)
    known = Points([], [], [])
    for prompt, gain in zip(pairs.prompts, pairs.difference.tolist(), strict=True):
        own = seen.by_prompt.get(prompt) if seen else None
        share = own.values.get("activation") if own else None
        if share is not None:
            known.prompts.append(prompt)
            known.activation.append(share)
            known.gain.append(gain)
    return known


def _points(view: View) -> dict[str, Points]:
    own = {name: points(view, name) for name in view.with_xtc if name != view.results.baseline}
    return {name: one for name, one in own.items() if one.prompts}


def _lack(view: View) -> str:
    if view.without_steps:
        return view.without_steps
    return "" if _points(view) else "No condition with XTC has prompts in common with the baseline."


def _picture(view: View) -> go.Figure:
    figure, theme, every = go.Figure(), view.theme, _points(view)
    shown = series([*every])
    keys = []
    for k, (name, label) in enumerate(zip(shown, labels(shown), strict=True)):
        ink, _, symbol = series_sign(k, theme)
        own = every[name]
        keys.append(f"{label}: Spearman {with_ends(own.correlation, signed=True)}")
        figure.add_scatter(
            x=own.activation, y=own.gain, mode="markers", name=keys[-1],
            marker={"symbol": symbol, "size": 9, "color": ink, "opacity": 0.85,
                    "line": {"color": theme.paper, "width": 1}},
            cliponaxis=False, hoverinfo="text",
            hovertext=[
                f"{cut(name, HOVER)}<br>{cut(prompt)}: fired {x:.1%}, {y:+.3f}"
                for prompt, x, y in zip(*own, strict=True)
            ],
        )  # fmt: skip
    grid = Grid(view.width, 1, 340, top=over(keys, view.width), bottom=56)
    head = {"text": "Fired, share of the prompt's steps", "standoff": 8,
            "font": {"size": 12, "color": theme.ink_2}}  # fmt: skip
    values = panels_layout(
        theme, grid, [f"{view.title(view.metric)}, difference of each prompt"],
        [value_axis(theme, title=head, tickformat=".0%", rangemode="tozero")],
        [value_axis(theme, automargin=True) | {"zeroline": True, "zerolinecolor": theme.ink}],
        showlegend=True,
    )  # fmt: skip
    figure.update_layout(values)
    return figure


def _words(view: View) -> str:
    every = _points(view)
    metric = view.of(view.metric).label
    parts: dict[str, list[str]] = {}
    for name, own in every.items():
        r = own.correlation
        said = "few" if r.n < 2 or r.mean != r.mean else verdict(r)
        parts.setdefault(said, []).append(f"{quoted(name)} ({with_ends(r, signed=True)})")
    ways = {
        "more": "differs by more",
        "less": "differs by less",
        "open": "is not shown to differ by more or less",
        "same": "is not shown to differ by more or less",
    }
    sentences = [
        f"{metric} {ways[said]} on prompts at which XTC fires more with {listed(names[:4])}"
        f"{f' and {len(names) - 4} more' if len(names) > 4 else ''}."
        for said, names in parts.items()
        if said in ways
    ]
    if few := parts.get("few"):
        few = [name.rpartition(" (")[0] for name in few][:4]
        sentences.append(f"Too few prompts, or all alike, for {listed(few)}.")
    counts = prompts([len(own.prompts) for own in every.values()])
    return f"Spearman's rank correlation on {counts}. {' '.join(sentences)}"


FIGURE = LabFigure(
    name="activation_gain",
    label="Gain by activation",
    place=120,
    meaning="Each prompt: how often XTC fired, and what the metric differs by from the baseline.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=one_of(*MAIN),
)

"""What each engine leaves of one step: a strip of bars for the engines that leave the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.labels import escaped, percent
from xtc_viz.figures.step import KINDS, Kind
from xtc_viz.figures.theme import LIGHT, Theme, axis, bar, layout

BAND = 120  # pixels a strip
WIDE = 0.75  # of a column, a bar
PLOT = 0.68  # how much of a band is bars
ROOM = 1.25  # over the tallest bar: its value
GONE = 0.55  # the opacity of what is no longer there
REMOVED, CUT = "✕", "–"  # by XTC, and by another stage


@dataclass(frozen=True, slots=True)
class Strip:
    """One strip, in the order of its tokens: `probs` are what is left of each.

    `before` are what the engines received; where XTC removed a token, its bar is that.
    """

    name: str
    before: tuple[float, ...]
    probs: tuple[float, ...]
    kinds: tuple[Kind, ...]


def engines_figure(
    strips: Sequence[Strip], labels: Sequence[str], *, theme: Theme = LIGHT
) -> go.Figure:
    """Draw the strips one under the other, on one scale; `labels` are plotly's markup."""
    figure = go.Figure()
    count = max(1, len(strips))
    top = max((p for strip in strips for p in (*strip.before, *strip.probs)), default=1.0) or 1.0
    axes: dict[str, Any] = {}
    notes = []
    for k, strip in enumerate(strips):
        ceiling = 1 - k / count
        floor = ceiling - PLOT / count
        axes[f"yaxis{k + 1 if k else ''}"] = axis(
            theme, domain=[floor, ceiling], range=[0, ROOM * top], tickformat=".0%", nticks=3,
            automargin=True,
        )  # fmt: skip
        notes.append(_title(strip.name, ceiling, theme))
        for values in _bars(strip, labels):
            group = values["legendgroup"]
            shown = any(trace.legendgroup == group for trace in figure.data)
            figure.add_bar(
                **values, yaxis=f"y{k + 1 if k else ''}", marker=bar(group, theme),
                showlegend=not shown and group != "rest",
            )  # fmt: skip
    places = list(range(len(labels)))
    figure.update_layout(
        layout(
            theme,
            BAND * count + 130,
            barmode="overlay",
            xaxis=axis(
                theme, range=[-0.5, len(labels) - 0.5], tickvals=places, ticktext=list(labels),
                showgrid=False, zeroline=False, anchor="free", position=0, automargin=True,
            ),
            annotations=notes,
            **axes,
        )
    )  # fmt: skip
    return figure


def _bars(strip: Strip, labels: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the bars of each kind, those that XTC removed apart from the others."""
    each_one = zip(strip.before, strip.probs, strip.kinds, strict=True)
    gone = [kind == "removed" and q == 0 < p for p, q, kind in each_one]
    for kind, name in KINDS.items():
        for away in (False, True):
            own = [i for i, each in enumerate(strip.kinds) if each == kind and gone[i] == away]
            if not own:
                continue
            yield {
                "x": own,
                "width": WIDE,
                "y": [(strip.before if away else strip.probs)[i] for i in own],
                "opacity": GONE if away else 1.0,
                "name": name,
                "legendgroup": kind,
                "text": [REMOVED if away else _value(strip.probs[i]) for i in own],
                "textposition": "outside",
                "cliponaxis": False,
                "customdata": [
                    [labels[i], escaped(strip.name), strip.before[i], strip.probs[i]] for i in own
                ],
                "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<br>"
                "%{customdata[2]:.4%} → %{customdata[3]:.4%}<extra></extra>",
            }


def _value(p: float) -> str:
    return percent(p) if p > 0.0 else CUT


def _title(name: str, top: float, theme: Theme) -> dict[str, Any]:
    return {
        "text": f"<b>{escaped(name)}</b>", "xref": "paper", "yref": "paper", "x": 0, "y": top,
        "xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": {"color": theme.ink},
    }  # fmt: skip

"""A run by position: how much XTC removed, how many tokens were eligible, where words changed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.labels import escaped
from xtc_viz.figures.theme import LIGHT, Theme, axis, bar, layout
from xtc_viz.records.step import Step
from xtc_viz.records.trace import LaneTrace, Trace
from xtc_viz.sampling.rule import Outcome

BAND = 130  # pixels a lane
LANE, E_SHARE = 0.8, 0.26  # how much of a band is plot, and of the plot |E|


def parting(trace: Trace) -> int | None:
    """Return the first position at which two lanes hold different tokens, None if none does.

    Where one lane has ended, the others are not compared with it.
    """
    longest = max((len(lane.steps) for lane in trace.lanes), default=0)
    for i in range(longest):
        if len({lane.steps[i].token for lane in trace.lanes if i < len(lane.steps)}) > 1:
            return i
    return None


def timeline_figure(
    trace: Trace, *, imagined: Collection[int] = (), theme: Theme = LIGHT
) -> go.Figure:
    """Draw all lanes of a trace, one under the other; positions count from 1.

    The steps of the lanes in `imagined` are those of a what-if, which changed no word.
    """
    figure = go.Figure()
    count = max(1, len(trace.lanes))
    axes: dict[str, Any] = {}
    notes = []
    for k, lane in enumerate(trace.lanes):
        top, bottom = 1 - k / count, 1 - (k + LANE) / count
        floor = bottom + E_SHARE * (top - bottom)
        mass, size = f"y{2 * k + 1}" if k else "y", f"y{2 * k + 2}"
        axes |= {
            _long(mass): axis(
                theme, domain=[floor, top], range=[0, 1.15], tickvals=[0, 0.5, 1],
                tickformat=".0%", automargin=True,
            ),
            _long(size): axis(
                theme, domain=[bottom, floor], range=[_most(lane.steps) + 0.5, 0],
                showgrid=False, tickvals=[_most(lane.steps)], zeroline=False, automargin=True,
            ),
        }  # fmt: skip
        notes.append(_name(lane, top, theme))
        _draw(figure, lane, mass, size, theme, k in imagined)
    split = parting(trace)
    if split is not None:
        figure.add_scatter(
            x=[None], y=[None], mode="markers", name="‖ the lanes part", hoverinfo="skip",
            marker={"color": theme.paper, "size": 1},
        )  # fmt: skip
    longest = max((len(lane.steps) for lane in trace.lanes), default=0)
    figure.update_layout(
        layout(
            theme,
            BAND * count + 110,
            bargap=0.15,
            xaxis=axis(theme, range=[0.5, longest + 0.5], showgrid=False, anchor="free", position=0)
            | {"title": {"text": "position", "font": {"color": theme.ink_2, "size": 12}}},
            annotations=notes,
            shapes=[] if split is None else [_split_line(split, dx, theme) for dx in (-0.06, 0.06)],
            **axes,
        )
    )
    return figure


def _draw(
    figure: go.Figure, lane: LaneTrace, mass: str, size: str, theme: Theme, imagined: bool
) -> None:
    steps = lane.steps
    fired = _where(steps, Outcome.FIRED)
    figure.add_bar(
        x=[i + 1 for i in fired], y=[steps[i].removed_mass for i in fired], yaxis=mass,
        marker=bar("removed", theme), name="removed mass",
        hovertemplate="%{x}: %{y:.1%} removed<extra></extra>", **_legend(figure, "removed", fired),
    )  # fmt: skip
    eligible = [i for i, step in enumerate(steps) if step.eligible > 1]
    figure.add_bar(
        x=[i + 1 for i in eligible], y=[steps[i].eligible for i in eligible], yaxis=size,
        marker=bar("eligible", theme), name="|E|, eligible tokens",
        hovertemplate="%{x}: %{y} eligible<extra></extra>", **_legend(figure, "E", eligible),
    )  # fmt: skip
    changed = [i for i in fired if steps[i].changed and not imagined]
    signs: list[tuple[str, list[int], dict[str, Any]]] = [
        ("changed the word", changed, {"symbol": "diamond", "color": theme.changed}),
        (
            "skipped by the coin",
            _where(steps, Outcome.SKIPPED) if lane.settings.sampler.xtc.rho > 0 else [],
            {"symbol": "circle-open", "color": theme.skipped},
        ),
        (
            "protected",
            _where(steps, Outcome.PROTECTED),
            {"symbol": "triangle-down", "color": theme.protected},
        ),
    ]
    for name, where, marker in signs:
        figure.add_scatter(
            x=[i + 1 for i in where], y=[_height(steps[i]) for i in where], yaxis=mass,
            mode="markers", marker={"size": 7, **marker}, name=name, cliponaxis=False,
            hovertemplate=f"%{{x}}: {name}<extra></extra>", **_legend(figure, name, where),
        )  # fmt: skip


def _legend(figure: go.Figure, group: str, where: list[int]) -> dict[str, Any]:
    """Each meaning stands in the legend once, if it occurs."""
    named = any(trace.legendgroup == group and trace.showlegend for trace in figure.data)
    return {"legendgroup": group, "showlegend": bool(where) and not named}


def _where(steps: Sequence[Step], outcome: Outcome) -> list[int]:
    return [i for i, step in enumerate(steps) if step.outcome is outcome]


def _height(step: Step) -> float:
    """A mark stands over the bar, or at what could have been removed."""
    return step.removed_mass + 0.08 if step.fired else step.removable_mass


def _most(steps: Sequence[Step]) -> int:
    return max((step.eligible for step in steps), default=1) or 1


def _long(short: str) -> str:
    return "yaxis" + short.removeprefix("y")


def _name(lane: LaneTrace, top: float, theme: Theme) -> dict[str, Any]:
    return {
        "text": f"<b>{escaped(lane.settings.name)}</b>", "xref": "paper", "yref": "paper",
        "x": 0, "y": top, "xanchor": "left", "yanchor": "bottom", "showarrow": False,
        "font": {"color": theme.ink},
    }  # fmt: skip


def _split_line(split: int, dx: float, theme: Theme) -> dict[str, Any]:
    # In pixels around the position, so that the two lines stay two at any length.
    return {
        "type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1,
        "xsizemode": "pixel", "xanchor": split + 0.5, "x0": 25 * dx, "x1": 25 * dx,
        "line": {"color": theme.ink_2, "width": 1},
    }  # fmt: skip

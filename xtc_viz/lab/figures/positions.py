"""What XTC did at each position of the texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from xtc_viz.figures.labels import percent
from xtc_viz.lab.figures.base import LabFigure
from xtc_viz.lab.figures.panels import Grid, names, over, panels_layout, value_axis
from xtc_viz.lab.figures.signs import MOST_SERIES, labels, mixed, series, series_sign
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import listed
from xtc_viz.lab.mechanism import QUANTITIES, Mechanism
from xtc_viz.lab.results import Observed

SHOWN = ("activation", "top_changed", "removed_mass", "eligible")
FEWEST = 0.5
"""Of the texts that begin, so many must still be there: the mean of a few says little."""
SIGNS = 6  # markers on a line
Floats = npt.NDArray[np.float64]


def smoothed(values: Floats, width: int) -> Floats:
    """Return the means of `width` values around each, fewer at both ends; NaNs are left out."""
    known = ~np.isnan(values)
    ones = np.ones(width)
    sums = np.convolve(np.where(known, values, 0.0), ones, "same")
    counts = np.convolve(known.astype(float), ones, "same")
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _column(rows: Sequence[Mechanism], quantity: str) -> Floats:
    enough = [row for row in rows if row.steps >= FEWEST * rows[0].steps]
    values = [row.values.get(quantity) for row in enough]
    return np.array([np.nan if value is None else value for value in values])


def _width(view: View) -> int:
    """Return over how many positions lines are smoothed: an eighth, an odd number."""
    seen = [one.by_position for name in view.with_xtc if (one := view.observed(name))]
    return max(map(len, seen), default=0) // 8 // 2 * 2 + 1


def _lack(view: View) -> str:
    return view.without_steps


def _picture(view: View) -> go.Figure:
    figure, theme = go.Figure(), view.theme
    shown, width = series(view.with_xtc), _width(view)
    every = labels(shown)
    quantities = [one for name in SHOWN for one in QUANTITIES if one.name == name]
    top = over(every, view.width)
    grid = Grid(view.width, len(quantities), 190, top=top, bottom=56)
    for k, name in enumerate(shown):
        ink, dash, symbol = series_sign(k, theme)
        seen = view.observed(name)
        assert seen is not None
        for i, quantity in enumerate(quantities):
            x, y = names(i)
            raw = _column(seen.by_position, quantity.name)
            line = smoothed(raw, width)
            at = np.arange(1, len(raw) + 1)
            if len(shown) <= 3:
                figure.add_scatter(
                    x=at, y=raw, mode="lines", xaxis=x, yaxis=y, hoverinfo="skip",
                    line={"color": mixed(theme.paper, ink, 0.3), "width": 1}, showlegend=False,
                )  # fmt: skip
            sizes = np.zeros(len(raw))
            every_other = max(1, len(raw) // SIGNS)
            sizes[(k * every_other // len(shown)) :: every_other] = 8
            figure.add_scatter(
                x=at, y=line, mode="lines+markers", xaxis=x, yaxis=y, name=every[k],
                legendgroup=str(k), showlegend=i == 0, hoverinfo="x+y+name",
                line={"color": ink, "width": 2, "dash": dash},
                marker={"symbol": symbol, "size": sizes, "color": ink, "opacity": 1,
                        "line": {"width": 0}},
            )  # fmt: skip
    titles = [f"<b>{q.label}</b>{f', {q.unit}' if q.unit else ''}" for q in quantities]
    down = {"text": "position", "font": {"size": 12, "color": theme.ink_2}, "standoff": 4}
    across = [
        value_axis(theme, title=down if i + grid.wide >= len(quantities) else None)
        for i in range(len(quantities))
    ]
    up = [
        value_axis(theme, automargin=True, rangemode="tozero", tickformat=None if q.unit else ".0%")
        for q in quantities
    ]
    figure.update_layout(panels_layout(theme, grid, titles, across, up))
    return figure


def _words(view: View) -> str:
    seen = {name: one for name in view.with_xtc if (one := view.observed(name))}
    counts = [len(one.by_prompt) for one in seen.values()]
    steps = sum(one.whole.steps for one in seen.values())
    shares = {name: one.whole.values.get("activation") or 0.0 for name, one in seen.items()}
    if len(shares) > 4:
        ends = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
        parts = [f"{percent(shares[name])} with {quoted(name)}" for name in ends]
        fired = f"from {parts[0]} to {parts[1]}"
    else:
        fired = listed([f"at {_fired(name, seen[name], shares[name])}" for name in seen])
    words = f"On {prompts(counts)} and {steps:,} steps, XTC fired {fired}."
    if len(seen) > MOST_SERIES:
        words += f" Lines are those of {MOST_SERIES} of {len(seen)} conditions."
    width = _width(view)
    over_ = f" Lines are means over {width} positions" if width > 1 else " Lines are means"
    return f"{words}{over_}, as far as half of the texts reach; they describe and test nothing."


def _fired(name: str, seen: Observed, share: float) -> str:
    mass = seen.whole.values.get("removed_mass_fired")
    removed = f" (removing {percent(mass)} there)" if mass is not None else ""
    return f"{percent(share)} with {quoted(name)}{removed}"


FIGURE = LabFigure(
    name="positions",
    label="What XTC did, by position",
    place=110,
    meaning="How often XTC fired, removed the top token, how much it removed, and how many tokens "
    "cleared τ, from the first position of a text to the last.",
    lack=_lack,
    picture=_picture,
    words=_words,
)

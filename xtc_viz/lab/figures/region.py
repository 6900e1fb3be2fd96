"""The operating region: where in ρ × τ variety rises while the cost is not shown to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.labels import setting
from xtc_viz.figures.theme import Theme
from xtc_viz.lab.figures.base import LabFigure
from xtc_viz.lab.figures.factors import Cell, surface
from xtc_viz.lab.figures.fitting import wrapped
from xtc_viz.lab.figures.heat import STRONGEST, cell_axis
from xtc_viz.lab.figures.panels import Grid, over, panels_layout
from xtc_viz.lab.figures.signs import HOVER, add_key, cut, mixed
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import listed, some, verdict
from xtc_viz.lab.wording import number, with_ends

VARIETY = "distinct_2"
COSTS = ("passed", "repeated_trigrams", "self_repetition")
"""What must not get worse: the first of these that has values, and is not the variety itself."""
ROW = 62  # pixels
STATES = {
    "in": ("✓", "variety rises, the cost is not shown to rise"),
    "paid": ("!", "variety rises, and so does the cost"),
    "open": ("○", "variety is not shown to rise"),
    "few": ("?", "too few prompts"),
}


def _metrics(known: Sequence[str], chosen: str) -> tuple[str, ...]:
    variety = chosen or VARIETY
    costs = [name for name in COSTS if name in known and name != variety]
    return (variety, costs[0]) if variety in known and costs else ()


def states(view: View) -> dict[Cell, str]:
    """Return which of `STATES` each pair of ρ and τ is in."""
    variety, cost = view.metrics
    by_cell = {}
    for cell, name in surface(view).cells.items():
        gain, price = view.compared(variety, name), view.compared(cost, name)
        if gain is None or price is None:
            continue
        if "few" in (verdict(gain.difference), verdict(price.difference)):
            by_cell[cell] = "few"
        elif gain.better <= 0:
            by_cell[cell] = "open"
        else:
            by_cell[cell] = "paid" if price.better < 0 else "in"
    return by_cell


def _lack(view: View) -> str:
    if not all(view.of(metric).direction.sign for metric in view.metrics):
        return "It takes metrics of which one direction is preferred."
    if len(surface(view).cells) < 2:
        return "It takes conditions that differ in ρ and τ alone, two at least."
    return "" if states(view) else "No pair of ρ and τ can be compared with the baseline yet."


def _colour(state: str, theme: Theme) -> str:
    own = {"in": theme.kept, "paid": theme.protected, "open": theme.tail, "few": theme.paper}[state]
    return mixed(theme.paper, own, STRONGEST if state != "open" else 0.3)


def _picture(view: View) -> go.Figure:
    figure, theme, own = go.Figure(), view.theme, surface(view)
    by_cell = states(view)
    order = [*STATES]
    wide, high = len(own.rhos), len(own.taus)
    there = {*by_cell.values()}
    keys = [f"{sign} {words}" for state, (sign, words) in STATES.items() if state in there]
    grid = Grid(view.width, 1, ROW * high, top=over(keys, view.width), bottom=56)
    across = grid.panel / wide
    steps = [[i / 4, (i + 1) / 4] for i in range(4)]
    scale = [[end, _colour(s, theme)] for s, ends in zip(order, steps, strict=True) for end in ends]
    places = [[by_cell.get((i, j)) for i in range(wide)] for j in range(high)]
    figure.add_heatmap(
        x=list(range(wide)), y=list(range(high)),
        z=[[order.index(state) if state else None for state in row] for row in places],
        zmin=-0.5, zmax=3.5, colorscale=scale, showscale=False, xgap=2, ygap=2, hoverinfo="text",
        text=[
            [_hover(view, own.cells[i, j]) if state else "" for i, state in enumerate(row)]
            for j, row in enumerate(places)
        ],
        hoverongaps=False,
    )  # fmt: skip
    figure.add_scatter(
        x=[i for i, _ in by_cell], y=[j for _, j in by_cell], mode="text", hoverinfo="skip",
        text=[
            wrapped(_text(view, own.cells[cell], state), across) for cell, state in by_cell.items()
        ],
        textfont={"color": theme.ink, "size": 12 if across > 45 else 11}, showlegend=False,
    )  # fmt: skip
    for state, (sign, words) in STATES.items():
        if state in there:
            line = {"color": theme.ink_2, "width": 1}
            swatch: dict[str, Any] = {"symbol": "square", "size": 13, "line": line}
            add_key(figure, f"{sign} {words}", swatch | {"color": _colour(state, theme)})
    variety, cost = (view.of(metric).label for metric in view.metrics)
    figure.update_layout(
        panels_layout(
            theme, grid, [f"<b>{variety}</b> (above) and <b>{cost}</b> (below), differences"],
            [cell_axis(theme, [setting(rho) for rho in own.rhos], "ρ")],
            [cell_axis(theme, [setting(tau) for tau in own.taus], "τ")],
        )
    )  # fmt: skip
    return figure


def _text(view: View, condition: str, state: str) -> str:
    numbers = []
    for metric in view.metrics:
        one = view.compared(metric, condition)
        numbers.append(number(one.difference.mean, True) if one else "–")
    return f"<b>{STATES[state][0]}</b> {numbers[0]}<br>{numbers[1]}"


def _hover(view: View, condition: str) -> str:
    lines = [cut(condition, HOVER)]
    for metric in view.metrics:
        if one := view.compared(metric, condition):
            lines.append(f"{view.of(metric).label} {with_ends(one.difference, signed=True)}")
    return "<br>".join(lines)


def _words(view: View) -> str:
    own, by_cell = surface(view), states(view)
    variety, cost = (view.of(metric).label for metric in view.metrics)
    counts = [
        one.difference.n
        for cell in by_cell
        for metric in view.metrics
        if (one := view.compared(metric, own.cells[cell]))
    ]
    named: Mapping[str, list[str]] = {
        state: [
            f"ρ {own.rhos[i]:g}, τ {own.taus[j]:g}" for (i, j), own_state in by_cell.items()
            if own_state == state
        ]
        for state in STATES
    }  # fmt: skip
    begin = f"Against {quoted(view.results.baseline)}, on {prompts(counts)}: "
    total = f"{len(by_cell)} pairs of ρ and τ"
    if not named["in"] and not named["paid"]:
        return f"{begin}in none of {total} is {variety} shown to be better."
    parts = []
    if named["in"]:
        at = _at(named["in"])
        parts.append(f"{variety} is better and {cost} is not shown to be worse at {at}")
    if named["paid"]:
        parts.append(f"both {variety} is better and {cost} worse at {_at(named['paid'])}")
    return f"{begin}of {total}, {listed(parts)}. Not shown to be worse is not shown to be equal."


def _at(pairs: Sequence[str]) -> str:
    return some([f"({pair})" for pair in pairs], "of them")


FIGURE = LabFigure(
    name="region",
    label="Operating region",
    place=60,
    meaning="Where variety is shown to rise and the cost is not, by the 95 % intervals of both; "
    "the cost is repetition, or wrong answers where a suite checks them.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=_metrics,
)

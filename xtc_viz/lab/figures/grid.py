"""ρ × τ: what each pair does to a metric, and how often XTC fires with it."""

from __future__ import annotations

import plotly.graph_objects as go

from xtc_viz.figures.labels import percent, setting
from xtc_viz.lab.comparison import Comparison
from xtc_viz.lab.figures.base import MAIN, LabFigure, one_of
from xtc_viz.lab.figures.factors import Cell, Surface, surface
from xtc_viz.lab.figures.fitting import line_count, wrapped
from xtc_viz.lab.figures.heat import CELL, OPEN, SHOWN, HeatCell, add_cells, cell_axis, shades
from xtc_viz.lab.figures.panels import TICKS, Grid, names, panels_layout
from xtc_viz.lab.figures.signs import HOVER, cut
from xtc_viz.lab.figures.view import View, prompts, quoted
from xtc_viz.lab.figures.words import claims
from xtc_viz.lab.wording import number, says, with_ends

NUMBER = 60  # pixels across of a cell with a number and a sign


def _lack(view: View) -> str:
    own = surface(view)
    if len(own.rhos) < 2 or len(own.taus) < 2:
        return "It takes conditions that differ in ρ and τ alone, two of each at least."
    if not any(view.compared(view.metric, name) for name in own.cells.values()):
        return "No pair of ρ and τ can be compared with the baseline yet."
    return ""


def _differences(view: View, own: Surface) -> dict[Cell, HeatCell]:
    compared = {
        cell: one for cell, name in own.cells.items() if (one := view.compared(view.metric, name))
    }
    sign = view.of(view.metric).direction.sign or 1
    shade = shades({cell: sign * one.difference.mean for cell, one in compared.items()})
    return {cell: _cell(one, shade[cell]) for cell, one in compared.items()}


def _cell(one: Comparison, shade: float) -> HeatCell:
    difference = one.difference
    sign = SHOWN if difference.excludes_zero else OPEN
    lines = (cut(one.condition, HOVER), with_ends(difference, signed=True), says(one))
    return HeatCell(shade, f"{number(difference.mean, True)} {sign}", "<br>".join(lines))


def fired(view: View, own: Surface) -> dict[Cell, float]:
    """Return how often XTC fired in each cell, where that was read."""
    shares = {}
    for cell, name in own.cells.items():
        seen = view.observed(name)
        share = seen.whole.values.get("activation") if seen else None
        if share is not None:
            shares[cell] = share
    return shares


def _picture(view: View) -> go.Figure:
    figure, theme, own = go.Figure(), view.theme, surface(view)
    size = (len(own.rhos), len(own.taus))
    differences = _differences(view, own)
    activation = fired(view, own)
    tables = [differences]
    titles = [f"{view.title(view.metric)}, difference"]
    if activation:
        shade = shades(activation)
        tables.append(
            {
                cell: HeatCell(shade[cell], percent(share), cut(own.cells[cell], HOVER))
                for cell, share in activation.items()
            }
        )
        titles.append("<b>Fired</b>, share of steps")
    directed = view.of(view.metric).direction.sign
    ends = ("better", "worse") if directed else ("more", "less")
    key = f"blue: {ends[0]}, orange: {ends[1]}; {SHOWN} the interval leaves zero out, {OPEN} not"
    key = wrapped(key, view.width - TICKS)
    grid = Grid(
        view.width, len(tables), CELL * size[1], least=NUMBER * size[0],
        top=60 + 16 * line_count(key), bottom=56,
    )  # fmt: skip
    for i, cells in enumerate(tables):
        add_cells(figure, cells, size, names(i), theme, across=grid.panel / size[0], plain=i > 0)
    taus = [setting(tau) for tau in own.taus]
    up = cell_axis(theme, taus, "τ"), cell_axis(theme, [""] * len(taus))
    values = panels_layout(
        theme, grid, titles,
        [cell_axis(theme, [setting(rho) for rho in own.rhos], "ρ") for _ in tables],
        [up[not grid.first_of_row(i)] for i in range(len(tables))],
        annotations=[
            {"text": key, "xref": "paper", "yref": "paper", "x": 0, "y": 1, "xanchor": "left",
             "yanchor": "bottom", "yshift": 38, "showarrow": False, "align": "left",
             "font": {"size": 12, "color": theme.ink_2}},
        ],
    )  # fmt: skip
    figure.update_layout(values)
    return figure


def _words(view: View) -> str:
    own = surface(view)
    comparisons = [one for name in own.cells.values() if (one := view.compared(view.metric, name))]
    metric = view.of(view.metric)
    differences = {one.condition: one.difference for one in comparisons}
    words = (
        f"{metric.label} ({metric.direction}) against {quoted(view.results.baseline)}, on "
        f"{prompts([one.n for one in differences.values()])}: "
        f"{claims(differences, what='pairs of ρ and τ')}."
    )
    activation = fired(view, own)
    if activation:
        low, high = (
            min(activation, key=activation.__getitem__),
            max(activation, key=activation.__getitem__),
        )
        words += (
            f" XTC fired at {percent(activation[low])} ({_pair(own, low)}) to "
            f"{percent(activation[high])} ({_pair(own, high)}) of the steps."
        )
    return words


def _pair(own: Surface, cell: Cell) -> str:
    return f"ρ {own.rhos[cell[0]]:g}, τ {own.taus[cell[1]]:g}"


FIGURE = LabFigure(
    name="grid",
    label="ρ × τ",
    place=50,
    meaning="What each pair of ρ and τ differs by from the baseline, and how often XTC fires.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=one_of(*MAIN),
)

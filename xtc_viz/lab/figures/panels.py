"""Several small plots in one figure: a panel each, in rows of as many as the width holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.theme import Theme, axis, layout
from xtc_viz.lab.figures.fitting import line_count, pixels, wrapped

TOP, BOTTOM = 84, 40  # pixels over and under all panels
HEAD, FOOT = 34, 34  # over a panel its title, under it its numbers
GAP = 0.05
"""Between two columns, of the width."""
LEFT, RIGHT = 16, 20  # pixels beside all panels
LEAST = 160
"""Pixels across that a panel needs for its title and its numbers."""
TICKS = 44  # pixels of the numbers at an axis
SIGN = 50  # pixels of a sign in a legend, with what is around it
LINE = 20  # and of one of its lines
SMALL = 17  # and of a line of a label
BOLD = 0.9  # letters of a title in a panel, for one that is not bold
NAMES = 0.4
"""Of the width, which the names of rows may take."""

LEGEND = {
    "orientation": "h", "xref": "container", "x": 0.01, "xanchor": "left",
    "yref": "container", "y": 1, "yanchor": "top", "itemsizing": "constant",
}  # fmt: skip
"""Along the top, from the left edge."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the panels stand in a figure of `width` pixels.

    There are `count`, each `inner` pixels high and at least `least` across, in up to `columns`;
    `margin` are the pixels that the first one's labels take, `top` and `bottom` those over and
    under all panels.
    """

    width: int
    count: int
    inner: int
    columns: int = 3
    margin: int = TICKS
    least: int = LEAST
    top: int = TOP
    bottom: int = BOTTOM

    @property
    def room(self) -> int:
        """Pixels for all panels of a row."""
        return self.width - LEFT - RIGHT - self.margin

    @property
    def wide(self) -> int:
        """Columns that are used; four panels stand two by two."""
        most = min(self.count, 2 if self.count == 4 else self.columns)
        return max(1, min(most, self.room // self.least))

    @property
    def panel(self) -> float:
        """Pixels that a panel is wide, about."""
        return self.room * (1 - GAP * (self.wide - 1)) / self.wide

    @property
    def rows(self) -> int:
        return -(-self.count // self.wide)

    @property
    def _plot(self) -> int:
        return self.rows * self.inner + (self.rows - 1) * (HEAD + FOOT)

    @property
    def height(self) -> int:
        return self.top + self.bottom + self._plot

    def domain(self, i: int) -> tuple[list[float], list[float]]:
        """Return the ranges of panel i across and up, within [0, 1]."""
        row, column = divmod(i, self.wide)
        width = (1 - GAP * (self.wide - 1)) / self.wide
        left = column * (width + GAP)
        top = 1 - row * (self.inner + HEAD + FOOT) / self._plot
        bottom = max(0.0, top - self.inner / self._plot)
        return [left, min(1.0, left + width)], [bottom, top]

    def first_of_row(self, i: int) -> bool:
        return i % self.wide == 0


def names(i: int) -> tuple[str, str]:
    """Return what plotly calls the axes of panel i: `x`, `y`, then `x2`, `y2`."""
    number = "" if i == 0 else str(i + 1)
    return f"x{number}", f"y{number}"


def key(name: str) -> str:
    """Return the place of an axis in a layout: `xaxis2` for `x2`."""
    return f"{name[0]}axis{name[1:]}"


def title(text: str, i: int, theme: Theme) -> dict[str, Any]:
    """Return the head of panel i."""
    x, y = names(i)
    return {
        "text": text, "xref": f"{x} domain", "yref": f"{y} domain", "x": 0, "y": 1,
        "xanchor": "left", "yanchor": "bottom", "yshift": 6, "showarrow": False,
        "align": "left", "font": {"size": 13, "color": theme.ink},
    }  # fmt: skip


def value_axis(theme: Theme, **values: Any) -> dict[str, Any]:
    return axis(theme, nticks=5, zeroline=False, tickangle=0, **values)


def row_axis(theme: Theme, labels: Sequence[str], *, named: bool) -> dict[str, Any]:
    """Return an axis of rows, the first on top; `named` says whether their labels are shown."""
    rows = list(range(len(labels)))
    return axis(
        theme,
        range=[len(labels) - 0.5, -0.5],
        tickvals=rows,
        ticktext=list(labels) if named else [""] * len(labels),
        tickfont={"color": theme.ink, "size": 12},
        automargin=True,
        showgrid=False,
        zeroline=False,
    )


def _key(words: str, width: int) -> str:
    """Return the words of a legend as a figure of this width shows them."""
    return wrapped(words, width - SIGN - RIGHT)


def fit_legend(figure: go.Figure, width: int) -> None:
    """Break the words of the legend where they are longer than a figure of this width."""
    for trace in figure.data:
        if trace.name:
            trace.name = _key(trace.name, width)


def over(keys: Sequence[str], width: int, margin: int = 0) -> int:
    """Return the pixels over all panels that a legend of these words takes in a figure of `width`
    pixels, `margin` of which are left of the panels: plotly sets it in columns where it fits no
    line."""
    shown = [_key(words, width) for words in keys]
    room = width - RIGHT - margin
    widths = [SIGN + max(map(pixels, words.split("<br>"))) for words in shown]
    columns = len(keys) if sum(widths) <= room else max(1, room // max(widths))
    rows = [shown[i : i + columns] for i in range(0, len(shown), max(1, columns))]
    return TOP - LINE + LINE * max(1, sum(max(map(line_count, row)) for row in rows))


def rows_grid(width: int, count: int, row: int, labels: Sequence[str], keys: Sequence[str]) -> Grid:
    """Return where panels stand that share rows of `row` pixels with these labels, in a figure of
    `width` pixels."""
    shown = _row_labels(labels, width)
    margin = max((pixels(line) for label in shown for line in label.split("<br>")), default=0)
    row = max(row, SMALL * max(map(line_count, shown), default=1))
    top = over(keys, width, margin)
    return Grid(width, count, max(70, row * len(labels)), margin=margin, top=top)


def _row_labels(labels: Sequence[str], width: int) -> list[str]:
    return [wrapped(label, NAMES * width) for label in labels]


def panels_layout(
    theme: Theme,
    grid: Grid,
    titles: Sequence[str],
    across: Sequence[dict[str, Any]],
    up: Sequence[dict[str, Any]],
    **values: Any,
) -> dict[str, Any]:
    """Return the layout of panels with these axes, one a panel; `values` are added."""
    axes: dict[str, Any] = {}
    for i in range(grid.count):
        x, y = names(i)
        wide, high = grid.domain(i)
        axes[key(x)] = across[i] | {"domain": wide, "anchor": y}
        axes[key(y)] = up[i] | {"domain": high, "anchor": x}
    room = BOLD * grid.panel
    heads = [title(wrapped(text, room), i, theme) for i, text in enumerate(titles)]
    heads += values.pop("annotations", [])
    margin = {"l": LEFT, "r": RIGHT, "t": grid.top, "b": grid.bottom}
    own = {"annotations": heads, "margin": margin, "legend": LEGEND}
    return layout(theme, grid.height, **(axes | own | values))


def rows_layout(
    theme: Theme, grid: Grid, titles: Sequence[str], labels: Sequence[str], **values: Any
) -> dict[str, Any]:
    """Return the layout of panels that share their rows; `values` are added."""
    across = [value_axis(theme)] * grid.count
    shown = _row_labels(labels, grid.width)
    up = [row_axis(theme, shown, named=grid.first_of_row(i)) for i in range(grid.count)]
    return panels_layout(theme, grid, titles, across, up, **values)

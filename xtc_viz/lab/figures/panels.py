"""Several small plots in one figure: a panel each, in rows of up to three, conditions as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xtc_viz.figures.theme import Theme, axis, layout

TOP, BOTTOM = 84, 40  # pixels over and under all panels
HEAD, FOOT = 34, 34  # over a panel its title, under it its numbers
GAP = 0.05
"""Between two columns, of the width."""

LEGEND = {
    "orientation": "h", "xref": "container", "x": 0.01, "xanchor": "left",
    "yref": "container", "y": 1, "yanchor": "top", "itemsizing": "constant",
}  # fmt: skip
"""Along the top, from the left edge."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Where the panels stand: `count` of them, `columns` in a row, each `inner` pixels high, `top`
    and `bottom` pixels over and under all of them."""

    count: int
    inner: int
    columns: int = 3
    top: int = TOP
    bottom: int = BOTTOM

    @property
    def wide(self) -> int:
        """Columns that are used; four panels stand two by two."""
        return min(self.count, 2 if self.count == 4 else self.columns)

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


def over(keys: Sequence[str], margin: int = 0) -> int:
    """Return the pixels over all panels that a legend of these words takes at 640 pixels, `margin`
    of which are left of the panels: plotly sets it in columns where it fits no line."""
    room, widths = 620 - margin, [50 + 7 * len(words) for words in keys]
    columns = len(keys) if sum(widths) <= room else max(1, room // max(widths))
    return TOP - 20 + 20 * max(1, -(-len(keys) // max(1, columns)))


def rows_grid(count: int, row: int, labels: Sequence[str], keys: Sequence[str]) -> Grid:
    """Return where panels stand that share rows of `row` pixels with these labels."""
    margin = 7 * max(map(len, labels), default=0)
    columns = 2 if margin > 120 else 3
    return Grid(count, max(70, row * len(labels)), columns, over(keys, margin))


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
    heads = [title(text, i, theme) for i, text in enumerate(titles)]
    heads += values.pop("annotations", [])
    margin = {"l": 16, "r": 20, "t": grid.top, "b": grid.bottom}
    own = {"annotations": heads, "margin": margin, "legend": LEGEND}
    return layout(theme, grid.height, **(axes | own | values))


def rows_layout(
    theme: Theme, grid: Grid, titles: Sequence[str], labels: Sequence[str], **values: Any
) -> dict[str, Any]:
    """Return the layout of panels that share their rows; `values` are added."""
    across = [value_axis(theme)] * grid.count
    up = [row_axis(theme, labels, named=grid.first_of_row(i)) for i in range(grid.count)]
    return panels_layout(theme, grid, titles, across, up, **values)

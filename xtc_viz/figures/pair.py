"""The same place in two lanes: for each token a wide bar for p and a thin one within it for q."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.labels import escaped, percent, setting, token
from xtc_viz.figures.step import DRAWN, INSTEAD, KINDS, ROW, Row, column_head, key_of_signs, rows
from xtc_viz.figures.theme import LIGHT, Theme, axis, bar, layout, token_axis
from xtc_viz.records.step import Step
from xtc_viz.settings import SamplerSettings

WIDE, THIN = 0.68, 0.2  # of a row
BELOW_KEY = 96  # pixels under the legend
SPACE = "\u2002"  # between a bar and its words


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two lanes: its name, its step, the settings that it was written with."""

    name: str
    step: Step
    sampler: SamplerSettings


Pair = tuple[Row | None, Row | None]
"""A token in both lanes, None where a lane has no record of it."""


def pair_rows(sides: Sequence[Side], candidates: int = 25, own: int = 0) -> list[Pair]:
    """Return the tokens that matter in either lane, in falling order of p in lane `own` (0 or 1)
    and then in the other; last everything else. p and q of a lane both add up to 1.

    Shown are the `candidates` most probable of the two together, and whatever is eligible or drawn.
    """
    whole = [rows(side.step, side.sampler, len(side.step.ids))[:-1] for side in sides]
    tables = [{row.token: row for row in lane} for lane in whole]
    best: dict[int | None, float] = {}
    for row in (*whole[0], *whole[1]):
        best[row.token] = max(best.get(row.token, 0.0), row.p)
    wanted = set(sorted(best, key=lambda v: -best[v])[:candidates])
    for side, lane in zip(sides, whole, strict=True):
        wanted.update(row.token for row in lane[: side.step.eligible])
        wanted.update(row.token for row in lane if row.drawn or row.instead)

    def order(v: int | None) -> tuple[float, float]:
        p = [table[v].p if v in table else -1.0 for table in tables]
        return -p[own], -p[1 - own]

    first, second = tables
    pairs: list[Pair] = [(first.get(v), second.get(v)) for v in sorted(wanted, key=order)]
    return [*pairs, (_rest(pairs, 0), _rest(pairs, 1))]


def _rest(pairs: Sequence[Pair], k: int) -> Row:
    shown = [pair[k] for pair in pairs]
    p = 1.0 - sum(row.p for row in shown if row)
    q = 1.0 - sum(row.q for row in shown if row)
    return Row(None, max(0.0, p), max(0.0, q), "rest")


def pair_figure(
    sides: Sequence[Side],
    texts: Mapping[int, str],
    *,
    candidates: int = 25,
    own: int = 0,
    theme: Theme = LIGHT,
) -> go.Figure:
    """Draw two lanes beside one another on one scale, in the order of lane `own` (0 or 1); `texts`
    are those of `Trace.vocabulary`."""
    pairs = pair_rows(sides, candidates, own)
    labels = [_label(pair, texts) for pair in pairs]
    figure = go.Figure()
    for kind, name in KINDS.items():
        drawn = False
        for k, x in enumerate(("x", "x2")):
            these = [i for i, pair in enumerate(pairs) if (row := pair[k]) and row.kind == kind]
            if not these:
                continue
            figure.add_bar(
                x=[_cell(pairs[i], k).p for i in these], y=these, width=WIDE, orientation="h",
                xaxis=x, marker=bar(kind, theme), name=name, legendgroup=kind,
                showlegend=not drawn, hoverinfo="skip",
            )  # fmt: skip
            drawn = True
    for k, x in enumerate(("x", "x2")):
        _after(figure, pairs, k, x, labels, theme)
        tau = sides[k].sampler.xtc.tau
        figure.add_scatter(
            x=[tau] * 2, y=[-0.5, len(pairs) - 1.5], mode="lines", xaxis=x, hoverinfo="skip",
            line={"color": theme.ink, "width": 1, "dash": "dot"}, showlegend=False,
        )  # fmt: skip
    key_of_signs(figure, (row for pair in pairs for row in pair if row), theme)
    figure.update_layout(_layout(sides, labels, theme))
    return figure


def _cell(pair: Pair, k: int) -> Row:
    row = pair[k]
    assert row is not None
    return row


def _after(
    figure: go.Figure, pairs: Sequence[Pair], k: int, x: str, labels: Sequence[str], theme: Theme
) -> None:
    """Draw the thin bars of q in lane k, and behind the longer of both bars their words."""
    own = [i for i, pair in enumerate(pairs) if pair[k]]
    cells = [_cell(pairs[i], k) for i in own]
    figure.add_bar(
        x=[row.q for row in cells], y=own, width=THIN, orientation="h", xaxis=x,
        marker={"color": theme.ink}, name="thin: after XTC", legendgroup="after",
        showlegend=k == 0,
        customdata=[[labels[i], row.p, row.q] for i, row in zip(own, cells, strict=True)],
        hovertemplate="%{customdata[0]}<br>p = %{customdata[1]:.4%}, "
        "q = %{customdata[2]:.4%}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=[max(row.p, row.q) if (row := pair[k]) else 0.0 for pair in pairs],
        y=list(range(len(pairs))), xaxis=x, mode="text", text=[words(pair[k]) for pair in pairs],
        textposition="middle right", textfont={"color": theme.ink_2, "size": 12},
        cliponaxis=False, hoverinfo="skip", showlegend=False,
    )  # fmt: skip


def words(row: Row | None) -> str:
    """Return what stands behind the bars of a token: signs, p and q, in plotly's markup."""
    if row is None:
        return f"{SPACE}–"
    sign = SPACE + (f"{DRAWN} " if row.drawn else f"{INSTEAD} " if row.instead else "")
    p, q = percent(row.p), percent(row.q)
    if row.kind == "removed":
        return f"{sign}<s>{p}</s> removed"
    return sign + (p if p == q else f"{p.removesuffix('%').rstrip()} → {q}")


def _label(pair: Pair, texts: Mapping[int, str]) -> str:
    row = pair[0] or pair[1]
    assert row is not None
    if row.token is None:
        return KINDS["rest"]
    text = token(texts.get(row.token, f"<{row.token}>"))
    return f"<b>{text}</b>" if any(cell and cell.drawn for cell in pair) else text


def _layout(sides: Sequence[Side], labels: Sequence[str], theme: Theme) -> dict[str, Any]:
    scale: dict[str, Any] = {"range": [0, 1.3], "tickvals": [0, 0.5, 1], "tickformat": ".0%"}
    heads = [
        f"<b>{escaped(side.name)}</b> τ {setting(side.sampler.xtc.tau)}"
        + ("" if side.sampler.xtc.rho else ", XTC off")
        for side in sides
    ]
    return layout(
        theme,
        ROW * len(labels) + 40 + BELOW_KEY,
        barmode="overlay",
        xaxis=axis(theme, domain=[0, 0.48], **scale),
        xaxis2=axis(theme, domain=[0.52, 1], anchor="y", **scale),
        yaxis=token_axis(theme, labels),
        annotations=[column_head(heads[0], "x", theme), column_head(heads[1], "x2", theme)],
    )

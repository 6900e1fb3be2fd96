"""One step: p before XTC and q after it, on one absolute scale, with all that happened marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log10
from typing import Any, Literal

import plotly.graph_objects as go

from xtc_viz.figures.labels import percent, setting, token
from xtc_viz.figures.theme import LIGHT, Theme, axis, bar, layout, token_axis
from xtc_viz.records.step import Step
from xtc_viz.sampling.rule import Outcome
from xtc_viz.sampling.stageview import final_probs
from xtc_viz.settings import SamplerSettings

Kind = Literal["removed", "kept", "eligible", "protected", "tail", "rest"]
KINDS: dict[Kind, str] = {
    "eligible": "eligible",
    "removed": "removed",
    "kept": "kept",
    "protected": "protected",
    "tail": "below τ",
    "rest": "everything else",
}
DRAWN, INSTEAD, SHIELD = "▲", "△", "⛨"
SMALLEST = 1e-4  # the left end of the logarithmic scale
ROW = 24  # pixels


@dataclass(frozen=True, slots=True)
class Row:
    """One bar: a token, or everything else (`token` None), with p before and q after XTC."""

    token: int | None
    p: float
    q: float
    kind: Kind
    drawn: bool = False
    instead: bool = False


def rows(step: Step, sampler: SamplerSettings, candidates: int = 25) -> list[Row]:
    """Return the bars in falling order of p, everything else last; p and q both add up to 1.

    Shown are the `candidates` most probable tokens, all that is eligible, the drawn token and the
    one that would have been drawn.
    """
    rows = []
    shown = max(candidates, step.eligible)
    after = final_probs(step, sampler)
    for i, (v, p, q) in enumerate(zip(step.ids, step.probs, after, strict=True)):
        if i < shown or v in (step.token, step.counterfactual):
            instead = v == step.counterfactual != step.token
            rows.append(Row(v, p, q, _kind(step, sampler, i), v == step.token, instead))
    p, q = (max(0.0, 1.0 - sum(values)) for values in zip(*((r.p, r.q) for r in rows), strict=True))
    return [*rows, Row(None, p, q, "rest")]


def _kind(step: Step, sampler: SamplerSettings, i: int) -> Kind:
    token = step.ids[i]
    if token in step.removed:
        return "removed"
    if i >= step.eligible:
        return "tail"
    if step.fired:
        return "kept"
    guarded = step.outcome is Outcome.PROTECTED and token in sampler.xtc.protected
    return "protected" if guarded else "eligible"


def step_figure(
    step: Step,
    sampler: SamplerSettings,
    texts: Mapping[int, str],
    *,
    candidates: int = 25,
    log: bool = False,
    theme: Theme = LIGHT,
) -> go.Figure:
    """Draw a step. `texts` are those of `Trace.vocabulary`; `log` makes both scales logarithmic."""
    bars = rows(step, sampler, candidates)
    labels = [label(row, texts) for row in bars]
    figure = go.Figure()
    for kind, name in KINDS.items():
        own = [i for i, row in enumerate(bars) if row.kind == kind]
        if own:
            for side in ("p", "q"):
                values = _bars(bars, own, side, labels, log)
                figure.add_bar(**values, name=name, marker=bar(kind, theme))
    figure.add_scatter(
        x=[sampler.xtc.tau] * 2,
        y=[-0.5, len(bars) - 1.5],
        mode="lines",
        line={"color": theme.ink, "width": 1, "dash": "dot"},
        name=f"τ {setting(sampler.xtc.tau)}",
        hoverinfo="skip",
    )
    key_of_signs(figure, bars, theme)
    scale: dict[str, Any] = {"range": [0, 1.12], "tickformat": ".0%", "tickvals": [0, 0.5, 1]}
    if log:
        ticks = [1e-3, 1e-2, 0.1, 1]
        scale |= {"type": "log", "range": [log10(SMALLEST), 0.35], "tickvals": ticks}
        scale |= {"ticktext": [percent(tick) for tick in ticks]}
    figure.update_layout(
        layout(
            theme,
            ROW * len(bars) + 120,
            barmode="overlay",
            xaxis=axis(theme, domain=[0, 0.48], side="bottom", **scale),
            xaxis2=axis(theme, domain=[0.52, 1], side="bottom", anchor="y", **scale),
            yaxis=token_axis(theme, labels),
            annotations=[
                column_head("before XTC", "x", theme),
                column_head("after XTC", "x2", theme),
            ],
        )
    )
    return figure


def key_of_signs(figure: go.Figure, bars: Iterable[Row], theme: Theme) -> None:
    """Add the words of ▲ and △ to the legend; the signs themselves stand beside the labels."""
    shown = list(bars)
    for sign, name, is_on in (
        (DRAWN, "drawn", any(row.drawn for row in shown)),
        (INSTEAD, "would have been drawn", any(row.instead for row in shown)),
    ):
        if is_on:
            figure.add_scatter(
                x=[None], y=[None], mode="markers", name=f"{sign} {name}", hoverinfo="skip",
                marker={"color": theme.paper, "size": 1},
            )  # fmt: skip


def label(row: Row, texts: Mapping[int, str]) -> str:
    """Return a bar's label in plotly's markup: signs, struck out when removed, bold when drawn."""
    if row.token is None:
        return KINDS["rest"]
    text = token(texts.get(row.token, f"<{row.token}>"))
    if row.kind == "removed":
        text = f"<s>{text}</s>"
    if row.kind == "protected":
        text = f"{SHIELD} {text}"
    if row.drawn:
        return f"{DRAWN} <b>{text}</b>"
    return f"{INSTEAD} {text}" if row.instead else text


def _bars(
    bars: list[Row], own: list[int], side: str, labels: list[str], log: bool
) -> dict[str, Any]:
    values = [getattr(bars[i], side) for i in own]
    gone = [side == "q" and bars[i].kind == "removed" for i in own]
    return {
        "x": [max(v, SMALLEST) for v in values] if log else values,
        "y": own,
        "orientation": "h",
        "xaxis": "x" if side == "p" else "x2",
        "text": ["removed" if g else percent(v) for v, g in zip(values, gone, strict=True)],
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [[labels[i], v] for i, v in zip(own, values, strict=True)],
        "hovertemplate": f"%{{customdata[0]}}<br>{side} = %{{customdata[1]:.4%}}<extra></extra>",
        "legendgroup": bars[own[0]].kind,
        "showlegend": side == "p",
    }


def column_head(text: str, x: str, theme: Theme) -> dict[str, Any]:
    """Return a note over a column, in plotly's markup."""
    return {
        "text": text,
        "xref": f"{x} domain",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "align": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": theme.ink_2, "size": 12},
    }

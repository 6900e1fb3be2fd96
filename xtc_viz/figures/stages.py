"""One step stage by stage: the same candidates behind every stop of the stack, with its cutoff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from xtc_viz.figures.labels import percent, setting, token
from xtc_viz.figures.step import DRAWN, KINDS, ROW, Kind, column_head
from xtc_viz.figures.theme import LIGHT, Theme, axis, bar, layout, token_axis
from xtc_viz.records.step import Step
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.stages import STAGES
from xtc_viz.sampling.stageview import view
from xtc_viz.settings import XTC, SamplerSettings

NAMES = {"raw": "model", XTC: "XTC"} | {stage.name: stage.label for stage in STAGES}
GAP = 0.04  # between two columns, of the figure's width
CHARACTERS = 84  # over all columns together, in a figure of a usual width


@dataclass(frozen=True, slots=True)
class Column:
    """One stage: the probability behind it of each shown token, last of everything else.

    `line` is the cutoff of the stage that follows, drawn over what that received, and `cut` its
    words; None and "" without.
    """

    name: str
    probs: tuple[float, ...]
    kinds: tuple[Kind, ...]
    line: float | None
    cut: str


def columns(
    step: Step, sampler: SamplerSettings, context: Sequence[int], candidates: int = 10
) -> tuple[list[int], list[Column]]:
    """Return the shown tokens, the model's favourites first, and what each stage made of them.

    `context` are the token ids before the step, the prompt's included.
    """
    seen = view(step, sampler, context)
    order = sorted(range(len(seen.ids)), key=lambda i: -seen.stages[0].probs[i])
    shown = order[: max(candidates, step.eligible)]
    marked = {i for i, v in enumerate(seen.ids) if v in (step.token, step.counterfactual)}
    keep = [*shown, *sorted(marked - set(shown))]
    plan = plan_of(sampler)
    received = next(i for i, stage in enumerate(seen.stages) if XTC in stage.stages) - 1
    result = []
    for k, stage in enumerate(seen.stages):
        probs = [stage.probs[i] for i in keep]
        after = seen.stages[k + 1].stages if k + 1 < len(seen.stages) else ()
        line = plan.cutoff(after[0], max(stage.probs)) if after else None
        kinds = tuple(_kind(step, seen.ids[i], k >= received) for i in keep)
        rest = max(0.0, 1.0 - sum(probs))
        cut = "" if line is None else f"{'τ' if XTC in after else 'cut'} {setting(line)}"
        result.append(Column(_name(stage.stages), (*probs, rest), (*kinds, "rest"), line, cut))
    return [seen.ids[i] for i in keep], result


def _kind(step: Step, token: int, decided: bool) -> Kind:
    """What XTC made of a token; before XTC received it all are alike."""
    if not decided or token not in step.ids[: step.eligible]:
        return "tail"
    if token in step.removed:
        return "removed"
    return "kept" if step.fired else "eligible"


def _name(stages: Sequence[str]) -> str:
    return " + ".join(NAMES[stage] for stage in stages or ("raw",))


def stages_figure(
    step: Step,
    sampler: SamplerSettings,
    context: Sequence[int],
    texts: Mapping[int, str],
    *,
    candidates: int = 10,
    theme: Theme = LIGHT,
) -> go.Figure:
    """Draw the stages side by side on one scale; `texts` are those of `Trace.vocabulary`."""
    ids, stops = columns(step, sampler, context, candidates)
    labels = [*(_label(v, step, texts) for v in ids), KINDS["rest"]]
    figure = go.Figure()
    axes: dict[str, Any] = {}
    wide = (1 + GAP) / len(stops)
    for k, stop in enumerate(stops):
        x = f"x{k + 1}" if k else "x"
        axes[f"xaxis{k + 1}" if k else "xaxis"] = axis(
            theme, domain=[k * wide, (k + 1) * wide - GAP], range=[0, 1.45], anchor="y",
            tickvals=[0, 0.5, 1], ticktext=["0", "", "100 %"],
        )  # fmt: skip
        before = stops[k - 1].probs if k else None
        for values in _bars(stop, before, labels):
            shown = any(trace.legendgroup == values["legendgroup"] for trace in figure.data)
            figure.add_bar(
                **values,
                xaxis=x,
                marker=bar(values["legendgroup"], theme),
                showlegend=not shown and values["legendgroup"] != "rest",
            )
        if stop.line is not None:
            figure.add_scatter(
                x=[stop.line] * 2, y=[-0.5, len(ids) - 0.5], mode="lines", xaxis=x,
                line={"color": theme.ink, "width": 1, "dash": "dot"}, showlegend=False,
                hovertemplate=f"{stop.cut}<extra></extra>",
            )  # fmt: skip
    figure.update_layout(
        layout(
            theme,
            ROW * len(labels) + 130,
            barmode="overlay",
            yaxis=token_axis(theme, labels),
            annotations=[
                column_head(_head(stop, CHARACTERS // len(stops)), f"x{k + 1}" if k else "x", theme)
                for k, stop in enumerate(stops)
            ],
            **axes,
        )
    )
    return figure


def _head(stop: Column, most: int) -> str:
    """Return what stands over a column: a name of at most so many characters, and the cutoff."""
    name = stop.name if len(stop.name) <= most else f"{stop.name[: most - 1]}…"
    return f"{name}<br>{stop.cut}" if stop.cut else name


def _label(v: int, step: Step, texts: Mapping[int, str]) -> str:
    text = token(texts.get(v, f"<{v}>"))
    return f"{DRAWN} <b>{text}</b>" if v == step.token else text


def _bars(
    stop: Column, before: Sequence[float] | None, labels: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for kind, name in KINDS.items():
        own = [i for i, each in enumerate(stop.kinds) if each == kind]
        if not own:
            continue
        gone = [before is not None and before[i] > 0 and stop.probs[i] == 0 for i in own]
        texts = [percent(stop.probs[i]) if stop.probs[i] else "" for i in own]
        yield {
            "x": [stop.probs[i] for i in own],
            "y": own,
            "orientation": "h",
            "name": name,
            "legendgroup": kind,
            "text": ["✕" if g else text for g, text in zip(gone, texts, strict=True)],
            "textposition": "outside",
            "cliponaxis": False,
            "customdata": [[labels[i], stop.name] for i in own],
            "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}: %{x:.4%}<extra></extra>",
        }

"""The strategies of XTC: which of the eligible tokens it keeps."""

from __future__ import annotations

import plotly.graph_objects as go

from xtc_viz.lab.figures.base import ANSWERS, TEXTS, LabFigure, all_of
from xtc_viz.lab.figures.factors import strategies
from xtc_viz.lab.figures.forest import forest
from xtc_viz.lab.figures.view import View, prompts
from xtc_viz.lab.figures.words import against_baseline, claims
from xtc_viz.settings import Strategy


def _shown(view: View) -> dict[Strategy, str]:
    return {
        strategy: name
        for strategy, name in strategies(view).items()
        if any(view.compared(metric, name) for metric in view.metrics)
    }


def _lack(view: View) -> str:
    if len(strategies(view)) < 2:
        return "It takes conditions that differ in their strategy alone, two at least."
    return "" if _shown(view) else "No strategy can be compared with the baseline yet."


def _label(strategy: Strategy) -> str:
    return str(strategy).replace("_", " ")


def _picture(view: View) -> go.Figure:
    own = _shown(view)
    return forest(view, [*own.values()], [_label(strategy) for strategy in own])


def _words(view: View) -> str:
    own = strategies(view)
    words = against_baseline(view, [*own.values()])
    published = own.pop(Strategy.KEEP_LEAST, "")
    sentences, counts = [], []
    for metric in view.metrics:
        differences = {}
        for strategy, name in own.items():
            if published and (one := view.difference(metric, published, name)).n:
                differences[_label(strategy)] = one
        if differences:
            counts += [one.n for one in differences.values()]
            said = claims(differences, numbers=len(view.metrics) == 1)
            sentences.append(f"{view.of(metric).label}: {said}.")
    if sentences:
        words += f" Against keep least, on {prompts(counts)}. {' '.join(sentences)}"
    return words


FIGURE = LabFigure(
    name="ablation",
    label="Strategies",
    place=100,
    meaning="What XTC does where it keeps another of the eligible tokens: the least probable one "
    "(the published rule), the second, a random one, or all but the first. Filled where the "
    "interval leaves zero out.",
    lack=_lack,
    picture=_picture,
    words=_words,
    metrics=all_of(*ANSWERS, *TEXTS[:4]),
)

"""Engines on a step, as data."""

from __future__ import annotations

from typing import Any

import pytest

from xtc_viz.figures.engines import GONE, Strip, engines_figure

BEFORE = (0.5, 0.3, 0.2, 0.0)
PAPER = Strip("the paper", BEFORE, (0.0, 0.6, 0.4, 0.0), ("removed", "kept", "tail", "rest"))
OTHER = Strip("a <b>", BEFORE, BEFORE, ("eligible", "eligible", "tail", "rest"))


def bars(figure: Any, y: str) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.yaxis == y}


def test_two_strips_by_hand() -> None:
    figure = engines_figure([PAPER, OTHER], ["town", "house", "castle", "others"])
    first, second = bars(figure, "y"), bars(figure, "y2")
    removed = first["removed"]
    assert (removed.y, removed.text, removed.opacity) == ((0.5,), ("✕",), GONE)
    assert removed.marker.pattern.shape == "/"
    assert (first["kept"].x, first["kept"].y, first["kept"].text) == (
        (1,),
        (0.6,),
        ("60\N{NO-BREAK SPACE}%",),
    )
    assert second["eligible"].y == (0.5, 0.3)
    assert list(figure.layout.xaxis.ticktext) == ["town", "house", "castle", "others"]
    assert [note.text for note in figure.layout.annotations] == [
        "<b>the paper</b>",
        "<b>a &lt;b&gt;</b>",
    ]


def test_what_another_stage_cut_off_has_no_bar() -> None:
    strip = Strip("mlx-lm", BEFORE, (1.0, 0.0, 0.0, 0.0), ("tail", "tail", "tail", "rest"))
    tail = bars(engines_figure([strip], ["a", "b", "c", "others"]), "y")["below τ"]
    assert (tail.y, tail.text, tail.opacity) == (
        (1.0, 0.0, 0.0),
        ("100\N{NO-BREAK SPACE}%", "–", "–"),
        1.0,
    )


def test_strips_stand_on_one_scale_and_each_meaning_is_named_once() -> None:
    figure = engines_figure([PAPER, OTHER, PAPER], ["a", "b", "c", "others"])
    axes = [figure.layout[f"yaxis{n}"] for n in ("", 2, 3)]
    assert len({axis.range for axis in axes}) == 1
    assert axes[0].range[1] > 0.6
    tops = [axis.domain[1] for axis in axes]
    assert tops == pytest.approx([1.0, 2 / 3, 1 / 3])
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert sorted(named) == ["below τ", "eligible", "kept", "removed"]

"""A run by position, as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.ui.factories import BOY, decode, make_step, sampler
from xtc_viz.figures.timeline import parting, timeline_figure
from xtc_viz.records.step import Step
from xtc_viz.records.trace import LaneTrace, Trace
from xtc_viz.settings import LaneSettings


def trace_of(*lanes: list[Step]) -> Trace:
    whole, _ = decode(length=1)
    lane = LaneSettings("XTC <b>", sampler())
    return replace(whole, lanes=tuple(LaneTrace(lane, tuple(steps)) for steps in lanes))


def named(figure: Any, name: str) -> list[Any]:
    return [trace for trace in figure.data if trace.name == name]


def test_each_meaning_by_hand() -> None:
    fired, skipped = make_step(sampler()), make_step(sampler(), coin=0.9)
    same = make_step(sampler(), token=13, counterfactual=13)
    guarded = make_step(sampler(protected=(BOY,)))
    alone = make_step(sampler(), probs=(0.9, 0.04))
    figure = timeline_figure(trace_of([alone, fired, skipped, guarded, same]))
    (removed,) = named(figure, "removed mass")
    assert list(removed.x) == [2, 5]
    assert list(removed.y) == pytest.approx([0.74, 0.74])
    assert removed.marker.pattern.shape == "/"
    (eligible,) = named(figure, "|E|, eligible tokens")
    assert list(eligible.x) == [2, 3, 4, 5]
    assert list(eligible.y) == [3, 3, 3, 3]
    assert list(named(figure, "changed the word")[0].x) == [2]
    (coin,) = named(figure, "skipped by the coin")
    assert list(coin.x) == [3]
    assert list(coin.y) == pytest.approx([0.74])
    assert coin.marker.symbol == "circle-open"
    assert list(named(figure, "protected")[0].x) == [4]
    assert figure.layout.annotations[0].text == "<b>XTC &lt;b&gt;</b>"


def test_where_lanes_part() -> None:
    fired, skipped = make_step(sampler()), make_step(sampler(), coin=0.9)
    together = trace_of([skipped, skipped], [skipped])
    assert parting(together) is None, "a lane that has ended is not compared"
    assert timeline_figure(together).layout.shapes == ()
    apart = trace_of([skipped, skipped, skipped], [skipped, fired])
    assert parting(apart) == 1
    figure = timeline_figure(apart)
    assert [line.xanchor for line in figure.layout.shapes] == [1.5, 1.5]
    assert figure.data[-1].name == "‖ the lanes part"
    assert parting(trace_of()) is None


def test_every_lane_has_a_band_of_its_own_and_the_legend_says_each_word_once() -> None:
    lanes = tuple(LaneSettings(f"lane {i}", sampler(rho=1.0)) for i in range(4))
    trace, _ = decode(lanes=lanes, length=50, shared_randomness=False)
    figure = timeline_figure(trace)
    spans = [figure.layout[f"yaxis{n}"].domain for n in ("", *map(str, range(2, 9)))]
    borders = [end for span in spans for end in reversed(span)]
    assert borders == sorted(borders, reverse=True), "bands do not overlap"
    assert (borders[0], borders[-1] >= 0) == (1, True)
    told = [trace.name for trace in figure.data if trace.showlegend]
    assert len(told) == len(set(told))
    assert "removed mass" in told
    assert len(named(figure, "removed mass")) == 4


def test_an_empty_run_is_an_empty_figure() -> None:
    figure = timeline_figure(trace_of([], []))
    assert not any(trace.showlegend for trace in figure.data)
    assert all(len(trace.x) == 0 for trace in figure.data)


def test_a_lane_without_xtc_is_not_said_to_have_been_skipped() -> None:
    trace, _ = decode(length=30)
    figure = timeline_figure(trace)
    baseline, xtc = named(figure, "skipped by the coin")
    assert len(baseline.x) == 0
    assert len(xtc.x) > 0

"""A step's bars as data: a worked example, and that they always add up."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.factories import BEAR, BOY, DOG, GIRL, MAN, TEXTS, decode, make_step, sampler
from xtc_viz.figures.step import Row, label, rows, step_figure
from xtc_viz.figures.theme import DARK, LIGHT
from xtc_viz.records.step import Step
from xtc_viz.sampling.rule import Outcome
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings, in_order


def bars(figure: Any) -> dict[str, dict[int, float]]:
    """What is drawn: for each kind and side, position → length."""
    return {
        f"{bar.name}, {'after' if bar.xaxis == 'x2' else 'before'}": dict(
            zip(bar.y, bar.x, strict=True)
        )
        for bar in figure.data
        if bar.type == "bar"
    }


def test_a_firing_by_hand() -> None:
    # E = girl .41, boy .33, man .12; removed .74, so q = p / .26 for the others.
    step = make_step(sampler())
    found = rows(step, sampler())
    assert [(row.token, row.kind) for row in found] == [
        (GIRL, "removed"),
        (BOY, "removed"),
        (MAN, "kept"),
        (BEAR, "tail"),
        (DOG, "tail"),
        (None, "rest"),
    ]
    assert [row.p for row in found] == pytest.approx([0.41, 0.33, 0.12, 0.06, 0.04, 0.04])
    after = [0, 0, 0.12 / 0.26, 0.06 / 0.26, 0.04 / 0.26, 0.04 / 0.26]
    assert [row.q for row in found] == pytest.approx(after)
    assert [row.drawn for row in found] == [False, False, True, False, False, False]
    assert [row.instead for row in found] == [True, False, False, False, False, False]
    assert label(found[0], TEXTS) == "△ <s>·girl</s>"
    assert label(found[1], TEXTS) == "<s>·boy</s>"
    assert label(found[2], TEXTS) == "▲ <b>·man</b>"
    assert label(found[5], TEXTS) == "everything else"


def test_the_figure_of_that_firing() -> None:
    figure = step_figure(make_step(sampler()), sampler(), TEXTS)
    drawn = bars(figure)
    assert drawn["removed, before"] == pytest.approx({0: 0.41, 1: 0.33})
    assert drawn["removed, after"] == pytest.approx({0: 0.0, 1: 0.0})
    assert drawn["kept, after"] == pytest.approx({2: 0.12 / 0.26})
    assert drawn["everything else, before"] == pytest.approx({5: 0.04})
    (tau,) = [line for line in figure.data if line.type == "scatter" and line.mode == "lines"]
    assert list(tau.x) == [0.1, 0.1]
    assert tau.name == "τ 0.10"
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range
    names = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert names == [
        *("removed", "kept", "below τ", "everything else"),
        *("τ 0.10", "▲ drawn", "△ would have been drawn"),
    ]
    (removed,) = [b for b in figure.data if b.name == "removed" and b.xaxis == "x"]
    assert removed.marker.pattern.shape == "/"
    assert removed.text == ("41\u00a0%", "33\u00a0%")
    (gone,) = [b for b in figure.data if b.name == "removed" and b.xaxis == "x2"]
    assert gone.text == ("removed", "removed")


def test_an_unambiguous_step_has_no_second_mark() -> None:
    step = make_step(sampler(), probs=(0.9, 0.05, 0.03))
    found = rows(step, sampler())
    assert [row.kind for row in found] == ["eligible", "tail", "tail", "rest"]
    assert not any(row.instead for row in found)
    names = [trace.name for trace in step_figure(step, sampler(), TEXTS).data]
    assert "△ would have been drawn" not in names
    assert "▲ drawn" in names


def test_a_protected_token_carries_the_shield() -> None:
    settings = sampler(protected=(BOY,))
    step = make_step(settings)
    assert step.outcome is Outcome.PROTECTED
    found = rows(step, settings)
    assert [row.kind for row in found[:3]] == ["eligible", "protected", "eligible"]
    assert label(found[1], TEXTS) == "⛨ ·boy"
    assert "protected" in {trace.name for trace in step_figure(step, settings, TEXTS).data}


def test_the_logarithmic_scale_hides_nothing() -> None:
    figure = step_figure(make_step(sampler()), sampler(), TEXTS, log=True)
    assert figure.layout.xaxis.type == figure.layout.xaxis2.type == "log"
    drawn = bars(figure)
    assert drawn["kept, before"] == pytest.approx({2: 0.12})
    assert drawn["removed, after"] == {0: 1e-4, 1: 1e-4}, "the axis' end, where its word stands"
    (gone,) = [b for b in figure.data if b.name == "removed" and b.xaxis == "x2"]
    assert [value for _, value in gone.customdata] == [0.0, 0.0]


def test_only_so_many_candidates_but_all_that_matters() -> None:
    step = make_step(sampler(), coin=0.9, token=DOG)
    found = rows(step, sampler(), candidates=1)
    assert [row.token for row in found] == [GIRL, BOY, MAN, DOG, None]
    assert found[-1].p == pytest.approx(0.04 + 0.06)


def test_hostile_token_text_stays_text() -> None:
    texts = {**TEXTS, GIRL: "<a href='x'>${1}</a>"}
    figure = step_figure(make_step(sampler()), sampler(), texts)
    assert "<a" not in figure.to_json().replace("\\u003c", "<")
    assert figure.layout.yaxis.ticktext[0] == "△ <s>&lt;a href='x'&gt;${1}&lt;/a&gt;</s>"


def test_dark_is_the_same_figure_in_other_colours() -> None:
    light, dark = (
        step_figure(make_step(sampler()), sampler(), TEXTS, theme=theme) for theme in (LIGHT, DARK)
    )
    assert light.layout.paper_bgcolor == "#ffffff"
    assert dark.layout.paper_bgcolor == "#141517"
    assert bars(light) == bars(dark)


STACKS = (
    SamplerSettings(xtc=XTCSettings(1.0, 0.05)),
    SamplerSettings(repetition_penalty=0.9, temperature=0.0, xtc=XTCSettings(1.0, 0.1)),
    SamplerSettings(repetition_penalty=1.1, temperature=0.7, top_k=30, top_p=0.9, min_p=0.02,
                    xtc=XTCSettings(0.5, 0.08)),
    SamplerSettings(temperature=1.4, xtc=XTCSettings(1.0, 0.1),
                    order=in_order("temperature")),
)  # fmt: skip


@pytest.fixture(scope="module")
def recorded() -> list[tuple[Step, SamplerSettings]]:
    lanes = tuple(LaneSettings(str(i), stack) for i, stack in enumerate(STACKS))
    trace, _ = decode(lanes=lanes, length=60)
    return [(step, lane.settings.sampler) for lane in trace.lanes for step in lane.steps]


@given(data=st.data(), candidates=st.integers(0, 120))
def test_before_and_after_add_up_to_one(
    recorded: list[tuple[Step, SamplerSettings]], data: st.DataObject, candidates: int
) -> None:
    step, settings = data.draw(st.sampled_from(recorded))
    found = rows(step, settings, candidates)
    assert sum(row.p for row in found) == pytest.approx(1.0, abs=1e-5)
    assert sum(row.q for row in found) == pytest.approx(1.0, abs=1e-5)
    tokens = [row.token for row in found]
    assert len(set(tokens)) == len(tokens)
    assert {step.token, step.counterfactual, *step.removed} <= set(tokens)
    (drawn,) = [row for row in found if row.drawn]
    assert drawn.p == pytest.approx(step.p, rel=1e-4)
    assert drawn.q == pytest.approx(step.q, rel=1e-3)
    assert [row for row in found if row.kind == "removed"] == [
        row for row in found if row.q == 0 and row.token in step.removed
    ]
    assert isinstance(found[-1], Row)
    assert found[-1].token is None

"""A step stage by stage, as data, held to `sampling.stageview`."""

from __future__ import annotations

import pytest

from tests.ui.factories import BOY, GIRL, MAN, TEXTS, decode, make_step, sampler
from xtc_viz.figures.stages import columns, stages_figure
from xtc_viz.records.trace import Trace
from xtc_viz.sampling.stageview import view
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings


def test_a_step_of_xtc_alone_by_hand() -> None:
    ids, (model, xtc) = columns(make_step(sampler()), sampler(), ())
    assert ids[:3] == [GIRL, BOY, MAN]
    assert (model.name, model.line, model.cut) == ("model", 0.1, "τ 0.10")
    assert model.probs[:3] == pytest.approx([0.41, 0.33, 0.12])
    assert model.kinds[:4] == ("removed", "removed", "kept", "tail")
    assert (xtc.name, xtc.line, xtc.cut) == ("XTC", None, "")
    assert xtc.probs[:3] == pytest.approx([0, 0, 0.12 / 0.26])
    assert sum(xtc.probs) == pytest.approx(1.0)


def test_the_figure_of_that_step() -> None:
    figure = stages_figure(make_step(sampler()), sampler(), (), TEXTS)
    bars = [bar for bar in figure.data if bar.type == "bar"]
    (gone,) = [bar for bar in bars if bar.name == "removed" and bar.xaxis == "x2"]
    assert gone.text == ("✕", "✕")
    (line,) = [line for line in figure.data if line.type == "scatter"]
    assert (list(line.x), line.xaxis) == ([0.1, 0.1], "x")
    assert [note.text for note in figure.layout.annotations] == ["model<br>τ 0.10", "XTC"]
    assert figure.layout.yaxis.ticktext[2] == "▲ <b>·man</b>"
    spans = [figure.layout.xaxis.domain, figure.layout.xaxis2.domain]
    assert [end for span in spans for end in span] == pytest.approx([0, 0.48, 0.52, 1])


@pytest.fixture(scope="module")
def stacked() -> Trace:
    stack = SamplerSettings(
        temperature=1.2, top_p=0.9, min_p=0.02, repetition_penalty=1.1,
        xtc=XTCSettings(rho=1.0, tau=0.05),
    )  # fmt: skip
    return decode(lanes=(LaneSettings("All", stack),), length=20)[0]


def test_every_stage_of_a_stack_as_the_stage_view_has_it(stacked: Trace) -> None:
    (lane,) = stacked.lanes
    sampler = lane.settings.sampler
    for i, step in enumerate(lane.steps):
        context = (*stacked.prompt_ids, *(before.token for before in lane.steps[:i]))
        ids, stops = columns(step, sampler, context, candidates=8)
        seen = view(step, sampler, context)
        assert len(stops) == len(seen.stages)
        names = ["model", "Repetition penalty", "Temperature", "Top-p", "Min-p", "XTC"]
        assert [stop.name for stop in stops] == names
        for stop, stage in zip(stops, seen.stages, strict=True):
            known = dict(zip(seen.ids, stage.probs, strict=True))
            assert list(stop.probs[:-1]) == [known[v] for v in ids]
            assert sum(stop.probs) == pytest.approx(1.0, abs=1e-5)
        assert set(stops[2].kinds) == {"tail", "rest"}, "before XTC received them all are alike"
        assert {step.token, *step.ids[: step.eligible]} <= set(ids)
        assert stops[3].cut.startswith("cut 0.0")

"""Many seeds in one batch: each is the run that its seed gives by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.factories import run_settings, sampler
from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import PromptError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.local.model import LocalModel
from xtc_viz.records.trace import LaneTrace, Trace
from xtc_viz.runs.jobs import fresh
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.runs.seeds import Progress, seeds_from, write
from xtc_viz.settings import LaneSettings

LAST = 2**63 - 1


def request(length: int = 12, **changes: Any) -> Request:
    return Request("Once upon", run_settings(length, **changes))


def spread(
    model: LanguageModel, asked: Request, seeds: Sequence[int], **how: Any
) -> list[Progress]:
    return list(write(fresh(asked, model), seeds, model, **how))


def traces(rounds: list[Progress]) -> dict[int, Trace]:
    found = [recorder.trace() for one in rounds for recorder in one.finished]
    return {trace.settings.seed: trace for trace in found}


def alone(model: LanguageModel, asked: Request, seed: int) -> Trace:
    return record(model, replace(asked, settings=replace(asked.settings, seed=seed)))


def content(lane: LaneTrace) -> object:
    return lane.settings, lane.finish, list(lane.steps)


def test_seeds_follow_one_another_and_begin_again_at_the_end() -> None:
    assert seeds_from(7, 3) == (7, 8, 9)
    assert seeds_from(LAST, 3) == (LAST, 0, 1)


def test_each_round_is_told_and_each_seed_once() -> None:
    model = FakeModel()
    rounds = spread(model, request(), (3, 4, 5))
    assert sorted(traces(rounds)) == [3, 4, 5]
    tokens = [one.tokens for one in rounds]
    assert tokens == sorted(tokens)
    written = [lane for trace in traces(rounds).values() for lane in trace.lanes]
    assert tokens[-1] == sum(len(lane.steps) for lane in written)
    assert model.open_generations == 0


@settings(max_examples=25)
@given(
    seeds=st.lists(st.integers(0, LAST), min_size=1, max_size=6, unique=True),
    at_once=st.integers(1, 9),
    length=st.integers(1, 30),
    shared=st.booleans(),
    lanes=st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 0.5)), min_size=1, max_size=3),
)
def test_a_seed_is_the_run_that_it_gives_by_itself(
    seeds: list[int],
    at_once: int,
    length: int,
    shared: bool,
    lanes: list[tuple[float, float]],
) -> None:
    model = FakeModel()
    named = tuple(LaneSettings(str(k), sampler(rho, tau)) for k, (rho, tau) in enumerate(lanes))
    asked = request(length, lanes=named, shared_randomness=shared, stop=("the",))
    found = traces(spread(model, asked, seeds, at_once=at_once))
    assert list(found) == sorted(found, key=list(found).index)
    for seed in seeds:
        one, other = found[seed], alone(model, asked, seed)
        assert [content(lane) for lane in one.lanes] == [content(lane) for lane in other.lanes]
        assert replace(one, lanes=(), seconds=0) == replace(other, lanes=(), seconds=0)


@pytest.mark.story_model
def test_on_the_story_model_too() -> None:
    model = LocalModel.load(str(STORY_MODEL))
    asked = Request("Once upon a time", run_settings(24))
    found = traces(spread(model, asked, seeds_from(7, 9)))
    for seed, trace in found.items():
        for one, other in zip(trace.lanes, alone(model, asked, seed).lanes, strict=True):
            assert [step.token for step in one.steps] == [step.token for step in other.steps]
            # The arithmetic of a batch rounds otherwise in the last bits.
            for a, b in zip(one.steps, other.steps, strict=True):
                assert (a.outcome, a.removed, a.coin) == (b.outcome, b.removed, b.coin)
                assert a.p == pytest.approx(b.p, rel=1e-4)


def test_a_prompt_that_does_not_fit_is_said_before_anything_is_written() -> None:
    model = FakeModel()
    job = fresh(request(), model)
    job = replace(job, begin=replace(job.begin, prompt_ids=(1,) * (model.info.context_length + 1)))
    with pytest.raises(PromptError):
        next(write(job, (1, 2), model))
    assert model.open_generations == 0


def test_closing_it_frees_the_model() -> None:
    model = FakeModel()
    rounds = write(fresh(request(200), model), (1, 2), model)
    next(rounds)
    assert model.open_generations == 1
    rounds.close()
    assert model.open_generations == 0

"""Jobs: a run from its begin, more of one, and branches, up to a length that is given."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.errors import SettingsError
from xtc_viz.models.fake import FakeModel
from xtc_viz.records import tracefile
from xtc_viz.records.trace import FinishReason, Trace
from xtc_viz.runs.jobs import Job, check_writer, fork, fresh, resume, rewrite
from xtc_viz.runs.protection import NOTHING
from xtc_viz.runs.record import record, write
from xtc_viz.runs.recorder import Recorder
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

MODEL = FakeModel()


def request(length: int, **changes: object) -> Request:
    # Without a base, so that the end of the text is a candidate everywhere.
    lanes = (LaneSettings("Baseline"), LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(0.5))))
    data = {"lanes": lanes, "max_new_tokens": length, **changes}
    return Request("Once", RunSettings.from_dict(data), NOTHING)


@cache
def run(length: int) -> Trace:
    return record(MODEL, request(length))


def done(job: Job) -> Trace:
    recorder = Recorder(job.begin, job.lanes)
    for _ in write(job, recorder, MODEL):
        pass
    return recorder.trace()


def lengths(trace: Trace) -> list[int]:
    return [len(lane.steps) for lane in trace.lanes]


def test_a_fresh_run_is_blank() -> None:
    job = fresh(request(8), MODEL)
    assert (job.lanes, lengths(job.begin), job.begin.seconds) == ((0, 1), [0, 0], 0.0)
    assert job.begin.prompt_ids == tuple(MODEL.encode("Once"))


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 29))
def test_more_of_a_run_is_the_longer_run(length: int) -> None:
    grown = done(resume(run(length), 30 - length))
    assert grown.lanes == run(30).lanes
    assert grown.vocabulary == run(30).vocabulary
    assert grown.seconds > run(length).seconds
    assert tracefile.loads(tracefile.dumps(grown)) == grown


@pytest.mark.parametrize(("longest", "expected"), [(None, 19), (19, 19), (15, 15), (11, 11)])
def test_a_lane_goes_on_up_to_the_longest(longest: int | None, expected: int) -> None:
    assert lengths(done(resume(run(10), 9, longest))) == [expected] * 2


def test_what_cannot_go_on_says_why() -> None:
    with pytest.raises(SettingsError, match="`lanes` must be below 10 tokens to go on, but is 10"):
        resume(run(10), 1, 10)
    for reason in (FinishReason.EOS, FinishReason.STOP, FinishReason.CONTEXT):
        ended = tuple(replace(lane, finish=reason) for lane in run(10).lanes)
        with pytest.raises(SettingsError, match="not all at their end"):
            resume(replace(run(10), lanes=ended), 1)


def test_another_model_does_not_go_on_with_a_run() -> None:
    other = FakeModel(name="another")
    job = resume(run(10), 1)
    for check in (lambda: check_writer(run(10), other), lambda: list(job.columns(other))):
        with pytest.raises(SettingsError, match="`run` must be one of the model another"):
            check()


def test_only_lanes_that_have_not_ended_go_on() -> None:
    first, second = run(10).lanes
    stopped = replace(run(10), lanes=(replace(first, finish=FinishReason.STOP), second))
    job = resume(stopped, 5)
    assert (job.lanes, [lane.name for lane in job.settings.lanes]) == ((1,), ["XTC"])
    grown = done(job)
    assert lengths(grown) == [10, 15]
    assert grown.lanes[0].finish is FinishReason.STOP


@pytest.mark.parametrize("lane", [0, 1])
def test_one_lane_goes_on_alone_as_it_would_beside_the_other(lane: int) -> None:
    grown = done(resume(run(10), 6, lane=lane))
    assert grown.lanes[lane].steps == run(16).lanes[lane].steps
    assert grown.lanes[1 - lane] == run(10).lanes[1 - lane]
    # Then the other one: the run is the same as if both had gone on together.
    assert done(resume(grown, 6, lane=1 - lane)).lanes == run(16).lanes


def test_a_lane_that_cannot_go_on_alone_is_named() -> None:
    with pytest.raises(SettingsError, match=r"`lane` must be in \[0, 2\), but is 2"):
        resume(run(10), 1, lane=2)
    first, second = run(10).lanes
    ended = replace(run(10), lanes=(replace(first, finish=FinishReason.EOS), second))
    with pytest.raises(SettingsError, match="not all at their end"):
        resume(ended, 1, lane=0)


@pytest.mark.parametrize(("longest", "expected"), [(None, 20), (14, 14), (8, 8)])
def test_a_branch_becomes_as_long_as_the_run(longest: int | None, expected: int) -> None:
    token = run(20).lanes[1].steps[7].ids[1]
    job = fork(run(20), 1, 7, token, MODEL, longest)
    assert (job.lanes, job.forced) == ((2,), ((token,),))
    grown = done(job)
    assert lengths(grown) == [20, 20, expected]
    assert grown.lanes[2].finish is FinishReason.LENGTH
    assert grown.lanes[:2] == run(20).lanes


def test_a_branch_of_a_branch_goes_on_with_the_dice_of_the_first_lane() -> None:
    own = record(MODEL, request(20, shared_randomness=False))
    tokens = [step.token for step in own.lanes[1].steps]
    once = done(fork(own, 1, 4, tokens[4], MODEL))
    twice = done(fork(once, 2, 9, tokens[9], MODEL))
    assert [step.token for step in twice.lanes[3].steps] == tokens
    assert twice.lanes[3].settings.name == "XTC ↳2"


def test_an_edited_lane_goes_on_after_its_text_and_the_others_stay() -> None:
    trace = run(20)
    before = trace.lanes[1].steps
    stands = "".join(step.text for step in before[:9])
    grown = done(rewrite(trace, 1, stands + " dragon!", 6, MODEL))
    lane = grown.lanes[1]
    assert lane.text.startswith(stands + " dragon!")
    forced = [step.forced for step in lane.steps]
    first, count = forced.index(True), sum(forced)
    assert first <= 9
    assert lane.steps[:first] == before[:first]
    assert forced == [False] * first + [True] * count + [False] * 6
    assert (lane.settings, grown.lanes[0]) == (trace.lanes[1].settings, trace.lanes[0])
    assert tracefile.loads(tracefile.dumps(grown)) == grown


def test_an_edit_that_repeats_the_lane_goes_on_as_the_lane_did() -> None:
    """What is forced is recorded like any other step, and the dice go on where they were."""
    trace = run(20)
    steps = trace.lanes[1].steps
    cut = replace(trace.lanes[1], steps=steps[:10])
    short = replace(trace, lanes=(trace.lanes[0], cut))
    text = "".join(step.text for step in steps[:13])
    grown = done(rewrite(short, 1, text, 7, MODEL)).lanes[1].steps
    assert [replace(step, forced=False) for step in grown] == list(steps)


def test_an_edit_has_its_bounds() -> None:
    trace = run(20)
    text = trace.lanes[0].text
    with pytest.raises(SettingsError, match=r"`lane` must be in \[0, 2\), but is 2"):
        rewrite(trace, 2, "x", 5, MODEL)
    for cut in (text, text[:5], ""):
        with pytest.raises(SettingsError, match="`text` must be changed"):
            rewrite(trace, 0, cut, 5, MODEL)
    with pytest.raises(SettingsError, match="1 to 512 tokens, but is"):
        rewrite(trace, 0, text + " and so on" * 200, 5, MODEL)
    assert len(done(rewrite(trace, 0, text + "!", 50, MODEL, 24)).lanes[0].steps) == 24

"""Branches: what is forced, what is shared with the parent, and how the random numbers go on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xtc_viz.decode import decode_lanes, lane_source
from xtc_viz.errors import SettingsError
from xtc_viz.models.fake import END, FIRST_BYTE, FakeModel
from xtc_viz.records import tracefile
from xtc_viz.records.trace import Branch, FinishReason
from xtc_viz.runs.branching import branch
from xtc_viz.runs.protection import NOTHING
from xtc_viz.runs.record import record
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.runs.request import Request
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

XTC = LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(rho=0.5, tau=0.1)))
MODEL = FakeModel()


def run(**values):
    settings = RunSettings(lanes=(LaneSettings(), XTC), max_new_tokens=30, **values)
    return record(MODEL, Request("Once upon a time", settings, NOTHING))


@pytest.fixture(scope="module")
def trace():
    return run()


def fired_step(trace):
    return next(t for t, step in enumerate(trace.lanes[1].steps) if step.changed)


def go_on(trace, start, lane, tokens=10):
    """Decode a branch on, as the page does, and return the trace with it as a lane."""
    settings = replace(trace.settings, lanes=(start.settings,), max_new_tokens=tokens)
    recorder = Recorder(replace(trace, settings=settings, lanes=(start,)))
    prefix = [step.token for step in start.steps]
    source = lane_source(trace.settings, lane)
    columns = decode_lanes(MODEL, trace.prompt_ids, settings, prefixes=[prefix], sources=[source])
    for column in columns:
        recorder.add(column, MODEL.token_text)
    return recorder.trace()


def test_restoring_a_removed_token(trace):
    position = fired_step(trace)
    parent = trace.lanes[1].steps
    token = parent[position].removed[0]
    start = branch(MODEL, trace, 1, position, token)
    assert start.branch == Branch(1, position)
    assert start.steps[:position] == tuple(parent[:position])
    step = start.steps[position]
    assert (step.token, step.forced, step.q, step.rank) == (token, True, 0.0, 1)
    assert step.p == parent[position].probs[0]
    assert step.fired
    assert not step.changed
    assert step.text == MODEL.token_text(token)
    assert start.settings.name == "XTC ↳1"


@pytest.mark.parametrize("shared", [True, False])
def test_the_counterfactual_token_leads_on_with_the_same_dice(shared):
    """Forcing the token that the lane drew anyway gives back the lane itself."""
    trace = run(shared_randomness=shared)
    parent = trace.lanes[1].steps
    start = branch(MODEL, trace, 1, 5, parent[5].token)
    branched = go_on(trace, start, 1).lanes[0].steps
    assert [s.token for s in branched] == [s.token for s in parent[:16]]
    assert branched[6:] == list(parent[6:16])


def test_a_branch_survives_the_file(trace):
    position = fired_step(trace)
    start = branch(MODEL, trace, 1, position, trace.lanes[1].steps[position].removed[0])
    grown = go_on(trace, start, 1)
    whole = replace(
        trace,
        lanes=(*trace.lanes, *grown.lanes),
        vocabulary=trace.vocabulary | grown.vocabulary,
    )
    assert tracefile.loads(tracefile.dumps(whole)) == whole


def test_forcing_the_end_ends_the_lane(trace):
    position = next(t for t, s in enumerate(trace.lanes[0].steps) if END in s.ids)
    start = branch(MODEL, trace, 0, position, END)
    assert start.finish is FinishReason.EOS


def test_half_a_character_before_the_branch_is_completed():
    dragon = [FIRST_BYTE + b for b in "🐉".encode()]
    prompt = [*MODEL.encode("Once"), *dragon[:2]]
    model = FakeModel(
        logits=lambda ids: [5.0 * (v in dragon) for v in range(MODEL.info.vocab_size)]
    )
    settings = RunSettings(lanes=(LaneSettings(),), max_new_tokens=2)
    recorder = Recorder(blank_trace(model, "Once", prompt, settings))
    for column in decode_lanes(model, prompt, settings):
        recorder.add(column, model.token_text)
    start = branch(model, recorder.trace(), 0, 0, dragon[2])
    assert start.steps[0].text == ""
    assert model.detokenizer([*prompt, dragon[2]]).push(dragon[3]) == "🐉"


def test_a_token_that_truncation_dropped_can_be_chosen():
    lane = LaneSettings("cut", SamplerSettings(top_k=2))
    settings = RunSettings(lanes=(lane,), max_new_tokens=3)
    trace = record(MODEL, Request("Once", settings, NOTHING))
    token = trace.lanes[0].steps[1].cut_ids[0]
    step = branch(MODEL, trace, 0, 1, token).steps[1]
    assert (step.token, step.p, step.q) == (token, 0.0, 0.0)
    assert step.token in step.ids


@pytest.mark.parametrize(
    ("lane", "position", "token", "message"),
    [
        (2, 0, 0, r"`lane` must be in \[0, 2\), but is 2"),
        (0, 30, 0, r"`position` must be in \[0, 30\), but is 30"),
        (0, 0, 259, "`token` must be one of the step's recorded candidates, but is 259"),
    ],
)
def test_bad_places_are_named(trace, lane, position, token, message):
    with pytest.raises(SettingsError, match=message):
        branch(MODEL, trace, lane, position, token)


def test_branches_have_names_that_no_lane_has(trace):
    """However many there are: how many can be looked at is the page's matter."""
    token = trace.lanes[0].steps[0].ids[0]
    grown = trace
    for _ in range(6):
        grown = replace(grown, lanes=(*grown.lanes, branch(MODEL, grown, 0, 0, token)))
    names = {lane.settings.name for lane in grown.lanes}
    assert len(names) == len(trace.lanes) + 6

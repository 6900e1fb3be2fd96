"""The decoder on the fake model: lanes, shared randomness, finishing, stopping, recording."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.decode import decode_lanes
from xtc_viz.errors import DistributionError, PromptError, SettingsError
from xtc_viz.models.fake import END, FIRST_BYTE, FakeModel
from xtc_viz.records.trace import FinishReason, token_ids
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.rule import Outcome
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

BASELINE = LaneSettings("Baseline")
XTC = LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(rho=0.5, tau=0.1)))
WARM = LaneSettings("Warm", SamplerSettings(temperature=1.3))
PROMPT = "Once upon a time"


def decode(model, lanes, *, prompt=PROMPT, prefixes=(), **values):
    run = RunSettings(lanes=tuple(lanes), **values)
    ids = model.encode(prompt)
    recorder = Recorder(blank_trace(model, prompt, ids, run))
    for column in decode_lanes(model, ids, run, prefixes=prefixes):
        recorder.add(column, model.token_text)
    return recorder.trace()


def tokens(lane):
    return [step.token for step in lane.steps]


def scripted(*script):
    """A fake that can only write the tokens of `script`, then `END`."""

    def logits(ids):
        row = np.full(model.info.vocab_size, -math.inf)
        position = len(ids) - 1
        row[script[position] if position < len(script) else END] = 0.0
        return row

    model = FakeModel(logits=logits)
    return model


@settings(max_examples=15)
@given(seed=st.integers(0, 2**40))
def test_without_xtc_two_lanes_are_identical(seed):
    off = LaneSettings("ρ 0", SamplerSettings(xtc=XTCSettings(rho=0.0, tau=0.02)))
    one, two, three = decode(
        FakeModel(), [BASELINE, BASELINE, off], seed=seed, max_new_tokens=25
    ).lanes
    assert one == two
    assert tokens(one) == tokens(three)
    assert one.text == three.text


def test_lanes_stay_together_until_xtc_changes_a_word():
    base, xtc = decode(FakeModel(), [BASELINE, XTC], max_new_tokens=60).lanes
    parted = next(t for t in range(60) if base.steps[t].token != xtc.steps[t].token)
    first_change = next(t for t in range(60) if xtc.steps[t].changed)
    assert parted == first_change
    assert [s.text for s in base.steps[:parted]] == [s.text for s in xtc.steps[:parted]]
    step = xtc.steps[parted]
    assert step.outcome is Outcome.FIRED
    assert step.counterfactual == base.steps[parted].token
    assert step.counterfactual in step.removed
    assert step.coin < 0.5


@settings(max_examples=10)
@given(seed=st.integers(0, 10**9), others=st.lists(st.sampled_from([BASELINE, WARM]), max_size=3))
def test_a_lane_does_not_depend_on_its_neighbours(seed, others):
    alone = decode(FakeModel(), [XTC], seed=seed, max_new_tokens=20).lanes[0]
    beside = decode(FakeModel(), [*others, XTC], seed=seed, max_new_tokens=20).lanes[-1]
    assert alone.steps == beside.steps


def test_every_step_draws_its_own_coin_from_the_shared_stream():
    base, xtc = decode(FakeModel(), [BASELINE, XTC], seed=9, max_new_tokens=10).lanes
    coins = [SharedRandomness(9).coin(t) for t in range(10)]
    assert [s.coin for s in base.steps] == [s.coin for s in xtc.steps] == coins


def test_without_shared_randomness_each_lane_has_its_own():
    one, two = decode(
        FakeModel(), [BASELINE, BASELINE], shared_randomness=False, max_new_tokens=30
    ).lanes
    assert tokens(one) != tokens(two)
    assert two.steps[4].coin == SharedRandomness(7, source=2).coin(4)


def test_a_lane_ends_at_end_of_sequence_while_the_other_goes_on():
    base, xtc = decode(FakeModel(seed=2), [BASELINE, XTC], max_new_tokens=400).lanes
    ended = [lane for lane in (base, xtc) if lane.finish is FinishReason.EOS]
    assert ended
    for lane in ended:
        assert lane.steps[-1].token == END
        assert END not in tokens(lane)[:-1]
    assert len(base.steps) != len(xtc.steps)


def test_length():
    lane = decode(FakeModel(), [BASELINE], max_new_tokens=3).lanes[0]
    assert (len(lane.steps), lane.finish) == (3, FinishReason.LENGTH)


def test_a_lane_ends_where_the_context_does():
    model = FakeModel(context_length=12)
    prompt = len(model.encode(PROMPT))
    lane = decode(model, [BASELINE], max_new_tokens=100).lanes[0]
    assert (prompt + len(lane.steps), lane.finish) == (12, FinishReason.CONTEXT)
    # Nothing can follow, even where the lane was to have no more tokens than these.
    exact = decode(model, [BASELINE], max_new_tokens=12 - prompt).lanes[0]
    assert (len(exact.steps), exact.finish) == (12 - prompt, FinishReason.CONTEXT)
    short = decode(model, [BASELINE], max_new_tokens=11 - prompt).lanes[0]
    assert short.finish is FinishReason.LENGTH


def test_a_prompt_that_leaves_no_room_is_refused_with_the_numbers():
    with pytest.raises(PromptError, match="4"):
        decode(FakeModel(context_length=4), [BASELINE])


def test_a_stop_string_across_tokens_ends_the_lane():
    model = FakeModel()
    the, dot, girl = (model.encode(text)[0] for text in (" the", ".", " girl"))
    lane = decode(scripted(the, girl, dot, the), [BASELINE], prompt=".", stop=("irl.",)).lanes[0]
    assert (lane.text, lane.finish) == (" the girl.", FinishReason.STOP)


def test_a_character_split_over_tokens_appears_once_and_whole():
    model = FakeModel()
    dragon = [FIRST_BYTE + byte for byte in "🐉".encode()]
    girl = model.encode(" girl")
    lane = decode(scripted(*dragon, *girl), [BASELINE], prompt=".").lanes[0]
    assert [step.text for step in lane.steps] == ["", "", "", "🐉", " girl", ""]
    assert lane.text == "🐉 girl"


def test_half_a_character_at_the_end_is_not_lost():
    first = FIRST_BYTE + "🐉".encode()[0]
    lane = decode(scripted(first), [BASELINE], prompt=".", max_new_tokens=1).lanes[0]
    assert lane.text == "\N{REPLACEMENT CHARACTER}"


def test_closing_the_generator_frees_the_cache_at_any_step():
    model = FakeModel()
    run = RunSettings(lanes=(BASELINE, XTC))
    for steps in (0, 1, 5):
        columns = decode_lanes(model, model.encode(PROMPT), run)
        for _ in range(steps):
            next(columns)
        columns.close()
        assert model.open_generations == 0


def test_a_failing_model_is_named_with_lane_and_step_and_freed():
    def logits(ids):
        return np.full(model.info.vocab_size, math.nan if len(ids) == 4 else 0.0)

    model = FakeModel(logits=logits)
    with pytest.raises(DistributionError, match=r"lane 'Baseline', step 3: the logits must be"):
        decode(model, [BASELINE], prompt=".")
    assert model.open_generations == 0


def test_continuing_a_lane_equals_one_long_run():
    model = FakeModel()
    whole = decode(model, [BASELINE, XTC], max_new_tokens=30)
    part = decode(model, [BASELINE, XTC], max_new_tokens=12)
    run = RunSettings(lanes=(BASELINE, XTC), max_new_tokens=18)
    recorder = Recorder(part)
    prefixes = [tokens(lane) for lane in part.lanes]
    for column in decode_lanes(model, whole.prompt_ids, run, prefixes=prefixes):
        recorder.add(column, model.token_text)
    assert recorder.trace().lanes == whole.lanes


def test_prefixes_are_one_a_lane():
    with pytest.raises(SettingsError, match="one a lane"):
        decode(FakeModel(), [BASELINE, XTC], prefixes=[[1]])


def test_columns_come_one_a_step():
    model = FakeModel()
    run = RunSettings(lanes=(BASELINE, XTC), max_new_tokens=4)
    columns = list(decode_lanes(model, model.encode(PROMPT), run))
    assert [column.position for column in columns] == [0, 1, 2, 3]
    assert [column.finishes for column in columns[:3]] == [(None, None)] * 3
    assert columns[3].finishes == (FinishReason.LENGTH, FinishReason.LENGTH)
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(columns))


def test_the_trace_names_every_token_it_holds():
    trace = decode(FakeModel(), [BASELINE, XTC], max_new_tokens=8)
    named = [token_ids(lane.steps) for lane in trace.lanes]
    assert set(trace.vocabulary) == set(trace.prompt_ids).union(*named)
    assert trace.prompt == PROMPT
    assert trace.seconds > 0
    for lane in trace.lanes:
        for step in lane.steps:
            assert step.token in step.ids
            assert step.counterfactual in step.ids
            assert pytest.approx(sum(step.probs) + step.tail_mass) == 1.0
            assert [c.p for c in step.candidates()] == list(step.probs)


def test_steps_are_plain_values():
    step = decode(FakeModel(), [XTC], max_new_tokens=1).lanes[0].steps[0]
    assert replace(step, text="x") != step
    with pytest.raises(AttributeError):
        step.token = 1

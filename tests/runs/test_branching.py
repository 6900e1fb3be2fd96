"""Branches: what is forced, what is shared with the parent, and how the random numbers go on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.assets import STORY_MODEL
from xtc_viz.decode import decode_lanes
from xtc_viz.errors import SettingsError
from xtc_viz.models.fake import END, FIRST_BYTE, FIRST_WORD, SPECIALS, WORDS, FakeModel
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.records import tracefile
from xtc_viz.records.trace import Branch, FinishReason, LaneTrace, Trace
from xtc_viz.runs.branching import MOST_FORCED, branch, check_tokens, text_at
from xtc_viz.runs.jobs import fork
from xtc_viz.runs.protection import NOTHING
from xtc_viz.runs.record import record, write
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.runs.request import Request
from xtc_viz.sampling.stageview import final_probs, view
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

XTC = LaneSettings("XTC", SamplerSettings(xtc=XTCSettings(rho=0.5, tau=0.1)))
MODEL = FakeModel()
LENGTH = 30


def run(*lanes: LaneSettings, **values) -> Trace:
    settings = RunSettings(lanes=lanes or (LaneSettings(), XTC), max_new_tokens=LENGTH, **values)
    return record(MODEL, Request("Once upon a time", settings, NOTHING))


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run()


def grown(trace: Trace, lane: int, position: int, tokens, model=MODEL) -> Trace:
    job = fork(trace, lane, position, tokens, model)
    recorder = Recorder(job.begin, job.lanes)
    for _ in write(job, recorder, model):
        pass
    return recorder.trace()


def twig(trace: Trace, lane: int, position: int, tokens) -> LaneTrace:
    return grown(trace, lane, position, tokens).lanes[-1]


def tokens(lane: LaneTrace) -> list[int]:
    return [step.token for step in lane.steps]


def word(text: str) -> int:
    return FIRST_WORD + WORDS.index(text)


def fired_step(trace: Trace) -> int:
    return next(t for t, step in enumerate(trace.lanes[1].steps) if step.changed)


def test_restoring_a_removed_token(trace):
    position = fired_step(trace)
    parent = trace.lanes[1].steps
    token = parent[position].removed[0]
    lane = twig(trace, 1, position, token)
    assert lane.branch == Branch(1, position)
    assert lane.settings.name == "XTC ↳1"
    assert lane.steps[:position] == parent[:position]
    step = lane.steps[position]
    assert (step.token, step.forced, step.q, step.rank) == (token, True, 0.0, 1)
    assert step.p == parent[position].probs[0]
    assert step.fired
    assert not step.changed
    assert step.text == MODEL.token_text(token)
    assert not lane.steps[position + 1].forced


def test_several_tokens_are_taken_one_after_another(trace):
    """Each is a recorded step with the distribution that follows the one before it."""
    chosen = [word(" a"), word(" little"), word(" star")]
    lane = twig(trace, 0, 4, chosen)
    assert tokens(lane)[4:7] == chosen
    assert [step.forced for step in lane.steps[3:8]] == [False, True, True, True, False]
    assert "".join(step.text for step in lane.steps[4:7]) == " a little star"
    assert len(lane.steps) == LENGTH
    for number, step in enumerate(lane.steps[4:7], 4):
        before = (*trace.prompt_ids, *tokens(lane)[:number])
        p = MODEL.logits(before).softmax(-1)
        assert step.p == pytest.approx(float(p[step.token]))
        assert step.probs[0] == pytest.approx(float(p.max()))


@given(lane=st.integers(0, 1), position=st.integers(0, LENGTH - 1), data=st.data())
def test_the_lanes_own_tokens_give_back_the_lane(trace, lane, position, data):
    """However many of them are forced: the dice of the steps behind them are the lane's."""
    count = data.draw(st.integers(1, LENGTH - position))
    parent = trace.lanes[lane].steps
    steps = twig(trace, lane, position, tokens(trace.lanes[lane])[position : position + count])
    forced = [replace(s, forced=True) for s in parent[position : position + count]]
    assert list(steps.steps) == [*parent[:position], *forced, *parent[position + count :]]


def test_the_dice_are_the_parents_where_lanes_have_their_own():
    trace = run(shared_randomness=False)
    own = tokens(trace.lanes[1])
    assert tokens(twig(trace, 1, 5, own[5:7])) == own
    assert own != tokens(trace.lanes[0])


def test_a_text_becomes_tokens_with_its_space(trace):
    assert text_at(MODEL, trace, 0, 3, " bear") == [word(" bear")]
    assert text_at(MODEL, trace, 0, 3, "bear") == [FIRST_BYTE + b for b in b"bear"]
    assert text_at(MODEL, trace, 0, 3, " the dragon 🐉") == [
        *(word(" the"), word(" dragon"), word(" ")),
        *(FIRST_BYTE + b for b in "🐉".encode()),
    ]
    lane = twig(trace, 0, 3, " the dragon")
    assert tokens(lane)[3:5] == [word(" the"), word(" dragon")]


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20), st.integers(0, LENGTH))
def test_a_text_reads_as_it_was_typed(trace, text, position):
    job = fork(trace, 1, position, text, MODEL)
    detokenizer = MODEL.detokenizer([*trace.prompt_ids, *tokens(trace.lanes[1])[:position]])
    held = MODEL.detokenizer([*trace.prompt_ids, *tokens(trace.lanes[1])[:position]]).flush()
    assert "".join(map(detokenizer.push, job.forced[0])) + detokenizer.flush() == held + text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "`text` must be a text that becomes at least one token, but is ''"),
        ("a\ud800b", "`text` must be a text that fake writes as it stands, but is"),
    ],
)
def test_a_text_that_no_tokens_write_is_named(trace, text, message):
    with pytest.raises(SettingsError, match=message):
        fork(trace, 0, 0, text, MODEL)


def test_special_tokens_that_leave_no_trace_are_no_text(trace):
    class Parsing(FakeModel):
        """As real tokenizers do, it takes the name of a special token for the token."""

        def encode(self, text: str) -> list[int]:
            start, mark, rest = text.partition(SPECIALS[0])
            return [*super().encode(start), *([END] if mark else []), *super().encode(rest)]

    with pytest.raises(SettingsError, match="`text` must be a text that fake writes"):
        text_at(Parsing(), trace, 0, 0, f" the{SPECIALS[0]}")


def test_a_branch_survives_the_file(trace):
    whole = grown(trace, 1, fired_step(trace), " the zebra")
    assert tracefile.loads(tracefile.dumps(whole)) == whole


def test_forcing_the_end_ends_the_lane(trace):
    lane = twig(trace, 0, 7, [END, word(" a")])
    assert tokens(lane) == [*tokens(trace.lanes[0])[:7], END]
    assert lane.finish is FinishReason.EOS


def test_a_lane_goes_on_behind_its_last_token_but_not_behind_its_end(trace):
    lane = twig(trace, 0, LENGTH, " and then")
    assert tokens(lane) == [*tokens(trace.lanes[0]), word(" and"), word(" then")]
    ended = grown(trace, 0, 4, END)
    with pytest.raises(SettingsError, match=r"`position` must be in \[0, 4\], but is 5"):
        branch(ended, 2, 5)


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
    lane = grown(recorder.trace(), 0, 0, dragon[2:], model).lanes[-1]
    assert [step.text for step in lane.steps] == ["", "🐉"]
    # A text in its middle leaves it broken, as any word of the model would.
    assert text_at(model, recorder.trace(), 0, 0, " a") == [word(" a")]


def test_a_token_that_truncation_dropped_can_be_chosen():
    trace = run(LaneSettings("cut", SamplerSettings(top_k=2)))
    dropped = trace.lanes[0].steps[1].cut_ids[0]
    for token in (dropped, word("ß")):
        step = twig(trace, 0, 1, token).steps[1]
        assert (step.token, step.p, step.q, step.rank) == (token, 0.0, 0.0, 3)
        assert step.ids[-1] == token
        shown = view(step, SamplerSettings(top_k=2), trace.prompt_ids)
        assert len(set(shown.ids)) == len(shown.ids)
        raw = dict(zip(shown.ids, shown.stages[0].probs, strict=True))
        assert 0 not in raw.values()
        assert (token in raw) is (token in step.cut_ids)


@pytest.mark.parametrize(
    ("sampler", "q"),
    [
        (SamplerSettings(), lambda p, top: p),
        (SamplerSettings(temperature=0.0), lambda p, top: 0.0),
        (SamplerSettings(temperature=2.0, order=("xtc", "temperature")), None),
        (SamplerSettings(min_p=0.01, order=("xtc", "min_p")), None),
    ],
)
def test_what_a_chosen_token_had_at_the_end_is_what_the_record_says(sampler, q):
    trace = run(LaneSettings("one", sampler))
    parent = trace.lanes[0].steps[2]
    other = next(v for v in parent.ids[:20] if v != parent.token)
    step = twig(trace, 0, 2, other).steps[2]
    place = parent.ids.index(other)
    assert step.q == pytest.approx(final_probs(parent, sampler)[place], rel=1e-4)
    assert final_probs(step, sampler)[step.ids.index(other)] == pytest.approx(step.q, rel=1e-4)
    if q:
        assert step.q == pytest.approx(q(step.p, parent.probs[0]))


def test_a_model_that_shows_few_words_is_told_others():
    model = FakeModel(candidates=3)
    settings = RunSettings(lanes=(XTC,), max_new_tokens=5)
    trace = record(model, Request("Once", settings, NOTHING))
    step = grown(trace, 0, 2, word("ß"), model).lanes[-1].steps[2]
    assert (step.token, step.p, step.rank) == (word("ß"), 0.0, 4)
    assert step.bound


@pytest.mark.parametrize(
    ("lane", "position", "tokens", "message"),
    [
        (2, 0, 0, r"`lane` must be in \[0, 2\), but is 2"),
        (0, 31, 0, r"`position` must be in \[0, 30\], but is 31"),
        (0, 0, 332, r"`token` must be in \[0, 332\), but is 332"),
        (0, 0, [5, -1], r"`token` must be in \[0, 332\), but is -1"),
        (0, 0, [], "`text` must be 1 to 512 tokens, but is 0 tokens"),
        (0, 0, [5] * 513, "`text` must be 1 to 512 tokens, but is 513 tokens"),
    ],
)
def test_what_cannot_be_is_named(trace, lane, position, tokens, message):
    with pytest.raises(SettingsError, match=message):
        fork(trace, lane, position, tokens, MODEL)


def test_the_room_of_a_lane_is_kept(trace):
    check_tokens([5] * MOST_FORCED, MODEL, MOST_FORCED)
    with pytest.raises(SettingsError, match="1 to 2 tokens at this place, but is 3 tokens"):
        fork(trace, 0, 8, [5, 6, 7], MODEL, longest=10)
    with pytest.raises(SettingsError, match="`position` must be below 10 to have room, but is 10"):
        fork(trace, 0, 10, 5, MODEL, longest=10)
    small = FakeModel(context_length=len(trace.prompt_ids) + 9)
    assert len(grown(trace, 0, 8, 5, small).lanes[-1].steps) == 9
    with pytest.raises(SettingsError, match="1 to 1 tokens at this place"):
        fork(trace, 0, 8, [5, 6], small)


@pytest.mark.story_model
def test_a_typed_text_on_the_story_model():
    model = LocalModel.load(LocalSpec(str(STORY_MODEL)))
    settings = RunSettings(lanes=(XTC,), max_new_tokens=12)
    trace = record(model, Request("Once upon a time there was a", settings, NOTHING))
    for text in (" zebra", "zebra", ' "Naïve 🐉!"', "\n\nThe end"):
        lane = grown(trace, 0, 3, text, model).lanes[-1]
        forced = [step for step in lane.steps if step.forced]
        assert "".join(step.text for step in forced) == text
        assert lane.steps[:3] == trace.lanes[0].steps[:3]
        assert [s.forced for s in lane.steps[3 : 3 + len(forced)]] == [True] * len(forced)
        assert all(0.0 < step.p < 1.0 for step in forced)
    own = tokens(trace.lanes[0])
    assert tokens(grown(trace, 0, 5, own[5:8], model).lanes[-1]) == own


def test_branches_have_names_that_no_lane_has(trace):
    """However many there are: how many can be looked at is the page's matter."""
    lanes = trace
    for _ in range(6):
        lanes = replace(lanes, lanes=(*lanes.lanes, branch(lanes, 0, 0)))
    names = {lane.settings.name for lane in lanes.lanes}
    assert len(names) == len(trace.lanes) + 6

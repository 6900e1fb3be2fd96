"""The recorder: what it keeps, whom it tells, and what it shows while it grows."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.factories import BOY, GIRL, MAN, TEXTS, decode, make_step, run_settings, sampler
from xtc_viz.decode import Column, decode_lanes
from xtc_viz.models.fake import END, FakeModel
from xtc_viz.records import tracefile
from xtc_viz.records.step import Step
from xtc_viz.records.trace import FinishReason, LaneTrace, Trace, token_ids
from xtc_viz.runs.protection import protected_ids
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.runs.stats import LaneStats
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings

MODEL = FakeModel()
PROMPT = tuple(MODEL.encode("Once"))


class Diary:
    """Notes down what it is told."""

    def __init__(self) -> None:
        self.notes: list[tuple[int, str]] = []

    def add(self, step: Step, sign: str = "") -> None:
        self.notes.append((step.token, sign))


@cache
def columns(length: int = 24) -> tuple[Column, ...]:
    return tuple(decode_lanes(MODEL, PROMPT, run_settings(length)))


def blank() -> Trace:
    return blank_trace(MODEL, "Once", PROMPT, run_settings(24))


def test_by_hand() -> None:
    """Two lanes, of which the first has ended before; the second gets two steps and ends."""
    girl, boy = (make_step(sampler(), coin=0.9, token=token) for token in (GIRL, BOY))
    lanes = (LaneTrace(LaneSettings("a"), (girl,), FinishReason.EOS), LaneTrace(LaneSettings("b")))
    settings = RunSettings(lanes=(LaneSettings("a"), LaneSettings("b")))
    begin = replace(blank(), settings=settings, lanes=lanes, vocabulary=dict(TEXTS), seconds=2.0)
    recorder, diary = Recorder(begin, [1]), Diary()
    recorder.observe(1, diary)
    recorder.add(Column(0, (boy,), (None,), 0.25), MODEL.token_text)
    recorder.add(Column(1, (girl,), (FinishReason.STOP,), 0.5), MODEL.token_text)
    assert diary.notes == [(BOY, " boy"), (GIRL, " girl")]
    trace = recorder.trace()
    assert [lane.finish for lane in trace.lanes] == [FinishReason.EOS, FinishReason.STOP]
    assert [list(lane.steps) for lane in trace.lanes] == [[girl], [boy, girl]]
    assert trace.seconds == 2.5
    assert [lane.rate for lane in recorder.lanes] == [None, 4.0]


def test_nothing_added_gives_the_trace_back() -> None:
    """Steps, ends and seconds, also of lanes that came to their end."""
    trace, _ = decode(length=9)
    assert all(lane.finish for lane in trace.lanes)
    assert trace.seconds > 0
    assert Recorder(trace).trace() == Recorder(trace, ()).trace() == Recorder.of(trace).trace()
    assert Recorder(trace).trace() == trace


def test_a_trace_never_changes_while_the_record_grows() -> None:
    recorder = Recorder(blank())
    traces = [recorder.trace()]
    for column in columns():
        recorder.add(column, MODEL.token_text)
        traces.append(recorder.trace())
    assert [len(trace.lanes[0].steps) for trace in traces] == list(range(len(columns()) + 1))
    for number, trace in enumerate(traces):
        assert trace.lanes[1].steps == [column.steps[1] for column in columns()[:number]]
        assert (trace.lanes[0].finish is None) == (number < len(columns()))
        assert tracefile.loads(tracefile.dumps(trace)) == trace


def test_the_record_goes_its_own_way_from_the_trace_that_it_began_with() -> None:
    first, _ = decode(length=5)
    before = tracefile.dumps(first)
    recorder = Recorder(first)
    recorder.add(columns()[0], MODEL.token_text)
    assert tracefile.dumps(first) == before
    assert [len(lane.steps) for lane in recorder.trace().lanes] == [6, 6]


@given(
    st.lists(st.tuples(st.integers(0, 24), st.integers(0, 1), st.booleans()), max_size=6),
    st.permutations(range(6)),
)
def test_whoever_looks_on_and_since_when_the_record_is_the_same(
    watchers: list[tuple[int, int, bool]], order: list[int]
) -> None:
    """An observer may come at any step, in any order, and learns of all steps in theirs."""
    plain, watched = Recorder(blank()), Recorder(blank())
    chosen = [watchers[i] for i in order if i < len(watchers)]
    observers: list[tuple[int, Diary | LaneStats]] = []
    for number in range(len(columns()) + 1):
        for since, lane, counts in chosen:
            if since == number:
                observers.append((lane, LaneStats() if counts else Diary()))
                watched.observe(*observers[-1])
        if number < len(columns()):
            for recorder in (plain, watched):
                recorder.add(columns()[number], MODEL.token_text)
    assert watched.trace() == plain.trace()
    for lane, observer in observers:
        steps = plain.trace().lanes[lane].steps
        if isinstance(observer, Diary):
            assert observer.notes == [(s.token, MODEL.token_text(s.token)) for s in steps]
        else:
            alone = LaneStats()
            for step in steps:
                alone.add(step, MODEL.token_text(step.token))
            assert observer.values() == alone.values()


def test_a_step_is_counted_and_named_before_it_is_seen() -> None:
    recorder = Recorder(blank())

    class Early:
        def add(self, step: Step, sign: str = "") -> None:
            assert sign == MODEL.token_text(step.token)
            assert token_ids([step]) <= recorder.texts.keys()
            counts.append(len(recorder.lanes[0].steps))

    counts: list[int] = []
    recorder.observe(0, Early())
    for column in columns():
        recorder.add(column, MODEL.token_text)
    assert counts == list(range(len(columns())))


def test_readers_in_other_threads_always_see_a_whole_trace() -> None:
    recorder, over = Recorder(blank()), threading.Event()
    problems: list[BaseException] = []

    def read() -> None:
        try:
            longest = 0
            while not over.is_set():
                trace = recorder.trace()
                named = trace.vocabulary.keys()
                for lane in trace.lanes:
                    assert token_ids(lane.steps) <= named
                assert len(trace.lanes[0].steps) >= longest
                longest = len(trace.lanes[0].steps)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(6):
        for column in columns():
            recorder.add(column, MODEL.token_text)
    over.set()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(recorder.lanes[0].steps) == 6 * len(columns())


def test_the_vocabulary_names_prompt_candidates_cut_tokens_and_protected_ones() -> None:
    dragon = MODEL.encode(" dragon")[0]
    xtc = sampler(protected=[END, dragon, *MODEL.info.newline_ids]).xtc
    lanes = [SamplerSettings(top_k=3, xtc=xtc), sampler()]
    settings = RunSettings(lanes=tuple(LaneSettings(str(i), s) for i, s in enumerate(lanes)),
                           max_new_tokens=4)  # fmt: skip
    begin = blank_trace(MODEL, "Once", PROMPT, settings)
    assert set(begin.vocabulary) == {*PROMPT, dragon}, "the kinds need no names"
    recorder = Recorder(begin)
    for column in decode_lanes(MODEL, PROMPT, settings):
        recorder.add(column, MODEL.token_text)
    trace = recorder.trace()
    steps = [step for lane in trace.lanes for step in lane.steps]
    assert any(step.cut_ids for step in steps)
    named = {v for step in steps for v in (*step.ids, *step.cut_ids)}
    assert set(trace.vocabulary) == {*PROMPT, dragon} | named
    assert all(text == MODEL.token_text(token) for token, text in trace.vocabulary.items())
    assert recorder.text(GIRL) == trace.vocabulary.get(GIRL, f"<{GIRL}>")


def test_newlines_that_are_protected_one_by_one_are_named() -> None:
    alone = protected_ids(MODEL, "token", eos=False)
    settings = RunSettings(lanes=(LaneSettings("x", sampler(protected=sorted(alone))),))
    named = set(blank_trace(MODEL, "Once", PROMPT, settings).vocabulary)
    assert named == {*PROMPT} | alone


def test_a_column_has_a_step_for_every_lane_that_grows() -> None:
    recorder = Recorder(blank(), [1])
    step = make_step(sampler(), coin=0.9, token=MAN)
    with pytest.raises(ValueError, match="argument 2 is longer"):
        recorder.add(Column(0, (step, step), (None, None), 0.1), MODEL.token_text)


def test_it_keeps_no_model_and_says_what_it_takes() -> None:
    recorder, sizes = Recorder(blank()), []
    for column in columns():
        recorder.add(column, MODEL.token_text)
        sizes.append(recorder.nbytes)
    assert sizes == sorted(sizes)
    assert sizes[-1] < 200_000
    assert not any(value is MODEL for value in vars(recorder).values())


def test_columns_of_a_newer_file_stay_until_a_lane_goes_on() -> None:
    trace, _ = decode(length=6)
    lanes = tuple(replace(lane, unknown={"luck": (1,) * len(lane.steps)}) for lane in trace.lanes)
    trace = replace(trace, lanes=lanes)
    recorder = Recorder(trace, [1])
    assert recorder.trace().unknown_columns == ("luck",)
    recorder.add(Column(0, (trace.lanes[1].steps[0],), (None,), 0.1), MODEL.token_text)
    kept = [dict(lane.unknown) for lane in recorder.trace().lanes]
    assert [bool(columns) for columns in kept] == [True, False]

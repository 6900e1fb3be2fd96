"""The store of runs, and that every way to a page's state leads to the same one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.ui.factories import decode, run_settings
from xtc_viz.decode import Column, decode_lanes
from xtc_viz.errors import UnknownRunError
from xtc_viz.models.fake import FakeModel
from xtc_viz.records.tracefile import dumps, loads
from xtc_viz.runs.recorder import Recorder, blank_trace
from xtc_viz.ui.run import Run
from xtc_viz.ui.runs import RunStore


def grown(length: int = 30) -> tuple[Run, list[dict[str, Any]]]:
    """A run that was asked for news after every seventh column."""
    model, settings = FakeModel(), run_settings(length)
    ids = model.encode("Once")
    recorder = Recorder(blank_trace(model, "Once", ids, settings))
    run = Run(recorder, "running")
    news, at = [], [0, 0]
    for column in decode_lanes(model, ids, settings):
        recorder.add(column, model.token_text)
        if column.position % 7 == 6:
            news.append(run.message(at))
            at = run.lengths
    news.append(run.message(at))
    return run, news


def test_the_messages_add_up_to_the_whole() -> None:
    run, news = grown()
    whole = run.whole("id")
    for lane in range(2):
        added = [chip for message in news for chip in message["add"][lane]]
        assert added == whole["add"][lane]
    assert news[-1]["stats"] == whole["stats"]


def test_a_trace_shows_the_same_page_as_the_run_it_came_from() -> None:
    run, _ = grown()
    trace = run.trace()
    assert loads(dumps(trace)) == trace
    again = Run.of(trace, "done")
    assert again.head() == run.head()
    assert again.message([0, 0])["add"] == run.message([0, 0])["add"]
    assert again.block(1, 0, 10) == run.block(1, 0, 10)


def test_a_page_that_missed_something_gets_the_rest() -> None:
    run, _ = grown()
    assert run.whole("id", [5, 6])["at"] == [5, 6]
    assert run.whole("id", [5])["at"] == [0, 0]  # a page that shows another run


def test_a_lane_is_timed_from_the_begin_of_its_decode_to_its_last_step() -> None:
    run, _ = grown(12)
    step = run.lanes[0].steps[0]
    assert run.lengths == [12, 12]
    begin = replace(run.trace(), seconds=10.0)
    recorder = Recorder(begin)
    more = Run(recorder, "running")
    assert "rate" not in more.message([0, 0])["stats"][0]
    recorder.add(Column(0, (step, step), (None, None), 0.5), recorder.text)
    # Lane 0 ends here; lane 1 goes on for a long time.
    recorder.add(Column(1, (None, step), (None, None), 4.0), recorder.text)
    assert [lane["rate"] for lane in more.message([0, 0])["stats"]] == [2.0, 0.5]
    assert more.trace().seconds == 14.0
    loaded = Run.of(more.trace(), "loaded").message([0, 0])["stats"]
    assert [lane["rate"] for lane in loaded] == [0.9, 1.0]


def test_the_store_keeps_what_was_looked_at_and_drops_the_oldest() -> None:
    trace, _ = decode(length=10)
    run = Run.of(trace, "done")
    store = RunStore(max_bytes=3 * run.nbytes)
    kept = store.add(run, "recorded", keep=True)
    first, second, third = (store.add(run) for _ in range(3))
    store.get(first)
    fourth = store.add(run)
    with pytest.raises(UnknownRunError, match="no longer kept"):
        store.get(second)
    assert all(store.get(key) for key in (kept, first, third, fourth))


def test_ids_cannot_be_guessed_and_junk_is_no_id() -> None:
    store = RunStore()
    assert len({store.reserve() for _ in range(100)}) == 100
    assert len(store.reserve()) >= 20
    junk: list[object] = [None, 3, "", ["a"], {}]
    for value in junk:
        with pytest.raises(UnknownRunError):
            store.get(value)


def test_many_small_runs_are_bounded_too() -> None:
    trace, _ = decode(length=2)
    store = RunStore(max_runs=5)
    for _ in range(9):
        store.add(Run.of(trace, "done"))
    assert len(store) == 5

"""The memory of records, against what the interpreter counts itself."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from tests.ui.factories import decode
from xtc_viz.records.size import size_of
from xtc_viz.records.trace import Trace
from xtc_viz.ui.run import Run


def traced(trace: Trace) -> tuple[Run, int]:
    """A run of a copy of this trace, and the bytes that making it took."""
    data = pickle.dumps(trace)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    run = Run.of(pickle.loads(data), "done")
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return run, after - before


def hostile(trace: Trace, **changes: Any) -> Trace:
    return replace(trace, **changes)


MEGABYTE = 1_000_000
CHANGES: list[dict[str, Any]] = [
    {},
    {"prompt": "x" * MEGABYTE},
    {"system": "é" * MEGABYTE},
    {"prompt_ids": tuple(range(1000, 101_000))},
    {"vocabulary": {i: f"{i}" * 20 for i in range(10_000)}},
]


@pytest.mark.slow
@pytest.mark.parametrize("changes", CHANGES, ids=lambda c: next(iter(c), "as it was"))
def test_a_run_counts_all_that_it_takes(changes: dict[str, Any]) -> None:
    trace, _ = decode(length=300)
    run, taken = traced(hostile(trace, **changes))
    assert 0.8 * taken < run.nbytes < 1.25 * taken


def test_a_name_and_columns_of_another_program_count() -> None:
    trace, _ = decode(length=50)
    lane = trace.lanes[0]
    named = replace(lane, settings=replace(lane.settings, name="n"))
    column = tuple([[float(i) for i in range(n, n + 40)] for n in range(50)])
    run, taken = traced(
        replace(
            trace,
            model=replace(trace.model, name="m" * MEGABYTE),
            lanes=(replace(named, unknown={"new": column}), *trace.lanes[1:]),
        )
    )
    assert run.nbytes > MEGABYTE
    assert 0.8 * taken < run.nbytes < 1.25 * taken


def test_what_is_held_twice_counts_once() -> None:
    text = "x" * 1000
    assert size_of([text, text]) < size_of([text, "y" * 1000])
    assert size_of(None) == size_of(3) == size_of(True) == 0


def test_what_grows_is_measured_anew() -> None:
    trace, _ = decode(length=40)
    short, _ = decode(length=4)
    assert Run.of(trace, "done").nbytes > Run.of(short, "done").nbytes

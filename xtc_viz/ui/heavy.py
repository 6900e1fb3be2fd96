"""Whole runs, read and written where it holds up nobody: in another process, within limits.

What is small is done at once, as the way there and back takes longer; a stranger's file never is,
as its cost is not known before it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import date
from typing import Any, TypeVar

from xtc_viz.errors import SettingsError, Words
from xtc_viz.records import tracefile
from xtc_viz.records.trace import Trace
from xtc_viz.settings import XTCSettings
from xtc_viz.sideprocess import MIB, Cost, SidePool, pool
from xtc_viz.ui import exports, payload
from xtc_viz.ui.limits import NO_LIMITS
from xtc_viz.ui.payload import Json
from xtc_viz.ui.run import Run

READING = Cost(seconds=60.0, memory=1024 * MIB)
WRITING = Cost(seconds=60.0, memory=1024 * MIB)
SMALL = MIB // 4  # bytes of a run
SHORT = 8_000  # steps of all lanes together: about 0.1 s of drawing up or of looking along them
LONGEST_TRACE = payload.LONGEST_ANSWER

KINDS = ("trace", "table", "replay")
VISITOR: ContextVar[str] = ContextVar("visitor", default="")
"""Who asks, where that is known, so that nobody takes every process."""

results = SidePool(processes=1, waiting=10**6)
"""For what a model has written already: nobody is turned away."""

T = TypeVar("T")


def loaded(text: object, run_id: str) -> tuple[Run, Json]:
    """Return the run in a trace file, and the message that shows it. Raises `XTCVizError`."""
    if not isinstance(text, str) or len(text) > LONGEST_TRACE:
        length = Words(f"{len(text):,} characters") if isinstance(text, str) else text
        raise SettingsError("trace", f"a text of at most {LONGEST_TRACE:,} characters", length)
    return pool.call(
        "Reading this trace", _loaded, text, run_id, most=READING, visitor=VISITOR.get()
    )


def opened(run: Run, run_id: str, at: list[int]) -> Json:
    """Return what a page that has `at[lane]` steps of a run does not have. Raises `XTCVizError`."""
    return along(run, "Opening this run", _opened, run, run_id, at)


def along(run: Run, what: str, function: Callable[..., T], *arguments: Any) -> T:
    """Return `function(*arguments)`, which looks at every step of the run."""
    if sum(run.lengths) <= SHORT:
        return function(*arguments)
    return pool.call(what, function, *arguments, most=WRITING, visitor=VISITOR.get())


def exported(run: Run, kind: object, spec: dict[str, object], day: date) -> Json:
    """Return a run to keep: a `trace`, a `table` or a `replay`. Raises `XTCVizError`."""
    if kind not in KINDS:
        raise SettingsError("kind", ", ".join(KINDS), kind)
    return _written(f"Writing this {kind}", run, _exported, run, kind, spec, day)


def drawn(run: Run, wanted: Any, others: Mapping[int, XTCSettings]) -> Json:
    """Return the figure that is `wanted` of a run, as the text of a file. Raises `XTCVizError`."""
    arguments = (run, wanted, dict(others))
    visitor = VISITOR.get()
    return pool.call("Drawing this figure", _drawn, *arguments, most=WRITING, visitor=visitor)


def result(trace: Trace, nbytes: int) -> Json:
    """Return a run that has just been written as the text of a trace file. Raises `XTCVizError`."""
    if nbytes <= SMALL:
        return _result(trace)
    return results.call("Writing this trace", _result, trace, most=WRITING)


def _written(what: str, run: Run, function: Callable[..., T], *arguments: Any) -> T:
    if run.nbytes <= SMALL and run.state != "loaded":
        return function(*arguments)
    return pool.call(what, function, *arguments, most=WRITING, visitor=VISITOR.get())


def _loaded(text: str, run_id: str) -> tuple[Run, Json]:
    trace = tracefile.loads(text)
    NO_LIMITS.check_lanes(len(trace.lanes))
    run = Run.of(trace, "loaded")
    answer = payload.answer({**run.whole(run_id), "unknown": trace.unknown_columns})
    run.nbytes  # noqa: B018 (measured here, where it holds up nobody)
    return run, answer


def _opened(run: Run, run_id: str, at: list[int]) -> Json:
    return payload.answer(run.whole(run_id, at))


def _exported(run: Run, kind: str, spec: dict[str, object], day: date) -> Json:
    if kind == "trace":
        return payload.answer(tracefile.dumps(run.trace()))
    if kind == "table":
        return payload.answer(exports.table(run.trace()))
    return payload.answer(exports.replay(run, spec, day))


def _drawn(run: Run, wanted: Any, others: dict[int, XTCSettings]) -> Json:
    from xtc_viz.ui import figures  # and with it plotly

    return payload.answer(figures.interactive(run, wanted, others))


def _result(trace: Trace) -> Json:
    text = Json(tracefile.dumps(trace))
    return payload.answer(text)

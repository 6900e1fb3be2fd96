"""What all visitors of one server share, and the one way to wait for a turn and write a run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread

from xtc_viz.decode import decode_lanes
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.state import HostState
from xtc_viz.rows import decode_rows
from xtc_viz.runs.jobs import Job
from xtc_viz.runs.record import write
from xtc_viz.runs.recorder import Recorder
from xtc_viz.runs.worker import Decode, DecodeRows
from xtc_viz.ui.access import May
from xtc_viz.ui.audience import Audience
from xtc_viz.ui.limits import NO_LIMITS, Limits
from xtc_viz.ui.runs import RunStore

SOON = 0.02  # seconds between two looks at the queue of who is next,
PATIENCE = 0.25  # and of all others, and so at a visitor who has left
NEWS = 0.05  # seconds a place between two messages to a run that waits: at the 20th, one a second
AT_ONCE = 512  # runs that go, wait or begin; a run that waits costs no thread
THREADS = 32

T = TypeVar("T")

Plan = Callable[[LanguageModel], Job]
"""What to decode, once it is known which model does it."""

Work = Callable[[LanguageModel, Callable[[], bool]], Generator[T, None, None]]
"""What is done with the model in its turn, step by step; the second argument says whether nobody
wants more of it."""


class Stops:
    """Which runs are to stop. Safe to use from many threads."""

    def __init__(self) -> None:
        self._events: dict[str, threading.Event] = {}

    def open(self, run_id: str) -> threading.Event:
        return self._events.setdefault(run_id, threading.Event())

    def close(self, run_id: str) -> None:
        self._events.pop(run_id, None)

    def stop(self, run_id: object) -> bool:
        """Let a run stop at its next step; returns whether it was going."""
        event = self._events.get(run_id) if isinstance(run_id, str) else None
        if event:
            event.set()
        return event is not None


@dataclass(frozen=True, slots=True)
class Service:
    """One server: the model's owner, the runs that it keeps, and what its visitors may do.

    `limits` are those of a run (those of the queue are the host's), `decode` decodes its lanes,
    `rows` whatever else is decoded, and `may` says which models visitors may load.
    """

    host: ModelHost
    store: RunStore = field(default_factory=RunStore)
    stops: Stops = field(default_factory=Stops)
    limits: Limits = NO_LIMITS
    decode: Decode = decode_lanes
    rows: DecodeRows = decode_rows
    may: May = May.FIXED


class Waiting(NamedTuple):
    """`place` decodes and loads go before; `state` is how the model is meanwhile."""

    place: int
    state: HostState


class Running(NamedTuple):
    """More is in the record."""

    recorder: Recorder


class Ended(NamedTuple):
    """All is in the record that there will be; `stopped` says that somebody wanted no more, or
    that nobody listened."""

    recorder: Recorder
    stopped: bool


Event = Waiting | Running | Ended


def waits_for(state: HostState) -> str:
    """What to say to a run that waits, where there is more to say than its place."""
    if not state.load:
        return ""
    if state.info and not state.resting:
        return (
            f"Waiting for the runs ahead of yours. {state.load.name} is being loaded meanwhile; "
            "if it is there first, it writes your run."
        )
    return f"{state.load.name} is still loading; your run starts by itself."


async def events(
    service: Service,
    plan: Plan,
    visitor: str = "",
    stop: threading.Event | None = None,
    audience: Audience | None = None,
    interval: float = 0.0,
) -> AsyncGenerator[Event, None]:
    """Wait for the model's turn and write a run, telling of it once in `interval` seconds.

    The last event is an `Ended`; of a run that was stopped while it waited there is none. All else
    is as `in_turn` has it.

    Raises:
        XTCVizError: what is wrong with the plan, or a full queue (`BusyError`).
    """

    def work(
        model: LanguageModel, over: Callable[[], bool]
    ) -> Generator[Running | Ended, None, None]:
        return _written(service, plan, model, over, interval)

    end: Ended | None = None
    async with aclosing(in_turn(service, work, visitor, stop, audience)) as every:
        async for event in every:
            if isinstance(event, Ended):
                end = event
            else:
                yield event
    if end:  # told when the turn has been given up, so that what follows finds the model free
        yield end


async def in_turn(
    service: Service,
    work: Work[T],
    visitor: str = "",
    stop: threading.Event | None = None,
    audience: Audience | None = None,
) -> AsyncGenerator[Waiting | T, None]:
    """Wait for the model's turn, and yield what comes of the work with it.

    It waits on the event loop and takes a thread only while it works, so any number may wait. Work
    takes its place in the queue when somebody listens, and gives it up however this ends: `stop`,
    an audience that is gone and closing this generator are noticed at its next step, or at the next
    look at the queue.

    Raises:
        BusyError: the queue is full.
    """
    stop, audience = stop or threading.Event(), audience or Audience()

    def over() -> bool:
        return stop.is_set() or audience.gone

    while not audience.present:
        if over():
            return
        await asyncio.sleep(SOON)
    with service.host.turn(visitor) as turn:
        before, due = None, 0.0
        while not turn.wait(0):
            if over():
                return
            waiting = Waiting(turn.ahead, service.host.state)
            if waiting != before and perf_counter() >= due:
                yield waiting
                # Each place that becomes free is news for all behind it: the further, the rarer.
                before, due = waiting, perf_counter() + NEWS * waiting.place
            await asyncio.sleep(SOON if waiting.place < 2 else PATIENCE)
        async with aclosing(threaded(work(turn.model, over))) as every:
            async for value in every:
                yield value


def _written(
    service: Service, plan: Plan, model: LanguageModel, over: Callable[[], bool], interval: float
) -> Generator[Running | Ended, None, None]:
    job = plan(model)
    recorder = Recorder(job.begin, job.lanes)
    stopped, due = False, 0.0
    with closing(write(job, recorder, model, service.decode)) as steps:
        for _ in steps:
            if stopped := over():
                break
            if perf_counter() >= due:
                yield Running(recorder)
                due = perf_counter() + interval
    yield Ended(recorder, stopped)


async def threaded(values: Generator[T, None, None]) -> AsyncGenerator[T, None]:
    """Yield the values of a generator, each made in a thread of `in_thread`."""
    end = object()
    try:
        while (value := await in_thread(next, values, end)) is not end:
            yield value
    finally:
        await in_thread(values.close)


async def in_thread(function: Callable[..., T], *arguments: object) -> T:
    """Return `function(*arguments)`, done in one of a few threads that only runs and questions use.

    It is waited for even where this is cancelled: what it works on is then free.
    """
    work = asyncio.ensure_future(anyio.to_thread.run_sync(function, *arguments, limiter=_threads()))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        while not work.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait((work,))
        if not work.cancelled():
            work.exception()  # else asyncio complains that nobody has seen it
        raise


_LIMITERS: WeakKeyDictionary[asyncio.AbstractEventLoop, anyio.CapacityLimiter] = WeakKeyDictionary()


def _threads() -> anyio.CapacityLimiter:
    loop = asyncio.get_running_loop()
    return _LIMITERS.setdefault(loop, anyio.CapacityLimiter(THREADS))

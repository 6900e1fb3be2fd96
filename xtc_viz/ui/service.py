"""What all visitors of one server share, and the one way to wait for a turn and write a run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import NamedTuple

from xtc_viz.decode import decode_lanes
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.state import HostState
from xtc_viz.runs.jobs import Job
from xtc_viz.runs.record import write
from xtc_viz.runs.recorder import Recorder
from xtc_viz.runs.worker import Decode
from xtc_viz.ui.access import May
from xtc_viz.ui.limits import NO_LIMITS, Limits
from xtc_viz.ui.runs import RunStore

PATIENCE = 0.25  # seconds between two looks at the queue, and so at a visitor who has left
AT_ONCE = 32  # calls of one kind; they share one model, and the others wait and learn their place

Plan = Callable[[LanguageModel], Job]
"""What to decode, once it is known which model does it."""


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

    `limits` are those of a run (those of the queue are the host's), `decode` decodes it, and `may`
    says which models visitors may load.
    """

    host: ModelHost
    store: RunStore = field(default_factory=RunStore)
    stops: Stops = field(default_factory=Stops)
    limits: Limits = NO_LIMITS
    decode: Decode = decode_lanes
    may: May = May.FIXED


class Waiting(NamedTuple):
    """`place` decodes and loads go before; `state` is how the model is meanwhile."""

    place: int
    state: HostState


class Running(NamedTuple):
    """One more step is in the record."""

    recorder: Recorder


class Ended(NamedTuple):
    """All is in the record that there will be; `stopped` says that somebody wanted no more."""

    recorder: Recorder
    stopped: bool


Event = Waiting | Running | Ended


def events(
    service: Service, plan: Plan, visitor: str = "", stop: threading.Event | None = None
) -> Generator[Event, None, None]:
    """Wait for the model's turn and write a run.

    The last event is an `Ended`; of a run that was stopped while it waited there is none.

    The turn is given up however this ends: `stop` and closing this generator are noticed at the
    next step, or at the next look at the queue.

    Raises:
        XTCVizError: what is wrong with the plan, or a full queue (`BusyError`).
    """
    stop = stop or threading.Event()
    with service.host.turn(visitor) as turn:
        while not turn.wait(PATIENCE):
            if stop.is_set():
                return
            yield Waiting(turn.ahead, service.host.state)
        model = turn.model
        job = plan(model)
        recorder = Recorder(job.begin, job.lanes)
        with closing(write(job, recorder, model, service.decode)) as steps:
            for _ in steps:
                if stop.is_set():
                    break
                yield Running(recorder)
    yield Ended(recorder, stopped=stop.is_set())

"""One press of Generate from the request to the last token, as messages to the page."""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from xtc_viz.decode import decode_lanes
from xtc_viz.errors import PromptError, SettingsError, XTCVizError
from xtc_viz.models.host import ModelHost, Turn
from xtc_viz.models.state import HostState
from xtc_viz.runs.jobs import prepare
from xtc_viz.runs.worker import Decode
from xtc_viz.ui import controls, payload
from xtc_viz.ui.limits import NO_LIMITS, Limits
from xtc_viz.ui.runs import RunStore
from xtc_viz.ui.wording import in_words

INTERVAL = 0.05  # seconds between two messages: 20 a second are all that an eye can use
PATIENCE = 0.25  # seconds between two looks at the queue, and so at a closed tab
log = logging.getLogger(__name__)


class Stops:
    """Which runs have been told to stop. Safe to use from many threads."""

    def __init__(self) -> None:
        self._events: dict[str, threading.Event] = {}

    def open(self, run_id: str) -> threading.Event:
        return self._events.setdefault(run_id, threading.Event())

    def close(self, run_id: str) -> None:
        self._events.pop(run_id, None)

    def stop(self, run_id: object) -> bool:
        """Tell a run to stop at its next step; returns whether it was going."""
        event = self._events.get(run_id) if isinstance(run_id, str) else None
        if event:
            event.set()
        return event is not None


def problem(error: XTCVizError) -> dict[str, Any]:
    """An error as the page shows it: the field that it belongs to, and the words."""
    answer: dict[str, Any] = {"message": in_words(error)}
    if isinstance(error, SettingsError):
        answer["field"] = error.parameter
    if isinstance(error, PromptError):
        answer["field"] = "prompt"
    if isinstance(error, controls.LaneError):
        answer["lane"] = error.lane
    return answer


@dataclass(frozen=True, slots=True)
class Service:
    """What all runs of a page share: the model's owner, the runs, and what they may be."""

    host: ModelHost
    store: RunStore
    stops: Stops = field(default_factory=Stops)
    limits: Limits = NO_LIMITS
    decode: Decode = decode_lanes


def stream(service: Service, data: object, visitor: str = "") -> Iterator[str]:
    """Yield `messages` as JSON."""
    with closing(messages(service, data, visitor)) as found:
        for message in found:
            yield payload.encode(message)


def messages(
    service: Service, data: object, visitor: str = ""
) -> Generator[dict[str, Any], None, None]:
    """Run one request of a visitor and yield messages for the page, at most 20 a second.

    The model's lease is taken inside, and given back however this ends: closing the generator (a
    closed tab) is noticed at its next message, a stop at the next step.
    """
    asked: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    run_id = service.store.reserve()
    about = {"req": asked.get("req", 0), "run": run_id}
    stop = service.stops.open(run_id)
    try:
        if asked.get("kind", "run") == "run":
            # What is wrong should be said at once, not after the waiting.
            controls.parse(asked, service.limits)
        yield {**about, "state": "starting"}
        turn = service.host.turn(visitor)
        with closing(_run(service, turn, asked, run_id, stop)) as found:
            for message in found:
                yield {**about, **message}
    except XTCVizError as error:
        yield {**about, "error": problem(error)}
    except Exception:
        log.exception("a run failed")
        words = "Something went wrong on the server; its log says what. What you see is kept."
        yield {**about, "error": {"message": words}}
    finally:
        service.stops.close(run_id)


def _waits_for(state: HostState) -> str:
    """What to tell a run that waits, where there is more to say than its place."""
    if not state.load:
        return ""
    if state.info and not state.resting:
        return (
            f"Waiting for the runs ahead of yours. {state.load.name} is being loaded meanwhile; "
            "if it is there first, it writes your run."
        )
    return f"{state.load.name} is still loading; your run starts by itself."


def _run(
    service: Service,
    turn: Turn,
    asked: Mapping[str, Any],
    run_id: str,
    stop: threading.Event,
) -> Generator[dict[str, Any], None, None]:
    with turn:
        while not turn.wait(PATIENCE):
            if stop.is_set():
                yield {"state": "stopped"}
                return
            yield {"state": "waiting", "place": turn.ahead, "note": _waits_for(service.host.state)}
        model = turn.model
        job = prepare(asked, service.store, model, service.limits)
        run = job.run
        told, at = 0.0, [0] * len(run.lanes)
        with closing(job.columns(model, service.decode)) as columns:
            for column in columns if job.lanes else ():
                run.add(column, job.lanes, model.token_text)
                if not told:
                    # Only now is it certain that the prompt fits: the page keeps the former run
                    # on show until there is something to take its place.
                    service.store.add(run, run_id)
                    run.state = "running"
                if stop.is_set():
                    break
                if perf_counter() - told >= INTERVAL:
                    yield run.message(at) if told else run.whole(run_id)
                    told, at = perf_counter(), run.lengths
        run.state = "stopped" if stop.is_set() else "done"
    if not told:
        service.store.add(run, run_id)
        yield run.whole(run_id)
    else:
        yield run.message(at)

"""The one way in which a run waits for its turn, is written, stopped and given up."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.ui.driven import events
from tests.ui.factories import run_settings
from xtc_viz.decode import decode_lanes
from xtc_viz.errors import BusyError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.runs.jobs import Job, fresh
from xtc_viz.runs.request import Request
from xtc_viz.ui.service import Ended, Running, Service, Stops, Waiting


def plan(length: int = 5) -> Callable[[LanguageModel], Job]:
    return lambda model: fresh(Request("Once", run_settings(length)), model)


@pytest.fixture
def service() -> Service:
    return Service(ModelHost(FakeModel()))


def is_free(service: Service) -> bool:
    with service.host.turn() as turn:
        return turn.wait(0) and not service.host.waiting


def test_every_step_is_an_event_and_the_end_is_the_last(service: Service) -> None:
    every = list(events(service, plan()))
    assert [type(event) for event in every] == [Running] * 5 + [Ended]
    last = every[-1]
    assert isinstance(last, Ended)
    assert (last.stopped, len(last.recorder.lanes[0].steps)) == (False, 5)
    assert is_free(service)


def test_the_turn_is_over_before_the_end_is_told(service: Service) -> None:
    every = events(service, plan())
    assert isinstance([next(every) for _ in range(6)][-1], Ended)
    assert is_free(service)


def test_who_waits_is_told_the_place_and_starts_in_turn(service: Service) -> None:
    with service.host.turn() as turn:
        assert turn.wait(0)
        waiting = events(service, plan())
        event = next(waiting)
        assert isinstance(event, Waiting)
        assert (event.place, event.state.phase) == (1, "ready")
    assert isinstance(list(waiting)[-1], Ended)


@pytest.mark.parametrize("close", [True, False])
def test_a_place_in_the_line_is_given_up(service: Service, close: bool) -> None:
    stop = threading.Event()
    with service.host.turn() as turn:
        assert turn.wait(0)
        waiting = events(service, plan(), stop=stop)
        next(waiting)
        assert service.host.waiting == 1
        if close:
            waiting.close()
        else:
            stop.set()
            assert list(waiting) == [], "there is nothing to show"
        assert service.host.waiting == 0


def test_a_stop_ends_it_at_the_next_step(service: Service) -> None:
    stop = threading.Event()
    running = events(service, plan(500), stop=stop)
    next(running)
    stop.set()
    (last,) = running
    assert isinstance(last, Ended)
    assert (last.stopped, [len(lane.steps) for lane in last.recorder.lanes]) == (True, [2, 2])
    assert is_free(service)


def test_closing_it_frees_the_model() -> None:
    model = FakeModel()
    service = Service(ModelHost(model))
    running = events(service, plan(500))
    next(running)
    assert model.open_generations == 1
    running.close()
    assert model.open_generations == 0
    assert is_free(service)


def test_a_plan_that_cannot_be_gives_the_turn_up(service: Service) -> None:
    def wrong(model: LanguageModel) -> Job:
        raise BusyError("no")

    with pytest.raises(BusyError, match="no"):
        next(events(service, wrong))
    assert is_free(service)


def test_the_limits_of_the_line_are_the_visitors() -> None:
    service = Service(ModelHost(FakeModel(), max_per_visitor=1))
    running = events(service, plan(), "ada")
    next(running)
    with pytest.raises(BusyError, match="One run of yours"):
        next(events(service, plan(), "ada"))
    assert isinstance(next(events(service, plan(), "bob")), Waiting)


def test_it_decodes_as_the_service_says(service: Service) -> None:
    lengths: list[int] = []

    def decode(model, prompt_ids, settings, **lanes):
        lengths.append(settings.max_new_tokens)
        return decode_lanes(model, prompt_ids, settings, **lanes)

    elsewhere = Service(service.host, decode=decode)
    assert isinstance(list(events(elsewhere, plan(3)))[-1], Ended)
    assert lengths == [3]


def test_a_run_can_be_stopped_from_its_begin_to_its_end() -> None:
    stops = Stops()
    event = stops.open("a")
    assert stops.open("a") is event
    assert (stops.stop("b"), stops.stop(None), event.is_set()) == (False, False, False)
    assert stops.stop("a")
    assert event.is_set()
    stops.close("a")
    assert not stops.stop("a")

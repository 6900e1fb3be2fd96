"""Which model is in use and which is to come: every move by hand, without threads."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import BusyError, ModelError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.load import Load
from xtc_viz.models.occupancy import Occupancy
from xtc_viz.models.queue import Place, TurnQueue
from xtc_viz.models.spec import ModelSpec
from xtc_viz.models.state import HostState, LoadState

ONE, TWO = ModelSpec("one"), ModelSpec("two")


def with_model(spec: ModelSpec = ONE) -> Occupancy:
    """A model that was loaded and could be loaded again."""
    occupancy = Occupancy(None, TurnQueue())
    occupancy.install(FakeModel(name=spec.name), spec)
    return occupancy


def test_the_first_model() -> None:
    occupancy, decode, load = Occupancy(None, TurnQueue()), Place(), Load(ONE)
    assert occupancy.state.phase == "empty"
    occupancy.begin(load)
    assert occupancy.state == HostState(load=LoadState(load.id, "one"))
    occupancy.turns.join(decode)
    assert not occupancy.is_next(decode)
    assert occupancy.ahead(decode) == 1
    reader = Place(for_load=True)
    occupancy.turns.join(reader)
    assert occupancy.is_next(reader), "it brings what the decode waits for"
    occupancy.turns.begin(reader)
    occupancy.install(FakeModel(), ONE)
    occupancy.turns.leave(reader)
    occupancy.end(load)
    assert occupancy.is_next(decode)
    occupancy.turns.begin(decode)
    assert occupancy.model_for(decode) is occupancy.model
    assert occupancy.state == HostState(info=FakeModel().info)


def test_the_model_is_for_the_active_place_alone() -> None:
    occupancy, first, second = with_model(), Place(), Place()
    for place in (first, second):
        occupancy.turns.join(place)
    with pytest.raises(BusyError, match="in use by another"):
        occupancy.model_for(first)
    occupancy.turns.begin(first)
    assert occupancy.model_for(first) is occupancy.model
    with pytest.raises(BusyError, match="in use by another"):
        occupancy.model_for(second)


def test_a_failure_is_said_until_the_next_load_begins() -> None:
    occupancy, load = with_model(), Load(TWO)
    occupancy.begin(load)
    load.error = ModelError("The weights of two are broken.")
    occupancy.end(load)
    assert (occupancy.state.phase, occupancy.state.failure) == ("failed", str(load.error))
    assert occupancy.state.info == FakeModel(name="one").info
    occupancy.begin(Load(TWO))
    assert (occupancy.state.phase, occupancy.state.failure) == ("loading", "")


def test_a_load_that_was_stopped_is_no_failure() -> None:
    occupancy, load = with_model(), Load(TWO)
    occupancy.begin(load)
    load.stop()
    load.error = ModelError("Loading two was stopped.")
    occupancy.end(load)
    assert occupancy.state.phase == "ready"


def test_the_next_load_is_shown_when_the_one_before_it_ends() -> None:
    occupancy, first, second = with_model(), Load(ONE), Load(TWO)
    occupancy.begin(first)
    occupancy.begin(second)
    assert occupancy.state.load == LoadState(first.id, "one")
    occupancy.end(first)
    assert occupancy.state.load == LoadState(second.id, "two")


def test_what_may_rest() -> None:
    occupancy, place, load = with_model(), Place(), Load(TWO)
    assert occupancy.is_idle
    occupancy.turns.join(place)
    assert not occupancy.is_idle
    with pytest.raises(BusyError, match="when no run is going on"):
        occupancy.rest()
    occupancy.turns.leave(place)
    occupancy.begin(load)
    with pytest.raises(BusyError, match="two is being loaded"):
        occupancy.rest()
    occupancy.end(load)
    occupancy.rest()
    assert occupancy.model is None
    assert occupancy.state == HostState(info=FakeModel(name="one").info, resting=True)
    given = Occupancy(FakeModel(), TurnQueue())
    for resting in (occupancy, given):
        assert not resting.can_rest
        with pytest.raises(ModelError, match="could come back by itself"):
            resting.rest()


def test_who_brings_the_model_at_rest_back() -> None:
    occupancy = with_model()
    occupancy.rest()
    assert occupancy.return_load() is None, "nobody waits for it"
    place = Place()
    occupancy.turns.join(place)
    load = occupancy.return_load()
    assert load
    assert (load.spec, occupancy.state.load) == (ONE, LoadState(load.id, "one"))
    assert occupancy.return_load() is None, "it is on its way"
    occupancy.end(load)
    assert occupancy.return_load(load) is None, "it has just failed"
    occupancy.turns.begin(place)
    with pytest.raises(ModelError, match="one was not loaded again"):
        occupancy.model_for(place)
    other = Load(TWO)
    occupancy.begin(other)
    occupancy.end(other)
    assert occupancy.return_load(other), "the failure of another model is no reason to give up"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["join", "turn", "leave", "begin", "install", "end", "rest"]),
            st.integers(0, 3),
        ),
        max_size=30,
    )
)
def test_whatever_comes_and_goes_the_state_says_what_is(moves: list[tuple[str, int]]) -> None:
    occupancy = with_model()
    places, waiting = [Place() for _ in range(4)], list[Place]()
    for move, number in moves:
        place = places[number]
        if move == "join" and place not in waiting:
            occupancy.turns.join(place)
            waiting.append(place)
            occupancy.return_load()
        elif move == "turn" and occupancy.is_next(place):
            occupancy.turns.begin(place)
        elif move == "leave":
            occupancy.turns.leave(place)
            waiting = [other for other in waiting if other is not place]
        elif move == "begin":
            occupancy.begin(Load((ONE, TWO)[number % 2]))
        elif move == "install" and occupancy.loads and occupancy.turns.active is None:
            spec = occupancy.loads[0].spec
            occupancy.install(FakeModel(name=spec.name), spec)
        elif move == "end" and occupancy.loads:
            load = occupancy.loads[number % len(occupancy.loads)]
            load.error = ModelError("broken") if number else None
            occupancy.end(load)
            occupancy.return_load(load)
        elif move == "rest":
            with suppress(BusyError, ModelError):
                occupancy.rest()
        state = occupancy.state
        assert state.resting == (occupancy.model is None)
        assert state.info
        assert occupancy.spec
        assert state.info.name == occupancy.spec.name, "at rest too the page names the model"
        assert state.load is None or state.load.id in [load.id for load in occupancy.loads]
        assert occupancy.is_idle == (not waiting and occupancy.model is not None)
        active = occupancy.turns.active
        if active and occupancy.model:
            assert occupancy.model_for(active) is occupancy.model

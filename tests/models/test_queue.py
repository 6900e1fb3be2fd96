"""The queue for the model: one is active at a time, in the order of asking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import BusyError
from xtc_viz.models.queue import Place, TurnQueue


def test_one_after_the_other() -> None:
    queue, first, second = TurnQueue(), Place(), Place()
    queue.join(first)
    queue.join(second)
    assert queue.is_next(first, False)
    assert not queue.is_next(second, False)
    queue.begin(first)
    assert (queue.active, queue.waiting) == (first, 1)
    assert queue.ahead(second, False) == 1
    queue.leave(first)
    assert queue.is_next(second, False)
    with pytest.raises(RuntimeError, match="entered before"):
        queue.join(second)


def test_the_load_that_decodes_wait_for_goes_before_them() -> None:
    queue, decode, load = TurnQueue(), Place(), Place(for_load=True)
    queue.join(decode)
    queue.join(load)
    assert queue.ahead(decode, True) == 1
    assert not queue.is_next(decode, True)
    assert queue.is_next(load, True)
    queue.begin(load)
    assert queue.ahead(decode, True) == 1, "it has moved behind the load"
    queue.leave(load)
    assert queue.is_next(decode, False)


def test_full_for_all_and_for_one_visitor() -> None:
    queue = TurnQueue(max_waiting=2, max_per_visitor=2)
    queue.join(Place("a"))
    queue.join(Place("a"))
    with pytest.raises(BusyError, match="2 runs of yours are going or waiting"):
        queue.join(Place("a"))
    queue.join(Place("b"))
    with pytest.raises(BusyError, match="2 runs are waiting already"):
        queue.join(Place())
    queue.join(Place(for_load=True))
    assert queue.waiting == 3


@given(st.lists(st.tuples(st.sampled_from(["join", "begin", "leave"]), st.integers(0, 5))))
def test_whoever_comes_and_goes_the_order_of_asking_holds(
    events: list[tuple[str, int]],
) -> None:
    queue, places = TurnQueue(), [Place() for _ in range(6)]
    joined: list[Place] = []
    for event, number in events:
        place = places[number]
        if event == "join" and place not in joined:
            queue.join(place)
            joined.append(place)
        elif event == "begin" and queue.is_next(place, False):
            queue.begin(place)
            assert place is joined[0], "nobody overtakes"
        elif event == "leave":
            queue.leave(place)
            joined = [other for other in joined if other is not place]
        assert queue.waiting == max(0, len(joined) - 1)
        assert [queue.ahead(other, False) for other in joined] == list(range(len(joined)))
    assert queue.empty == (not joined)


def test_in_the_background_one_goes_behind_all_others_and_is_not_counted() -> None:
    queue, quiet, visitor = TurnQueue(max_waiting=0), Place(background=True), Place("a")
    queue.join(quiet)
    assert queue.is_next(quiet, False)
    queue.begin(quiet)
    assert not queue.wanted
    queue.join(visitor)
    assert (queue.wanted, queue.waiting, queue.ahead(visitor, False)) == (True, 0, 0)
    assert not queue.is_next(visitor, False)
    queue.pause(quiet)
    assert queue.is_next(visitor, False)
    assert queue.ahead(quiet, False) == 1
    queue.begin(visitor)
    with pytest.raises(BusyError):
        queue.join(Place("b"))
    queue.leave(visitor)
    assert queue.is_next(quiet, False)
    assert not queue.empty


def test_who_comes_later_still_goes_before_the_background() -> None:
    queue, quiet = TurnQueue(), Place(background=True)
    queue.join(quiet)
    first, second, load = Place(), Place(), Place(for_load=True)
    for place in (first, second, load):
        queue.join(place)
    for place in (first, second, load):
        assert not queue.is_next(quiet, False)
        assert queue.is_next(place, False)
        queue.begin(place)
        queue.pause(quiet)  # of one that is not active it changes nothing
        queue.leave(place)
    assert queue.is_next(quiet, False)


@given(st.lists(st.tuples(st.sampled_from(["join", "begin", "pause", "leave"]), st.integers(0, 5))))
def test_the_background_is_next_only_where_nobody_else_is(events: list[tuple[str, int]]) -> None:
    queue, places = TurnQueue(), [Place(background=number > 3) for number in range(6)]
    inside: set[int] = set()
    for event, number in events:
        place = places[number]
        if event == "join" and number not in inside:
            queue.join(place)
            inside.add(number)
        elif event == "begin" and number in inside and queue.is_next(place, False):
            queue.begin(place)
        elif event == "pause" and place.background:
            queue.pause(place)
        elif event == "leave":
            queue.leave(place)
            inside.discard(number)
        others = any(not places[n].background for n in inside)
        assert queue.wanted == others
        nexts = [n for n in inside if queue.is_next(places[n], False)]
        assert len(nexts) == bool(inside)
        if queue.active is None and others:
            assert not places[nexts[0]].background

"""The line for the model: one goes at a time, in the order of asking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import BusyError
from xtc_viz.models.queue import Line, Place


def test_one_after_the_other() -> None:
    line, first, second = Line(), Place(), Place()
    line.join(first)
    line.join(second)
    assert line.is_next(first, False)
    assert not line.is_next(second, False)
    line.begin(first)
    assert (line.going, line.waiting) == (first, 1)
    assert line.ahead(second, False) == 1
    line.leave(first)
    assert line.is_next(second, False)
    with pytest.raises(RuntimeError, match="entered before"):
        line.join(second)


def test_the_load_that_decodes_wait_for_goes_before_them() -> None:
    line, decode, load = Line(), Place(), Place(for_load=True)
    line.join(decode)
    line.join(load)
    assert line.ahead(decode, True) == 1
    assert not line.is_next(decode, True)
    assert line.is_next(load, True)
    line.begin(load)
    assert line.ahead(decode, True) == 1, "it has moved behind the load"
    line.leave(load)
    assert line.is_next(decode, False)


def test_full_for_all_and_for_one_visitor() -> None:
    line = Line(max_waiting=2, max_per_visitor=2)
    line.join(Place("a"))
    line.join(Place("a"))
    with pytest.raises(BusyError, match="2 runs of yours are going or waiting"):
        line.join(Place("a"))
    line.join(Place("b"))
    with pytest.raises(BusyError, match="2 runs are waiting already"):
        line.join(Place())
    line.join(Place(for_load=True))
    assert line.waiting == 3


@given(st.lists(st.tuples(st.sampled_from(["join", "begin", "leave"]), st.integers(0, 5))))
def test_whoever_comes_and_goes_the_order_of_asking_holds(
    events: list[tuple[str, int]],
) -> None:
    line, places = Line(), [Place() for _ in range(6)]
    asked: list[Place] = []
    for event, number in events:
        place = places[number]
        if event == "join" and place not in asked:
            line.join(place)
            asked.append(place)
        elif event == "begin" and line.is_next(place, False):
            line.begin(place)
            assert place is asked[0], "nobody overtakes"
        elif event == "leave":
            line.leave(place)
            asked = [other for other in asked if other is not place]
        assert line.waiting == max(0, len(asked) - 1)
        assert [line.ahead(other, False) for other in asked] == list(range(len(asked)))
    assert line.empty == (not asked)

"""The desk: no cell is with two, none is lost, whoever comes and goes."""

from __future__ import annotations

import threading
from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.lab.test_runner import TOTAL, plan
from xtc_viz.lab.cell import Cell
from xtc_viz.lab.news import Absence, News
from xtc_viz.lab.store import Written
from xtc_viz.lab.workers.desk import Desk
from xtc_viz.models.fake import FakeModel

CELLS = plan(FakeModel())


def written(cell: Cell) -> News:
    own = Written(cell.name, {}, {}, 0, 1, (), "length", (1,), "a", 0.0, {}, b"")
    return News((own,), tokens=1)


def test_a_cell_that_is_lost_goes_to_another() -> None:
    desk = Desk()
    desk.fill(iter(CELLS[:3]), 2)
    first, second = (desk.take("a", wait=False) for _ in range(2))
    assert (first, second, desk.take("b", wait=False)) == (CELLS[0], CELLS[1], None)
    desk.fill(iter(CELLS[2:3]), 2)
    desk.absent("a", Absence("a", "gone", 0.0, 1.0))
    assert desk.give_back("a") == 2
    # In the order in which they were, before those that nobody began.
    assert [desk.take("b", wait=True) for _ in range(3)] == CELLS[:3]
    for cell in CELLS[:3]:
        assert not desk.done
        assert desk.report("b", written(cell))
    news = desk.news(0.0)
    assert [own.name for own in news.written] == [cell.name for cell in CELLS[:3]]
    assert (news.tokens, [one.who for one in news.absent]) == (3, ["a"])
    assert desk.done
    assert desk.take("b", wait=True) is None


def test_what_somebody_raised_ends_the_run_and_closing_lets_all_go() -> None:
    desk = Desk()
    desk.fill(iter(CELLS[:1]), 1)
    assert desk.take("a", wait=True) == CELLS[0]
    waits = threading.Thread(target=desk.take, args=("b",), kwargs={"wait": True})
    waits.start()  # "a" may lose its cell yet
    desk.fail(MemoryError("full"))
    with pytest.raises(MemoryError, match="full"):
        desk.news(60.0)
    desk.close()
    waits.join(60)
    assert not waits.is_alive()
    assert not desk.pause(60.0)
    assert not desk.report("a", News(flying=1))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["take", "write", "lose"]))))
def test_each_cell_is_written_once(actions: list[tuple[str, str]]) -> None:
    desk, source = Desk(), iter(CELLS)
    held: dict[str, list[Cell]] = {who: [] for who in "abc"}
    came: Counter[str] = Counter()

    def listen() -> None:
        desk.fill(source, 4)
        came.update(own.name for own in desk.news(0.0).written)

    def write(who: str) -> None:
        desk.report(who, written(held[who].pop()))

    for who, action in actions:
        listen()
        if action == "take" and (cell := desk.take(who, wait=False)):
            assert all(cell not in cells for cells in held.values())
            held[who].append(cell)
        elif action == "write" and held[who]:
            write(who)
        elif action == "lose":
            assert desk.give_back(who) == len(held[who])
            held[who].clear()
    for who in "abc":
        while held[who]:
            write(who)
    while not desk.done:
        listen()
        if cell := desk.take("a", wait=False):
            held["a"].append(cell)
            write("a")
    assert came == Counter({cell.name: 1 for cell in CELLS})
    assert len(came) == TOTAL

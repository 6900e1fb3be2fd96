"""What gradio has to tell each session: the ones that nobody listens to make room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.ui.audience import Mailboxes
from xtc_viz.ui.runs import RunStore


def test_the_oldest_that_nobody_listens_to_makes_room() -> None:
    boxes = Mailboxes(2)
    boxes["heard"] = 1
    boxes.heard["heard"] += 1
    boxes["silent"] = 2
    boxes["new"] = 3
    assert list(boxes) == ["heard", "new"]
    boxes.heard["new"] += 1
    boxes["newest"] = 4
    assert list(boxes) == ["heard", "new", "newest"], "who listens is never let down"


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=80))
def test_no_session_that_is_heard_is_ever_dropped(steps: list[tuple[int, bool]]) -> None:
    boxes = Mailboxes(5)
    for number, heard in steps:
        name = str(number)
        if heard and name in boxes:
            boxes.heard[name] = 1
        else:
            boxes[name] = number
        assert all(name in boxes for name, count in boxes.heard.items() if count)
        assert len(boxes) <= max(5, sum(map(bool, boxes.heard.values())) + 1)


class Sized:
    """What the store asks of a run."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


def test_who_fills_the_store_drives_nobody_else_out() -> None:
    store = RunStore(max_runs=10)
    mine = store.add(Sized(100), owner="honest")  # type: ignore[arg-type]
    for _ in range(30):
        last = store.add(Sized(100), owner="greedy")  # type: ignore[arg-type]
    assert store.get(mine)
    assert store.get(last)
    assert len(store) == 10

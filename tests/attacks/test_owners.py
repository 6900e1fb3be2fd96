"""Nobody takes away what another made: no question removes a run."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.factories import decode
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.run import Run
from xtc_viz.ui.server import Question, questions
from xtc_viz.ui.service import Service

JUNK: list[object] = ["", None, 0, True, [], {}, "*", "../", "%", "'; drop", [[]], -1, "\x00"]


@pytest.fixture(scope="module")
def service() -> Service:
    return Service(ModelHost(FakeModel()))


@pytest.fixture(scope="module")
def kept(service: Service) -> str:
    trace, _ = decode(length=10)
    return service.store.add(Run.of(trace, "done"))


async def _answer(question: Question, values: list[object]) -> str:
    return await question(values)


@given(data=st.data())
def test_no_question_removes_or_changes_a_run(service: Service, kept: str, data) -> None:
    near = [kept, kept[:-1], kept.swapcase(), f"{kept} ", kept.encode().hex()]
    values = st.lists(st.sampled_from([*near, *JUNK]), max_size=5)
    before = json.dumps(service.store.get(kept).whole(kept))
    asked = [(question, data.draw(values)) for question in questions(service)]

    async def ask() -> None:
        for question, own in asked:
            await _answer(question, own)

    asyncio.run(ask())
    assert json.dumps(service.store.get(kept).whole(kept)) == before


def test_stopping_takes_the_very_id(service: Service, kept: str) -> None:
    stop = {question.__name__: question for question in questions(service)}["stop"]
    going = service.stops.open("the run of another")
    for other in ("the run of anothe", "THE RUN OF ANOTHER", "", None, ["the run of another"], "*"):
        assert asyncio.run(_answer(stop, [other])) == "false"
        assert not going.is_set()
    assert asyncio.run(_answer(stop, ["the run of another"])) == "true"
    assert going.is_set()

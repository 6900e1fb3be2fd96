"""Trace files that are small, and come to much.

As it was found: 1.2 MB (one text of 1 MB, named 1,000 times by the prompt) made an answer of
1,000 MB and took 4.4 GB; a table did the like; 0.3 MB held others up for 9 s, and 45 MB of
`[],[],…` for 14 s; traces of 10,000 lanes were read.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from itertools import pairwise
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.attacks.conftest import Target
from tests.attacks.visitors import Door, alone, request
from tests.ui.factories import decode
from xtc_viz.errors import TraceError
from xtc_viz.records import bounds, tracefile
from xtc_viz.ui import heavy
from xtc_viz.ui.gate.routes import TRACE
from xtc_viz.ui.gate.token import HEADER, TOKEN
from xtc_viz.ui.opening import OF_ONE, YOURS

MB = 1_000_000
Data = dict[str, Any]


def honest(length: int = 40) -> Data:
    data: Data = json.loads(tracefile.dumps(decode(length=length)[0]))
    return data


def prompt_that_repeats(data: Data) -> None:
    data["vocabulary"]["texts"][0] = "x" * MB
    data["prompt_ids"] = [data["vocabulary"]["ids"][0]] * 1_000


def prompt_of_many_texts(data: Data) -> None:
    data["vocabulary"]["texts"] = ["x" * (bounds.TOKEN - 1)] * len(data["vocabulary"]["ids"])
    data["prompt_ids"] = data["vocabulary"]["ids"] * 500


def lanes(count: int) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        steps(1)(data)
        data["lanes"] = data["lanes"][:1] * count
        data["settings"]["lanes"] = data["settings"]["lanes"][:1] * count

    return change


def steps(count: int) -> Callable[[Data], None]:
    def change(data: Data) -> None:
        for lane in data["lanes"]:
            lane["steps"] = {name: column[:1] * count for name, column in lane["steps"].items()}

    return change


def too_long(data: Data) -> None:
    for lane in data["lanes"]:
        lane["steps"]["token"] *= 60_000 // 40


def long_steps(data: Data) -> None:
    for lane in data["lanes"]:
        lane["steps"]["text"] = ["x" * (bounds.TOKEN + 1)] * len(lane["steps"]["text"])


def long_name(data: Data) -> None:
    for lane in data["lanes"]:
        lane["settings"]["name"] = "x" * MB


def long_model(data: Data) -> None:
    data["model"]["name"] = "x" * MB


def many_stops(data: Data) -> None:
    data["settings"]["stop"] = ["x"] * 100_000


def empty_lists(data: Data) -> None:
    count = len(data["lanes"][0]["steps"]["token"])
    data["lanes"][0]["steps"]["new"] = [[[]] * 100_000] * count


def texts_removed(data: Data) -> None:
    """Tokens with long texts that a table writes out at every step."""
    data["vocabulary"]["texts"] = ["x" * (bounds.TOKEN - 1)] * len(data["vocabulary"]["ids"])
    steps(2_000)(data)


HOSTILE = (
    prompt_that_repeats, prompt_of_many_texts, lanes(10_000), lanes(100), too_long, long_steps,
    long_name, long_model, many_stops, empty_lists, texts_removed,
)  # fmt: skip


def named(change: Callable[[Data], None]) -> str:
    return change.__qualname__.replace(".<locals>.change", "")


@pytest.mark.slow
@pytest.mark.parametrize("change", HOSTILE, ids=named)
def test_a_trace_that_comes_to_much_is_refused_with_words(change: Callable[[Data], None]) -> None:
    data = honest()
    change(data)
    with pytest.raises(TraceError, match=r"A trace has at most [\d,]+ .*; this one has [\d,]+\."):
        tracefile.loads(json.dumps(data))


@pytest.mark.slow
def test_the_longest_run_of_the_page_is_read_and_kept() -> None:
    data = honest()
    steps(4_096)(data)
    lane = data["lanes"][0]
    data["lanes"] = [lane] * 6
    data["settings"]["lanes"] = [data["settings"]["lanes"][0]] * 6
    run, message = heavy.loaded(json.dumps(data), "id")
    assert run.lengths == [4_096] * 6
    assert json.loads(message)["run"] == "id"
    again, _ = heavy.loaded(json.loads(heavy.exported(run, "trace", {}, date.today())), "id")
    assert again.trace() == run.trace()


def junk(kind: str) -> str:
    """What is read for long, or takes much memory, before it is seen to be no trace."""
    if kind == "lists":
        return "[" + "[]," * (15 * MB) + "[]]"
    if kind == "deep":
        return "[" * MB
    if kind == "numbers":
        return "[" + "0.5," * (10 * MB) + "0]"
    data = honest()
    empty_lists(data)
    return json.dumps(data)


def family() -> int:
    """The memory of this process and of those that it started, in bytes."""
    own = psutil.Process()
    total = 0
    for process in (own, *own.children(recursive=True)):
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


@pytest.fixture
def writing(target: Target) -> Iterator[None]:
    target.model.delay = 0.01
    yield
    target.model.delay = 0.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lists", "deep", "numbers", "values"])
def test_an_honest_run_goes_on_beside_it(target: Target, writing: None, kind: str) -> None:
    text = junk(kind)

    async def beside() -> tuple[Any, float]:
        door = Door(target.url)
        gaps: list[float] = []
        async with door.client() as client, door.client() as other:
            async with door.run(client, request(4_000)) as messages:
                times = [time.monotonic()]
                task = asyncio.create_task(door.load(other, text))
                async for at, _ in messages:
                    times.append(at)
                    if task.done():
                        break
                gaps = [b - a for a, b in pairwise(times)]
            return await task, max(gaps)

    before = family()
    answer, gap = alone(asyncio.wait_for(beside(), 120))
    print(f"{kind}, {len(text) / MB:.1f} MB: longest gap between messages {gap:.2f} s")
    assert "error" in answer
    assert answer["error"]["message"].endswith(".")
    assert gap < 5, "a generous bound: here the visitors share a process with the server"
    assert family() - before < 1.5e9


def test_who_sends_slowly_takes_no_more_than_their_own_places(target: Target) -> None:
    """Two files of a visitor may be on their way; who breaks off gives the place back."""
    head = (
        f"POST {TRACE} HTTP/1.1\r\nHost: localhost:{target.port}\r\nContent-Length: 1000\r\n"
        f"Content-Type: application/json\r\n{HEADER}: {TOKEN}\r\n\r\n{{"
    )
    door = Door(target.url)

    async def load() -> Any:
        async with door.client() as client:
            return await door.load(client, "{}")

    with ExitStack() as stack:
        for _ in range(OF_ONE):
            sender = stack.enter_context(socket.create_connection(("127.0.0.1", target.port)))
            sender.sendall(head.encode())
        time.sleep(0.5)
        refused = alone(load())
        assert (refused.status_code, refused.json()["detail"]) == (503, YOURS)
    end = time.monotonic() + 10
    while getattr(answer := alone(load()), "status_code", 200) == 503:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert "no xtc_viz trace" in answer["error"]["message"]

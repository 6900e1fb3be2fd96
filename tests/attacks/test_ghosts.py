"""Runs that are asked for and that nobody listens to: they cost nobody anything.

As it was found: five of them went to their ends, and the next visitor waited 38 s; 120 shut a
public page.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.attacks.visitors import DATA, Door, alone, request
from xtc_viz.ui.audience import ARRIVE, RETURN

LONG = 2000  # tokens; at 10 ms each, 20 s


@pytest.fixture(autouse=True)
def slow(target: Target) -> Any:
    target.model.delay = 0.01
    yield
    target.model.delay = 0.0


async def wait(seconds: float, condition: Any) -> float:
    """Return the seconds until a condition holds, at most so many."""
    begin = time.monotonic()
    while not condition() and time.monotonic() - begin < seconds:
        await asyncio.sleep(0.05)
    return time.monotonic() - begin


def idle(target: Target) -> bool:
    return target.host.waiting == 0 and target.model.open_generations == 0


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 5, 120])
def test_an_honest_visitor_does_not_wait_for_ghosts(target: Target, count: int) -> None:
    async def attack() -> tuple[set[int], float]:
        door = Door(target.url)
        async with door.client() as client:
            joined = await asyncio.gather(*(door.join(client, request(LONG)) for _ in range(count)))
            begin = time.monotonic()
            async with door.run(client, request(3)) as messages:
                states = [message["state"] async for _, message in messages]
            assert states[-1] == "done"
            return {answer.status_code for answer in joined}, time.monotonic() - begin

    codes, seconds = alone(attack())
    assert codes == {200}
    assert seconds < 8
    assert alone(wait(10, lambda: idle(target))) < 10


def test_ghosts_of_the_public_endpoint(target: Target) -> None:
    """Called as curl does, whose second call never comes."""

    async def attack() -> float:
        door = Door(target.url)
        async with door.client() as client:
            body = {"prompt": "Once", "max_new_tokens": LONG}
            for _ in range(5):
                answer = await client.post("/gradio_api/call/v2/generate", json=body)
                assert answer.status_code == 200
            begin = time.monotonic()
            async with door.run(client, request(3)) as messages:
                assert [message async for _, message in messages][-1]["state"] == "done"
            return time.monotonic() - begin

    assert alone(attack()) < 8


@pytest.mark.parametrize("session", [None, "of-my-own"])
def test_a_program_is_heard_by_its_event(target: Target, session: str | None) -> None:
    values = ["Once", ["XTC"], 7, 5, True, [], 100, "", False, True, True, True, [], False]
    body: dict[str, Any] = {"data": values}
    if session:
        body["session_hash"] = session + uuid4().hex
    event = httpx.post(f"{target.url}/gradio_api/call/generate", json=body).json()["event_id"]
    time.sleep(0.5)
    told = httpx.get(f"{target.url}/gradio_api/call/generate/{event}", timeout=30).text
    assert "event: complete" in told, told


def test_a_late_listener_finds_its_run(target: Target) -> None:
    async def late() -> list[str]:
        door, session = Door(target.url), uuid4().hex
        async with door.client() as client:
            await door.join(client, request(3), session)
            await asyncio.sleep(ARRIVE / 2)
            async with client.stream("GET", DATA, params={"session_hash": session}) as stream:
                return [line async for line in stream.aiter_lines()]

    assert any("done" in line for line in alone(late()))


def test_a_reader_who_leaves_ends_the_run_and_its_beginning_is_kept(target: Target) -> None:
    async def leave() -> tuple[str, float]:
        door = Door(target.url)
        async with door.client() as client:
            async with door.run(client, request(LONG)) as messages:
                async for _, message in messages:
                    if message.get("state") == "running":
                        break
            seconds = await wait(10, lambda: idle(target))
            kept = await door.ask(client, "open", message["run"], [])
            assert kept["state"] == "stopped"
            assert 0 < len(kept["add"][0]) < LONG
            return message["run"], seconds

    _, seconds = alone(leave())
    assert seconds < RETURN + 4


def test_a_stream_of_nothing_is_refused_in_words(target: Target, caplog: Any) -> None:
    answer = httpx.get(f"{target.url}/gradio_api/queue/data?session_hash=nope")
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no such run.")
    assert not caplog.records

"""Two hundred runs at once: each knows its place, and Stop acts.

As it was found: beyond 32 waiting runs the page said "Starting …" without a place, and Stop took
62 s.
"""

from __future__ import annotations

import asyncio
import time
from statistics import median

import pytest

from tests.attacks.conftest import Target
from tests.attacks.visitors import Door, alone, request

COUNT, STOPS = 200, 20


@pytest.mark.slow
def test_two_hundred_wait_each_with_a_place_and_stop_acts(target: Target) -> None:
    door = Door(target.url)
    told: list[float] = []
    stopped: list[float] = []
    places: set[int] = set()

    async def wait(joined: asyncio.Semaphore, leave: asyncio.Event, stops: asyncio.Event) -> None:
        async with door.client() as client:
            begin = time.monotonic()
            async with door.run(client, request(3)) as messages:
                async for at, message in messages:
                    if message["state"] == "waiting":
                        told.append(at - begin)
                        places.add(message["place"])
                        break
                joined.release()
                if stops is not leave:
                    await stops.wait()
                    begin = time.monotonic()
                    assert await door.ask(client, "stop", message["run"]) is True
                    async for at, message in messages:
                        assert message["state"] in ("waiting", "stopped")
                        end = at
                    stopped.append(end - begin)
                await leave.wait()

    async def all_at_once() -> None:
        joined, leave = asyncio.Semaphore(0), asyncio.Event()
        pressed = [asyncio.Event() for _ in range(STOPS)]
        async with asyncio.TaskGroup() as group:
            for stops in (*pressed, *[leave] * (COUNT - STOPS)):
                group.create_task(wait(joined, leave, stops))
            for _ in range(COUNT):
                await joined.acquire()
            assert target.host.waiting == COUNT
            for number, stops in enumerate(pressed, 1):
                stops.set()
                while len(stopped) < number:
                    await asyncio.sleep(0.02)
            leave.set()

    with target.host.turn() as turn:
        assert turn.wait(5)
        alone(asyncio.wait_for(all_at_once(), 120))
        end = time.monotonic() + 20
        while target.host.waiting and time.monotonic() < end:
            time.sleep(0.05)
        assert target.host.waiting == 0, "who left gives up the place"
    print(
        f"place told after {median(told):.2f} s (at most {max(told):.2f}), stopped after "
        f"{median(stopped):.2f} s (at most {max(stopped):.2f})"
    )
    assert len(told) == COUNT
    assert len(places) > COUNT / 2
    # Two hundred visitors that join at one moment share this process with the server.
    assert max(told) < 40
    assert median(stopped) < 2

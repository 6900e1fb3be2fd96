"""Work in another process: what comes back, and what ends it."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.errors import BusyError, LaneError, ModelError, SettingsError, TraceError, XTCVizError
from xtc_viz.sideprocess import MIB, Cost, LimitError, SidePool, StoppedError

MOST = Cost(seconds=20.0, memory=256 * MIB)


@pytest.fixture(scope="module")
def pool() -> Iterator[SidePool]:
    own = SidePool(processes=2, waiting=3, of_one=2)
    yield own
    own.close()


def double(value: int) -> int:
    return 2 * value


def where() -> int:
    return os.getpid()


def refuse(error: Exception) -> None:
    raise error


def fill(size: int) -> int:
    return len(bytearray(size))


def fill_slowly() -> None:
    pieces = []
    while True:
        pieces.append(["x"] * 10**5)


def forever() -> None:
    while True:
        pass


def held() -> None:
    """Hold the interpreter in one call into C: no thread of it runs meanwhile."""
    re.match(r"(a+)+$", "a" * 60 + "b")


def crash() -> None:
    os._exit(3)


def chatter() -> str:
    print("not a reply")
    os.write(1, b"nor this")
    return "the reply"


def test_a_value_comes_back_from_another_process_that_stays(pool: SidePool) -> None:
    assert pool.call("Doubling", double, 21, most=MOST) == 42
    first = pool.call("Asking", where, most=MOST)
    assert first != os.getpid()
    assert pool.call("Asking", where, most=MOST) == first


@settings(max_examples=20, deadline=None)
@given(st.recursive(st.none() | st.floats(allow_nan=False) | st.text(), st.lists))
def test_every_value_comes_back_as_it_was(value: object) -> None:
    shared = _shared()
    assert shared.call("Echoing", _echo, value, most=MOST) == value


def _echo(value: object) -> object:
    return value


_POOLS: list[SidePool] = []


def _shared() -> SidePool:
    if not _POOLS:
        _POOLS.append(SidePool(processes=1))
    return _POOLS[0]


def test_the_other_process_is_light() -> None:
    """It imports what the function needs, here not even the tests that ask."""
    code = (
        "from xtc_viz.sideprocess import Cost, SidePool\n"
        "loaded = \"[n for n in ('torch', 'gradio') if n in __import__('sys').modules]\"\n"
        "print(SidePool().call('Asking', eval, loaded, most=Cost(20.0, 1 << 28)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "[]"), run.stderr


def test_what_is_printed_is_no_reply(pool: SidePool) -> None:
    assert pool.call("Talking", chatter, most=MOST) == "the reply"


@pytest.mark.parametrize(
    "error",
    [TraceError("broken"), ModelError("no model"), SettingsError("tau", "below 1", 3),
     LaneError(2, SettingsError("tau", "below 1", 3))],
)  # fmt: skip
def test_an_error_comes_back_as_it_was(pool: SidePool, error: XTCVizError) -> None:
    with pytest.raises(type(error)) as caught:
        pool.call("Refusing", refuse, error, most=MOST)
    assert str(caught.value) == str(error)
    assert vars(caught.value) == vars(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_fault_comes_back_as_its_traceback(pool: SidePool) -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        pool.call("Refusing", refuse, ZeroDivisionError(), most=MOST)


@pytest.mark.parametrize("function", [forever, held])
def test_time_is_limited(pool: SidePool, function: Callable[[], None]) -> None:
    begin = time.monotonic()
    with pytest.raises(LimitError, match=r"^Turning took longer than 0\.5 s, and was ended\.$"):
        pool.call("Turning", function, most=Cost(0.5, 256 * MIB))
    assert time.monotonic() - begin < 10
    assert pool.call("Doubling", double, 1, most=MOST) == 2


def test_memory_is_limited(pool: SidePool) -> None:
    words = r"^Filling needs more than 64 MiB of memory, and was ended\.$"
    with pytest.raises(LimitError, match=words):
        pool.call("Filling", fill, 100 * MIB, most=Cost(20.0, 64 * MIB))
    with pytest.raises(LimitError, match=words):
        pool.call("Filling", fill_slowly, most=Cost(20.0, 64 * MIB))
    assert pool.call("Filling", fill, 32 * MIB, most=Cost(20.0, 64 * MIB)) == 32 * MIB


def test_a_crash_is_said(pool: SidePool) -> None:
    with pytest.raises(LimitError, match="Crashing ended without a result"):
        pool.call("Crashing", crash, most=MOST)
    assert pool.call("Doubling", double, 1, most=MOST) == 2


def test_a_call_can_be_stopped(pool: SidePool) -> None:
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    begin = time.monotonic()
    with pytest.raises(StoppedError, match=r"^Turning was stopped\.$"):
        pool.call("Turning", forever, most=MOST, stopped=stop.is_set)
    assert time.monotonic() - begin < 10


def test_many_wait_in_their_order_and_too_many_are_turned_away() -> None:
    own = SidePool(processes=1, waiting=3, of_one=2)
    own.call("Doubling", double, 1, most=MOST)
    hold, order = threading.Event(), []

    def turning() -> None:
        with pytest.raises(StoppedError):
            own.call("Turning", forever, most=MOST, visitor="a", stopped=hold.is_set)

    def doubling(number: int) -> None:
        own.call("Doubling", double, number, most=MOST, visitor=f"v{number}")
        order.append(number)

    threads = [threading.Thread(target=turning)]
    threads += [threading.Thread(target=doubling, args=(n,)) for n in range(3)]
    for length, thread in enumerate(threads):
        thread.start()
        while own._busy + len(own._line) <= length:
            time.sleep(0.01)
    with pytest.raises(BusyError, match="many files"):
        own.call("Doubling", double, 1, most=MOST)
    hold.set()
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2]
    own.close()


def test_one_visitor_does_not_take_every_place() -> None:
    own = SidePool(processes=1, waiting=10, of_one=2)
    hold = threading.Event()

    def turning() -> None:
        with pytest.raises(StoppedError):
            own.call("Turning", forever, most=MOST, visitor="a", stopped=hold.is_set)

    threads = [threading.Thread(target=turning) for _ in range(2)]
    for thread in threads:
        thread.start()
    while own._busy + len(own._line) < 2:
        time.sleep(0.01)
    with pytest.raises(BusyError, match="2 files of yours"):
        own.call("Turning", forever, most=MOST, visitor="a")
    hold.set()
    for thread in threads:
        thread.join()
    own.close()


def test_it_ends_with_its_parent() -> None:
    """Even where the parent is killed, and in the middle of a call."""
    code = (
        "import os, threading, time\n"
        "from xtc_viz.sideprocess import Cost, SidePool\n"
        "pool = SidePool()\n"
        "print(pool.call('Asking', os.getpid, most=Cost(20.0, 1 << 28)), flush=True)\n"
        "call = lambda: pool.call('Sleeping', time.sleep, 60, most=Cost(1.0, 1 << 28))\n"
        "threading.Thread(target=call, daemon=True).start()\n"
        "time.sleep(0.3)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    pid, latest = int(run.stdout), time.monotonic() + 15
    while time.monotonic() < latest and _lives(pid):
        time.sleep(0.1)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"

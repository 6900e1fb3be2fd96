"""One owner of the model and the queue for it, with threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from queue import SimpleQueue

import pytest

from tests.models.dense import dense
from tests.models.gate import LONG, Gate, until
from xtc_viz.errors import BusyError, ModelError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.spec import ModelSpec
from xtc_viz.models.state import HostState


def test_a_turn_is_had_at_once_when_nobody_else_asks() -> None:
    model = FakeModel()
    host = ModelHost(model)
    with host.turn() as turn:
        assert turn.wait(0)
        assert turn.ahead == 0
        assert turn.model is model
    assert host.waiting == 0


def test_turns_come_in_the_order_of_asking_and_know_their_place() -> None:
    host = ModelHost(FakeModel())
    turns = [host.turn() for _ in range(3)]
    for turn in turns:
        turn.__enter__()
    assert turns[0].wait(0)
    assert [t.ahead for t in turns] == [0, 1, 2]
    assert host.waiting == 2
    assert not turns[1].wait(0.01)
    with pytest.raises(BusyError, match="in use"):
        _ = turns[1].model
    turns[1].__exit__(None, None, None)  # gives up while it waits
    assert [t.ahead for t in (turns[0], turns[2])] == [0, 1]
    turns[0].__exit__(None, None, None)
    assert turns[2].wait(0)
    assert turns[2].model is not None
    turns[2].__exit__(None, None, None)
    assert host.waiting == 0


def test_a_turn_may_begin_and_end_in_different_threads() -> None:
    """As a web server's generators do: every `next` may come from another thread."""

    def decode(host: ModelHost) -> Generator[str, None, None]:
        with host.turn() as turn:
            while not turn.wait(0.01):
                yield f"waiting, {turn.ahead}"
            yield turn.model.info.name

    def elsewhere(action: Callable[[], object]) -> object:
        box: SimpleQueue[object] = SimpleQueue()
        thread = threading.Thread(target=lambda: box.put(action()))
        thread.start()
        thread.join(LONG)
        return box.get(timeout=LONG)

    host = ModelHost(FakeModel(name="one"))
    first, second, third = decode(host), decode(host), decode(host)
    assert elsewhere(lambda: next(first)) == "one"
    assert elsewhere(lambda: next(second)) == "waiting, 1"
    assert elsewhere(lambda: next(third)) == "waiting, 2"
    elsewhere(second.close)  # a tab that is closed while it waits
    assert elsewhere(lambda: next(third)) == "waiting, 1"
    elsewhere(first.close)
    assert elsewhere(lambda: next(third)) == "one"
    elsewhere(third.close)
    assert host.waiting == 0


def test_a_failure_within_a_turn_does_not_block_the_next() -> None:
    host = ModelHost(FakeModel())

    def fail() -> None:
        with host.turn() as turn:
            assert turn.wait(0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with host.turn() as turn:
        assert turn.wait(0)


def test_never_two_at_once_and_none_is_forgotten() -> None:
    host = ModelHost(FakeModel())
    inside, most, done = 0, 0, 0

    def work() -> None:
        nonlocal inside, most, done
        for _ in range(20):
            with host.turn() as turn:
                assert turn.wait(LONG)
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1
                done += 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert (most, done, host.waiting) == (1, 120, 0)


def test_without_a_model_the_turn_says_so() -> None:
    host = ModelHost()
    assert host.state == HostState()
    assert host.state.phase == "empty"
    with host.turn() as turn:
        assert turn.wait(0)
        with pytest.raises(ModelError, match="No model is loaded"):
            _ = turn.model


def test_a_queue_that_is_full_refuses_but_loads_may_wait(gate: Gate) -> None:
    host = ModelHost(FakeModel(), gate.open(), max_waiting=1)
    with host.turn() as first:
        assert first.wait(0)
        with host.turn() as second:
            with pytest.raises(BusyError, match="1 runs are waiting already"), host.turn():
                pass
            load = host.load_in_background(ModelSpec("next"))
            until(lambda: host.waiting == 2)
        until(lambda: host.waiting == 1)
        assert second.ahead == 0
        with pytest.raises(BusyError, match="1 runs"), host.turn():
            pass
    assert load.wait(LONG)
    with host.turn() as turn:
        assert turn.wait(LONG)


def test_two_runs_at_once_do_not_leak_into_each_other() -> None:
    """Two sessions' decodes, interleaved by threads, write what each writes alone."""
    host = ModelHost(FakeModel(delay=0.0005))

    def decode(prompt: str, into: list[int]) -> None:
        with host.turn() as turn:
            assert turn.wait(LONG)
            generation = turn.model.start([turn.model.encode(prompt)])
            for _ in range(20):
                into.append(int(dense(generation.logits).argmax()))
                generation.advance(into[-1:])
            generation.close()

    prompts = ["Once upon", " the dragon", "Lily 🐉"]
    alone: list[list[int]] = [[] for _ in prompts]
    for prompt, ids in zip(prompts, alone, strict=True):
        decode(prompt, ids)
    together: list[list[int]] = [[] for _ in prompts]
    threads = [
        threading.Thread(target=decode, args=pair) for pair in zip(prompts, together, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert together == alone

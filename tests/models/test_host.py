"""One owner of the device: the queue, loads that fail, loads that are stopped; with threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from xtc_viz.errors import BusyError, ModelError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.load import HostState
from xtc_viz.models.spec import ModelSpec, Progress

LONG = 10.0  # seconds; only ever reached when something is broken


class Gate:
    """A loader of fakes whose two halves wait until they are let through."""

    def __init__(self) -> None:
        self.fetched, self.may_fetch = threading.Event(), threading.Event()
        self.read, self.may_read = threading.Event(), threading.Event()
        self.made: list[FakeModel] = []

    def open(self) -> Gate:
        self.may_fetch.set()
        self.may_read.set()
        return self

    def __call__(self, spec: ModelSpec, progress: Progress) -> Callable[[], LanguageModel]:
        self.fetched.set()
        share = 0.0
        while not self.may_fetch.wait(0.01):
            share = min(1.0, share + 0.1)
            progress("downloading", share)

        def read() -> LanguageModel:
            self.read.set()
            assert self.may_read.wait(LONG)
            if spec.name == "broken":
                raise ModelError("The weights of broken are broken.")
            if spec.name == "bug":
                raise ZeroDivisionError
            self.made.append(FakeModel(name=spec.name))
            return self.made[-1]

        return read


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition of another thread's making."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open()


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

    def decode(host: ModelHost) -> Iterator[str]:
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


def test_a_decode_waits_for_the_first_model(gate: Gate) -> None:
    host = ModelHost(loader=gate)
    load = host.load_in_background("one")
    assert host.state.phase == "loading"
    assert host.state.loading == "one"
    with host.turn() as turn:
        assert not turn.wait(0.02)
        assert turn.ahead == 1
        gate.open()
        assert turn.wait(LONG)
        assert turn.model is gate.made[0]
    assert load.wait(LONG)
    assert load.error is None
    assert host.state == HostState(info=gate.made[0].info)


def test_a_decode_that_waits_for_the_first_model_hears_of_its_failure(gate: Gate) -> None:
    host = ModelHost(loader=gate)
    host.load_in_background("broken")
    with host.turn() as turn:
        gate.open()
        assert turn.wait(LONG)
        with pytest.raises(ModelError, match="weights of broken are broken"):
            _ = turn.model


@pytest.mark.parametrize(
    ("name", "failure", "kind"),
    [
        ("broken", "The weights of broken are broken.", ModelError),
        ("bug", "bug could not be loaded (ZeroDivisionError).", ZeroDivisionError),
    ],
)
def test_the_former_model_stays_when_loading_fails(
    gate: Gate, name: str, failure: str, kind: type[Exception]
) -> None:
    former = FakeModel(name="former")
    host = ModelHost(former, gate.open())
    with pytest.raises(kind):
        host.load(name)
    assert host.state == HostState(info=former.info, failure=failure)
    assert host.state.phase == "failed"
    with host.turn() as turn:
        assert turn.wait(0)
        assert turn.model is former
    host.load("better")
    assert host.state == HostState(info=gate.made[0].info)


def test_a_load_waits_for_the_decode_but_its_download_does_not(gate: Gate) -> None:
    former = FakeModel(name="former")
    host = ModelHost(former, gate)
    with host.turn() as turn:
        assert turn.wait(0)
        load = host.load_in_background("next")
        assert gate.fetched.wait(LONG)
        until(lambda: (host.state.share or 0) > 0)
        assert host.state.words == "downloading"
        gate.open()
        until(lambda: host.waiting == 1)
        until(lambda: "waiting" in host.state.words)
        assert not gate.read.is_set()
        assert turn.model is former
        assert host.info == former.info
    assert load.wait(LONG)
    assert host.info == gate.made[0].info


def test_a_decode_waits_for_a_load_and_gets_the_new_model(gate: Gate) -> None:
    host = ModelHost(FakeModel(name="former"), gate)
    gate.may_fetch.set()
    load = host.load_in_background("next")
    assert gate.read.wait(LONG)
    with host.turn() as turn:
        assert not turn.wait(0.01)
        assert turn.ahead == 1
        gate.open()
        assert turn.wait(LONG)
        assert turn.model.info.name == "next"
    assert load.wait(LONG)


@pytest.mark.parametrize("moment", ["downloading", "waiting", "reading"])
def test_a_load_can_be_stopped_at_any_moment(gate: Gate, moment: str) -> None:
    former = FakeModel(name="former")
    host = ModelHost(former, gate)
    with host.turn() as turn:
        assert turn.wait(0)
        load = host.load_in_background("next")
        assert gate.fetched.wait(LONG)
        if moment != "downloading":
            gate.may_fetch.set()
            until(lambda: host.waiting == 1)
        if moment != "reading":
            load.stop()
            assert load.wait(LONG)
    if moment == "reading":
        assert gate.read.wait(LONG)
        load.stop()
        gate.open()
        assert load.wait(LONG)
    assert isinstance(load.error, ModelError)
    assert str(load.error) == "Loading next was stopped."
    assert host.state == HostState(info=former.info)
    with host.turn() as turn:
        assert turn.wait(0)
        assert turn.model is former
    gate.open()
    assert host.load("after").name == "after"


def test_loads_come_one_after_the_other(gate: Gate) -> None:
    host = ModelHost(loader=gate)
    first = host.load_in_background("first")
    assert gate.fetched.wait(LONG)
    second, third = host.load_in_background("second"), host.load_in_background("third")
    assert host.state.loading == "first"
    third.stop()
    assert third.wait(LONG), "one that waits for another load can be stopped too"
    gate.open()
    assert first.wait(LONG)
    assert second.wait(LONG)
    assert [model.info.name for model in gate.made] == ["first", "second"]
    assert host.info == gate.made[-1].info


def test_unload_waits_for_its_turn() -> None:
    host = ModelHost(FakeModel())
    with host.turn() as turn:
        assert turn.wait(0)
        thread = threading.Thread(target=host.unload)
        thread.start()
        until(lambda: host.waiting == 1)
        assert host.info
    thread.join(LONG)
    assert host.state == HostState()


def test_a_queue_that_is_full_refuses_but_loads_may_wait(gate: Gate) -> None:
    host = ModelHost(FakeModel(), gate.open(), max_waiting=1)
    with host.turn() as first:
        assert first.wait(0)
        with host.turn() as second:
            with pytest.raises(BusyError, match="1 runs are waiting already"), host.turn():
                pass
            load = host.load_in_background("next")
            until(lambda: host.waiting == 2)
        until(lambda: host.waiting == 1)
        assert second.ahead == 0
        with pytest.raises(BusyError, match="1 runs"), host.turn():
            pass
    assert load.wait(LONG)
    with host.turn() as turn:
        assert turn.wait(LONG)


def test_a_model_that_nobody_uses_rests_and_comes_back(gate: Gate) -> None:
    host = ModelHost(loader=gate.open(), rest_after=0.02)
    info = host.load("one")
    until(lambda: host.state.resting)
    assert host.state.info == info, "the page still says which model it is"
    assert host._model is None
    with host.turn() as turn:
        assert turn.wait(LONG)
        time.sleep(0.05)  # it does not rest while it is in use
        assert turn.model.info == info
        assert not host.state.resting
    until(lambda: host.state.resting)
    assert len(gate.made) == 2


def test_a_model_that_was_given_or_unloaded_does_not_come_back(gate: Gate) -> None:
    model = FakeModel()
    host = ModelHost(model, gate.open(), rest_after=0.01)
    with host.turn() as turn:
        assert turn.wait(0)
    time.sleep(0.05)
    with host.turn() as turn:
        assert turn.wait(0)
        assert turn.model is model, "nobody could load it again"
    host.load("one")
    host.unload()
    with host.turn() as turn:
        assert turn.wait(0)
        with pytest.raises(ModelError, match="No model is loaded"):
            _ = turn.model
    assert len(gate.made) == 1


def test_two_runs_at_once_do_not_leak_into_each_other() -> None:
    """Two sessions' decodes, interleaved by threads, write what each writes alone."""
    host = ModelHost(FakeModel(delay=0.0005))

    def decode(prompt: str, into: list[int]) -> None:
        with host.turn() as turn:
            assert turn.wait(LONG)
            generation = turn.model.start([turn.model.encode(prompt)])
            for _ in range(20):
                into.append(int(generation.logits.argmax()))
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


def test_a_real_model_loads_decodes_and_goes(tiny_folder: Callable[[str], Path]) -> None:
    host = ModelHost()
    info = host.load(str(tiny_folder("llama")))
    assert host.info == info
    with host.turn() as turn:
        assert turn.wait(0)
        assert turn.model.start([[5, 6]]).logits.shape == (1, info.vocab_size)
    with pytest.raises(ModelError, match="no config"):
        host.load(str(tiny_folder("llama").parent))
    assert host.info == info
    host.unload()
    assert host.info is None


def test_a_load_is_stopped_by_its_id_and_no_other_one(gate: Gate) -> None:
    host = ModelHost(FakeModel(name="former"), gate)
    first, second = host.load_in_background("first"), host.load_in_background("second")
    assert host.loads == (first.id, second.id)
    assert host.state.load == first.id
    assert host.stop_load(first.id)
    assert first.wait(LONG)
    until(lambda: host.state.load == second.id)
    gate.open()
    assert second.wait(LONG)
    assert host.info == gate.made[-1].info
    assert not host.stop_load(second.id)
    assert (first.stopped, second.stopped) == (True, False)


def test_a_model_is_put_away_when_nobody_uses_it(gate: Gate) -> None:
    host = ModelHost(loader=gate.open())
    info = host.load("one")
    with host.turn() as turn:
        assert turn.wait(0)
        with pytest.raises(BusyError, match="when no run is going on"):
            host.rest()
    assert host.can_rest
    host.rest()
    assert host.state == HostState(info=info, resting=True)
    assert not host.can_rest
    with pytest.raises(ModelError, match="no model in memory"):
        host.rest()
    with host.turn() as turn:
        assert turn.wait(LONG)
        assert turn.model.info == info
    with pytest.raises(ModelError, match="come back by itself"):
        ModelHost(FakeModel()).rest()


def test_nothing_is_put_away_while_a_model_is_on_its_way(gate: Gate) -> None:
    host = ModelHost(loader=gate.open())
    host.load("one")
    gate.may_fetch.clear()
    load = host.load_in_background("two")
    with pytest.raises(BusyError, match="two is being loaded"):
        host.rest()
    load.stop()
    assert load.wait(LONG)
    host.rest()


def test_the_model_at_rest_is_the_former_one_when_another_fails(gate: Gate) -> None:
    """Who pressed Generate while the other was on its way gets the model that was at rest."""
    host = ModelHost(loader=gate.open())
    info = host.load("one")
    host.rest()
    gate.may_fetch.clear()
    load = host.load_in_background("broken")
    assert host.state.resting
    with host.turn() as turn:
        assert not turn.wait(0.02)
        gate.open()
        assert load.wait(LONG)
        assert turn.wait(LONG)
        assert turn.model.info == info
    assert load.failure == "The weights of broken are broken."
    until(lambda: not host.loads)
    assert host.state == HostState(info=info)


def test_a_return_that_is_stopped_is_told_and_tried_again(gate: Gate) -> None:
    host = ModelHost(loader=gate.open())
    host.load("one")
    host.rest()
    gate.may_fetch.clear()
    with host.turn() as turn:
        assert not turn.wait(0.02)
        assert host.stop_load(host.state.load)
        assert turn.wait(LONG)
        with pytest.raises(ModelError, match="one was not loaded again"):
            _ = turn.model
    assert host.state.resting
    gate.open()
    with host.turn() as turn:
        assert turn.wait(LONG)
        assert turn.model.info.name == "one"


def test_forgetting_the_model_does_not_disturb_a_download(gate: Gate) -> None:
    host = ModelHost(FakeModel(name="former"), gate)
    load = host.load_in_background("next")
    assert gate.fetched.wait(LONG)
    host.unload()
    assert (host.state.info, host.state.loading) == (None, "next")
    gate.open()
    assert load.wait(LONG)
    assert host.info == gate.made[0].info

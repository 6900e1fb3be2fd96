"""Loads through the owner of the model: in turn, failing, stopped; with threads."""

from __future__ import annotations

import pytest

from tests.models.gate import LONG, Gate, until
from xtc_viz.errors import ModelError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.spec import ModelSpec
from xtc_viz.models.state import HostState, LoadState


def progress(host: ModelHost) -> LoadState:
    """How far the load is that is on its way."""
    load = host.state.load
    assert load
    return load


def test_a_decode_waits_for_the_first_model(gate: Gate) -> None:
    host = ModelHost(loader=gate)
    load = host.load_in_background(ModelSpec("one"))
    assert host.state.phase == "loading"
    assert progress(host).name == "one"
    with host.turn() as turn:
        assert not turn.wait(0.02)
        assert turn.ahead == 1
        gate.open()
        assert turn.wait(LONG)
        assert turn.model is gate.models[0]
    assert load.wait(LONG)
    assert load.error is None
    assert host.state == HostState(info=gate.models[0].info)


def test_a_decode_that_waits_for_the_first_model_hears_of_its_failure(gate: Gate) -> None:
    host = ModelHost(loader=gate)
    host.load_in_background(ModelSpec("broken"))
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
        host.load(ModelSpec(name))
    assert host.state == HostState(info=former.info, failure=failure)
    assert host.state.phase == "failed"
    with host.turn() as turn:
        assert turn.wait(0)
        assert turn.model is former
    host.load(ModelSpec("better"))
    assert host.state == HostState(info=gate.models[0].info)


def test_a_load_waits_for_the_decode_but_its_download_does_not(gate: Gate) -> None:
    former = FakeModel(name="former")
    host = ModelHost(former, gate)
    with host.turn() as turn:
        assert turn.wait(0)
        load = host.load_in_background(ModelSpec("next"))
        assert gate.fetching.wait(LONG)
        until(lambda: (progress(host).share or 0) > 0)
        assert progress(host).words == "downloading"
        gate.open()
        until(lambda: host.waiting == 1)
        until(lambda: "waiting" in progress(host).words)
        assert not gate.reading.is_set()
        assert turn.model is former
        assert host.info == former.info
    assert load.wait(LONG)
    assert host.info == gate.models[0].info


def test_a_decode_waits_for_a_load_and_gets_the_new_model(gate: Gate) -> None:
    host = ModelHost(FakeModel(name="former"), gate)
    gate.may_fetch.set()
    load = host.load_in_background(ModelSpec("next"))
    assert gate.reading.wait(LONG)
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
        load = host.load_in_background(ModelSpec("next"))
        assert gate.fetching.wait(LONG)
        if moment != "downloading":
            gate.may_fetch.set()
            until(lambda: host.waiting == 1)
        if moment != "reading":
            load.stop()
            assert load.wait(LONG)
    if moment == "reading":
        assert gate.reading.wait(LONG)
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
    assert host.load(ModelSpec("after")).name == "after"


def test_loads_come_one_after_the_other(gate: Gate) -> None:
    host = ModelHost(loader=gate)
    first = host.load_in_background(ModelSpec("first"))
    assert gate.fetching.wait(LONG)
    second, third = (host.load_in_background(ModelSpec(name)) for name in ("second", "third"))
    assert progress(host).name == "first"
    third.stop()
    assert third.wait(LONG), "one that waits for another load can be stopped too"
    gate.open()
    assert first.wait(LONG)
    assert second.wait(LONG)
    assert [model.info.name for model in gate.models] == ["first", "second"]
    assert host.info == gate.models[-1].info


def test_a_load_is_stopped_by_its_id_and_no_other_one(gate: Gate) -> None:
    host = ModelHost(FakeModel(name="former"), gate)
    first, second = (host.load_in_background(ModelSpec(name)) for name in ("first", "second"))
    assert host.load_ids == (first.id, second.id)
    assert progress(host).id == first.id
    assert host.stop_load(first.id)
    assert first.wait(LONG)
    until(lambda: progress(host).id == second.id)
    gate.open()
    assert second.wait(LONG)
    assert host.info == gate.models[-1].info
    assert not host.stop_load(second.id)
    assert (first.stopped, second.stopped) == (True, False)


def test_memory_is_freed_when_a_model_is_replaced_or_not_taken(gate: Gate) -> None:
    host = ModelHost(FakeModel(), gate.open())
    host.load(ModelSpec("one"))
    assert gate.freed == 1
    with pytest.raises(ModelError):
        host.load(ModelSpec("broken"))
    assert gate.freed == 2


def test_without_a_loader_the_model_stays_as_it_was_given() -> None:
    host = ModelHost(FakeModel(name="given"))
    with pytest.raises(ModelError, match="other cannot be loaded: the model of this page is fixed"):
        host.load(ModelSpec("other"))
    assert (host.info and host.info.name, host.load_ids) == ("given", ())

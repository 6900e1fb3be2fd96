"""A model that gives its memory back and returns with the next run; with threads."""

from __future__ import annotations

import time

import pytest

from tests.models.gate import LONG, Gate, until
from xtc_viz.errors import BusyError, ModelError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.spec import ModelSpec
from xtc_viz.models.state import HostState


def test_a_model_that_nobody_uses_rests_and_comes_back(gate: Gate) -> None:
    host = ModelHost(loader=gate.open(), rest_after=0.02)
    info = host.load(ModelSpec("one"))
    until(lambda: host.state.resting)
    assert host.state.info == info, "the page still says which model it is"
    assert host.resident is None
    with host.turn() as turn:
        assert turn.wait(LONG)
        time.sleep(0.05)  # it does not rest while it is in use
        assert turn.model.info == info
        assert not host.state.resting
    until(lambda: host.state.resting)
    assert len(gate.models) == 2


def test_a_model_that_was_given_never_rests(gate: Gate) -> None:
    model = FakeModel()
    host = ModelHost(model, gate.open(), rest_after=0.01)
    with host.turn() as turn:
        assert turn.wait(0)
    time.sleep(0.05)
    with host.turn() as turn:
        assert turn.wait(0)
        assert turn.model is model, "nobody could load it again"
    assert gate.models == []


def test_a_model_is_put_away_when_nobody_uses_it(gate: Gate) -> None:
    host = ModelHost(loader=gate.open())
    info = host.load(ModelSpec("one"))
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
    host.load(ModelSpec("one"))
    gate.may_fetch.clear()
    load = host.load_in_background(ModelSpec("two"))
    with pytest.raises(BusyError, match="two is being loaded"):
        host.rest()
    load.stop()
    assert load.wait(LONG)
    host.rest()


def test_the_model_at_rest_is_the_former_one_when_another_fails(gate: Gate) -> None:
    """Who pressed Generate while the other was on its way gets the model that was at rest."""
    host = ModelHost(loader=gate.open())
    info = host.load(ModelSpec("one"))
    host.rest()
    gate.may_fetch.clear()
    load = host.load_in_background(ModelSpec("broken"))
    assert host.state.resting
    with host.turn() as turn:
        assert not turn.wait(0.02)
        gate.open()
        assert load.wait(LONG)
        assert turn.wait(LONG)
        assert turn.model.info == info
    assert load.failure == "The weights of broken are broken."
    until(lambda: not host.load_ids)
    assert host.state == HostState(info=info)


def test_a_return_that_is_stopped_is_told_and_tried_again(gate: Gate) -> None:
    host = ModelHost(loader=gate.open())
    host.load(ModelSpec("one"))
    host.rest()
    gate.may_fetch.clear()
    with host.turn() as turn:
        assert not turn.wait(0.02)
        assert host.stop_load(*host.load_ids)
        assert turn.wait(LONG)
        with pytest.raises(ModelError, match="one was not loaded again"):
            _ = turn.model
    assert host.state.resting
    gate.open()
    with host.turn() as turn:
        assert turn.wait(LONG)
        assert turn.model.info.name == "one"

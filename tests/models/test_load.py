"""One load: how it is stopped, what is said of its failure, what a failure leaves behind."""

from __future__ import annotations

import weakref

import pytest

from xtc_viz.errors import ModelError
from xtc_viz.models.load import Load, LoadStoppedError, forget_frames
from xtc_viz.models.spec import ModelSpec


def test_a_load_goes_on_until_it_is_stopped() -> None:
    load, other = Load(ModelSpec("one")), Load(ModelSpec("one"))
    assert load.id != other.id
    load.check()
    load.stop()
    with pytest.raises(LoadStoppedError):
        load.check()
    assert (load.stopped, other.stopped) == (True, False)


def test_who_waits_goes_on_at_the_end() -> None:
    load = Load(ModelSpec("one"))
    assert not load.wait(0)
    load.finish()
    assert load.wait(0)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (None, ""),
        (ModelError("There is no folder 'one'."), "There is no folder 'one'."),
        (KeyError("a secret path"), "one could not be loaded (KeyError)."),
    ],
)
def test_what_is_said_of_a_failure(error: Exception | None, words: str) -> None:
    load = Load(ModelSpec("one"))
    load.error = error
    assert load.failure == words


class Weights:
    """Something large."""


def test_a_failure_holds_on_to_nothing() -> None:
    alive: list[weakref.ref[Weights]] = []

    def read() -> None:
        weights = Weights()
        alive.append(weakref.ref(weights))
        raise ZeroDivisionError

    def load() -> None:
        try:
            read()
        except ZeroDivisionError as error:
            raise ModelError("broken") from error

    with pytest.raises(ModelError) as caught:
        load()
    assert alive[0](), "the traceback of the cause holds it"
    forget_frames(caught.value)
    assert alive[0]() is None

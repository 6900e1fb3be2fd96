"""A timer that is put off as long as something happens."""

from __future__ import annotations

import threading

from tests.models.gate import LONG
from xtc_viz.models.idle import IdleTimer


def test_the_action_comes_after_a_while() -> None:
    event = threading.Event()
    IdleTimer(0.001, event.set).start()
    assert event.wait(LONG)


def test_one_that_was_cancelled_or_never_ends_does_nothing() -> None:
    event = threading.Event()
    cancelled, never, late = (IdleTimer(s, event.set) for s in (0.02, None, LONG))
    for timer in (cancelled, never, late):
        timer.start()
    late.start()
    cancelled.cancel()
    never.cancel()
    assert not event.wait(0.06)
    late.cancel()

"""Deadlines of requests, kept by one thread: a timer for each would cost more than an answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

LOOK = 0.2  # seconds between two looks at what is late
REST = 25  # looks without a request after which the thread ends; the next request starts another


class Deadline:
    """One request. `passed` says that it was cut off."""

    def __init__(self, due: float, cut: Callable[[], None]) -> None:
        self.due = due
        self.cut = cut
        self.passed = False


class Watch:
    """Calls what cuts a request off, once that is late."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[Deadline] = set()
        self._looking = False

    @contextmanager
    def within(self, seconds: float, cut: Callable[[], None]) -> Iterator[Deadline]:
        """Call `cut` from another thread once the block takes longer than `seconds`."""
        deadline = Deadline(monotonic() + seconds, cut)
        with self._lock:
            self._open.add(deadline)
            if not self._looking:
                self._looking = True
                threading.Thread(target=self._look, name="deadlines", daemon=True).start()
        try:
            yield deadline
        finally:
            with self._lock:
                self._open.discard(deadline)

    def _look(self) -> None:
        idle = 0
        while True:
            sleep(LOOK)
            now = monotonic()
            with self._lock:
                idle = 0 if self._open else idle + 1
                if idle > REST:
                    self._looking = False
                    return
                late = [each for each in self._open if now > each.due]
                self._open.difference_update(late)
                for each in late:
                    each.passed = True
            for each in late:
                each.cut()


watch = Watch()

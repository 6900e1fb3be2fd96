"""A visitor's share where strangers come: nobody asks for so much at once that others wait."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

GOING = 24
"""Questions of one visitor that are being answered at once; a page asks fewer."""
ASKED, WITHIN = 40, 5.0
"""Runs that one visitor may ask for in so many seconds; what waits in the queue counts there."""


class Shares:
    """What each visitor has under way. For one event loop."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._going: Counter[str] = Counter()
        self._asked: dict[str, deque[float]] = {}
        self._now = now

    @contextmanager
    def question(self, visitor: str) -> Iterator[bool]:
        """Hold a place for a question; gives whether there was one."""
        free = self._going[visitor] < GOING
        self._going[visitor] += free
        try:
            yield free
        finally:
            self._going[visitor] -= free
            if not self._going[visitor]:
                del self._going[visitor]

    def run(self, visitor: str) -> bool:
        """Note that a visitor asks for a run; whether that is not one too many."""
        now = self._now()
        for name in [name for name, times in self._asked.items() if now - times[-1] > WITHIN]:
            del self._asked[name]
        times = self._asked.setdefault(visitor, deque())
        while times and now - times[0] > WITHIN:
            times.popleft()
        if len(times) >= ASKED:
            return False
        times.append(now)
        return True

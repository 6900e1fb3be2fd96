"""Something that is done when nothing has happened for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable


class IdleTimer:
    """Calls `action` in a thread of its own `seconds` after the last `start`; None is never."""

    def __init__(self, seconds: float | None, action: Callable[[], None]) -> None:
        self._seconds = seconds
        self._action = action
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Begin to count, from zero."""
        self.cancel()
        if self._seconds is not None:
            self._timer = threading.Timer(self._seconds, self._action)
            self._timer.daemon = True
            self._timer.start()

    def cancel(self) -> None:
        """Stop counting. An action that has begun goes on."""
        if self._timer:
            self._timer.cancel()
            self._timer = None

"""Calls that are done in other processes, and how many of them at once."""

from __future__ import annotations

import atexit
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from xtc_viz.errors import BusyError, XTCVizError
from xtc_viz.sideprocess.messages import Cost, StoppedError, Work
from xtc_viz.sideprocess.process import POLL, Process

PROCESSES = 2  # at once, and so the most cores that such work may take
WAITING = 12  # calls that may wait for one of them
OF_ONE = 2  # calls of one visitor, going or waiting

T = TypeVar("T")


class SidePool:
    """At most `processes` other processes, each doing one call at a time.

    Those who call wait in their order. Safe to use from many threads.
    """

    def __init__(
        self, processes: int = PROCESSES, waiting: int = WAITING, of_one: int = OF_ONE
    ) -> None:
        self._most, self._waiting, self._of_one = processes, waiting, of_one
        self._changed = threading.Condition()
        self._line: deque[object] = deque()
        self._callers: list[str] = []
        self._busy = 0
        self._idle: list[Process] = []
        atexit.register(self.close)

    def call(
        self,
        what: str,
        function: Callable[..., T],
        *arguments: Any,
        most: Cost,
        visitor: str = "",
        stopped: Callable[[], bool] = lambda: False,
    ) -> T:
        """Return `function(*arguments)`, done in another process.

        The function stands at the top of a module; it, its arguments and its value can be pickled.
        The waiting for a free process is not among the seconds that it may take. `what` names the
        work in messages ("Reading this file"), `visitor` says whose it is, where that is known, and
        `stopped` is asked 20 times a second.

        Raises:
            LimitError: it took more than that, or crashed its process, which is ended.
            StoppedError: `stopped` said so.
            BusyError: too many calls wait already, or too many of this visitor.
            XTCVizError: what the function raised of this kind.
            RuntimeError: it raised anything else; the text is the traceback.
        """
        request = pickle.dumps(Work(pickle.dumps((function, arguments)), most))
        with self._place(visitor, stopped, what):
            process = self._take()
            try:
                reply = process.do(what, request, most, stopped)
            except BaseException:
                process.end()
                raise
            with self._changed:
                self._idle.append(process)
        error, value = pickle.loads(reply)
        if error is not None:
            raise error if isinstance(error, XTCVizError) else RuntimeError(error)
        return value  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the processes that have nothing to do; the next call starts new ones."""
        with self._changed:
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()

    @contextmanager
    def _place(self, visitor: str, stopped: Callable[[], bool], what: str) -> Iterator[None]:
        """Wait for the turn of a call, and hold it."""
        ticket = object()
        with self._changed:
            if visitor and self._callers.count(visitor) >= self._of_one:
                raise BusyError(
                    f"{self._of_one} files of yours are being read or written already: wait for "
                    "one of them."
                )
            if self._busy + len(self._line) >= self._most + self._waiting:
                raise BusyError("The server reads and writes many files: try again in a moment.")
            self._callers.append(visitor)
            self._line.append(ticket)
        begun = False
        try:
            with self._changed:
                while self._line[0] is not ticket or self._busy >= self._most:
                    if stopped():
                        raise StoppedError(f"{what} was stopped.")
                    self._changed.wait(POLL)
                self._line.popleft()
                self._busy += 1
                begun = True
            yield
        finally:
            with self._changed:
                self._callers.remove(visitor)
                if begun:
                    self._busy -= 1
                else:
                    self._line.remove(ticket)
                self._changed.notify_all()

    def _take(self) -> Process:
        with self._changed:
            while self._idle:
                process = self._idle.pop()
                if process.alive:
                    return process
        return Process()

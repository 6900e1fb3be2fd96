"""The desk between a run and those that write its cells in threads of their own.

A cell lies on the desk or is with one who writes it: nobody else gets it. Whoever cannot go on
gives back what was with him, and others take it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from xtc_viz.lab.cell import Cell
from xtc_viz.lab.news import Absence, News

Held = dict[str, Cell]


class Desk:
    """Cells on their way. Safe to use from many threads; `fill` is for the run's own."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Cell] = deque()
        self._held: dict[str, Held] = {}
        self._news = News()
        self._flying: dict[str, int] = {}
        self._absent: dict[str, Absence] = {}
        self._all_here = False
        self._error: Exception | None = None
        self._closed = threading.Event()

    # For the run

    def fill(self, cells: Iterator[Cell], count: int) -> None:
        """Lay cells on the desk until `count` wait there, or there are no more."""
        while not self._all_here and len(self._waiting) < count:
            cell = next(cells, None)
            with self._changed:
                if cell is None:
                    self._all_here = True
                else:
                    self._waiting.append(cell)
                self._changed.notify_all()

    def news(self, seconds: float) -> News:
        """Return what has come since the last time, within `seconds` where no cell is finished.

        Raises what was said to `fail`.
        """
        with self._changed:
            self._changed.wait_for(self._worth_telling, seconds)
            if self._error:
                raise self._error
            news, self._news = self._news, News()
            flying, absent = sum(self._flying.values()), tuple(self._absent.values())
            return replace(news, flying=flying, absent=absent)

    @property
    def done(self) -> bool:
        """Whether nothing is left to do, nor to tell."""
        with self._changed:
            return self._nothing_left() and not (self._news.written or self._news.failed)

    def close(self) -> None:
        """Let all who wait at the desk go: nobody wants more."""
        with self._changed:
            self._closed.set()
            self._changed.notify_all()

    # For those who write

    def take(self, who: str, *, wait: bool) -> Cell | None:
        """Return a cell that is `who`'s from now on; None where there is none.

        Whoever has nothing to do may `wait` for one, that another lost: then None says that the run
        is over.
        """
        with self._changed:
            if wait:
                self._changed.wait_for(lambda: self._waiting or self._nothing_left() or self.closed)
            if self.closed or not self._waiting:
                return None
            cell = self._waiting.popleft()
            self._held.setdefault(who, {})[cell.name] = cell
            return cell

    def report(self, who: str, news: News) -> bool:
        """Take in what came of the cells of `who`; return whether more is wanted."""
        with self._changed:
            held = self._held.get(who, {})
            for name in (*(own.name for own in news.written), *(name for name, _ in news.failed)):
                del held[name]
            self._news = News(
                (*self._news.written, *news.written),
                (*self._news.failed, *news.failed),
                self._news.tokens + news.tokens,
            )
            self._flying[who] = news.flying
            if news.written or news.failed:
                self._changed.notify_all()
            return not self.closed

    def give_back(self, who: str) -> int:
        """Lay on the desk what `who` has lost, to be taken first; return how many cells that is."""
        with self._changed:
            lost = self._held.pop(who, {})
            self._flying.pop(who, None)
            self._waiting.extendleft(reversed(lost.values()))
            self._changed.notify_all()
            return len(lost)

    def absent(self, who: str, absence: Absence | None) -> None:
        """Say that `who` cannot write at present, or can again."""
        with self._changed:
            self._absent.pop(who, None)
            if absence:
                self._absent[who] = absence

    def fail(self, error: Exception) -> None:
        """End the run with this error."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    def pause(self, seconds: float) -> bool:
        """Wait so long; return at once, and False, where nobody wants more."""
        return not self._closed.wait(seconds)

    # With the lock held

    def _nothing_left(self) -> bool:
        return self._all_here and not self._waiting and not any(self._held.values())

    def _worth_telling(self) -> bool:
        told = self._news.written or self._news.failed
        return bool(told or self._error or self._nothing_left())

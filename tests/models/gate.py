"""A loader whose two halves wait until a test lets them through."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from xtc_viz.errors import ModelError
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.load import Progress
from xtc_viz.models.spec import ModelSpec

LONG = 60.0  # seconds; only ever reached when something is broken


class Gate:
    """A loader of fakes. `models` are those that it made, `freed` counts how often it was told to
    give memory back. A spec named `broken` or `bug` fails."""

    def __init__(self) -> None:
        self.fetching, self.may_fetch = threading.Event(), threading.Event()
        self.reading, self.may_read = threading.Event(), threading.Event()
        self.models: list[FakeModel] = []
        self.freed = 0

    def open(self) -> Gate:
        self.may_fetch.set()
        self.may_read.set()
        return self

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], FakeModel]:
        self.fetching.set()
        share = 0.0
        while not self.may_fetch.wait(0.01):
            share = min(1.0, share + 0.1)
            progress("downloading", share)

        def read() -> FakeModel:
            self.reading.set()
            assert self.may_read.wait(LONG)
            if spec.name == "broken":
                raise ModelError("The weights of broken are broken.")
            if spec.name == "bug":
                raise ZeroDivisionError
            self.models.append(FakeModel(name=spec.name))
            return self.models[-1]

        return read

    def free_memory(self) -> None:
        self.freed += 1


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition of another thread's making."""
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)

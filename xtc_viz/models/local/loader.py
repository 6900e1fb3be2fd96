"""How `ModelHost` loads models into this process."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch

from xtc_viz.assets import STORY_MODEL
from xtc_viz.models.load import LoadStoppedError, Progress, forget_frames
from xtc_viz.models.local.folder.download import fetch
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.local.spec import LocalSpec
from xtc_viz.models.spec import ModelSpec

POLL = 0.1  # seconds between two looks at whether a load was stopped
PATIENCE = 1.0  # seconds for a stopped load to come to its own end

T = TypeVar("T")


class LocalLoader:
    """Loads through transformers, from the hub or from a folder (the `Loader` protocol).

    A load that is stopped ends at once, also while a library waits for the network or reads a
    weight of gigabytes; what it was doing ends as soon as it can.
    """

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LocalModel]:
        if not isinstance(spec, LocalSpec):
            raise TypeError(f"`spec` must be a LocalSpec, but is {spec!r}")
        folder = stoppable(lambda inner: fetch(spec, inner), progress)
        if Path(spec.name) == STORY_MODEL:  # no stranger's: read here, in an instant
            return lambda: LocalModel.read(spec, folder, progress)
        prepared = LocalModel.prepare(spec, folder, progress)
        return lambda: stoppable(prepared, progress)

    def free_memory(self) -> None:
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def stoppable(work: Callable[[Progress], T], progress: Progress) -> T:
    """Return `work(progress)`, and raise `LoadStoppedError` soon after `progress` would."""
    stopped = threading.Event()
    latest: tuple[str, float | None] | None = None
    values: list[T] = []
    errors: list[BaseException] = []

    def inner(words: str, share: float | None) -> None:
        nonlocal latest
        if stopped.is_set():
            raise LoadStoppedError
        progress(words, share)
        latest = words, share

    def run() -> None:
        try:
            values.append(work(inner))
        except BaseException as error:
            errors.append(error)
            if stopped.is_set():
                forget_frames(error)
        if stopped.is_set():
            values.clear()

    thread = threading.Thread(target=run, name="load", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(POLL)
        if latest:
            try:
                progress(*latest)
            except LoadStoppedError:
                stopped.set()
                thread.join(PATIENCE)
                values.clear()
                raise
    if errors:
        raise errors[0]
    return values[0]

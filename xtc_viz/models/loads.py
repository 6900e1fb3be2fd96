"""One load of a model: how it is made, stopped, and forgotten when it fails."""

from __future__ import annotations

import gc
import threading
import traceback
from collections.abc import Callable

import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.download import fetch
from xtc_viz.models.local import LocalModel
from xtc_viz.models.spec import ModelSpec, Progress

# The first call may take as long as a download does and touches no device; what it returns reads
# the model into memory.
Loader = Callable[[ModelSpec, Progress], Callable[[], LanguageModel]]


class LoadStoppedError(Exception):
    """A load was told to stop."""


def load_local(spec: ModelSpec, progress: Progress) -> Callable[[], LanguageModel]:
    """Load through transformers (a `Loader`)."""
    folder = fetch(spec, progress)
    return lambda: LocalModel.read(spec, folder, progress)


class Load:
    """A load that runs in a thread of its own; made by `ModelHost.load_in_background`."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._done = threading.Event()
        self.error: Exception | None = None

    def stop(self) -> None:
        """Give the load up: at once while it downloads or waits, else before it takes effect."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the load, at most `seconds`; returns whether it has ended."""
        return self._done.wait(seconds)


def free_memory() -> None:
    """Give back what no longer has an owner, to the system and to the GPU."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def forget_frames(error: BaseException) -> None:
    """Drop the local variables of what failed: a half-loaded model among them would live on."""
    link: BaseException | None = error
    while link is not None:
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__
    free_memory()


def words_for(error: BaseException, spec: ModelSpec) -> str:
    """Return what to tell a user of a failed load; what is no `ModelError` goes to the log."""
    if isinstance(error, ModelError):
        return str(error)
    return f"{spec.short_name} could not be loaded ({type(error).__name__})."

"""One load of a model: how it is made, stopped, forgotten when it fails, and what is said of it."""

from __future__ import annotations

import gc
import secrets
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import torch

from xtc_viz.errors import ModelError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.local.download import fetch
from xtc_viz.models.local.model import LocalModel
from xtc_viz.models.spec import LoadStoppedError, ModelSpec, Progress
from xtc_viz.records.trace import ModelInfo

# The first call may take as long as a download does and touches no device; what it returns reads
# the model into memory.
Loader = Callable[[ModelSpec, Progress], Callable[[], LanguageModel]]


def load_local(spec: ModelSpec, progress: Progress) -> Callable[[], LanguageModel]:
    """Load through transformers (a `Loader`)."""
    folder = fetch(spec, progress)
    return lambda: LocalModel.read(spec, folder, progress)


@dataclass(frozen=True, slots=True)
class HostState:
    """What a page says about the model; plain values.

    `info` is the model in use. `loading` names one that is on its way, with words and a share in
    [0, 1] where one is known; `load` is the id of that load. `failure` says why the last load
    failed, until the next begins. `resting` says that the model in use has given its memory back;
    it returns with the next run.
    """

    info: ModelInfo | None = None
    loading: str = ""
    load: str = ""
    words: str = ""
    share: float | None = None
    failure: str = ""
    resting: bool = False

    @property
    def phase(self) -> str:
        """One of `loading`, `failed`, `ready`, `empty`, the first that applies."""
        if self.loading:
            return "loading"
        if self.failure:
            return "failed"
        return "ready" if self.info else "empty"


class Load:
    """One load, from the asking to its end; made by `ModelHost`.

    `id` names it to those who may stop it, and cannot be guessed. `error` is why it failed.
    """

    def __init__(self, spec: ModelSpec | str) -> None:
        self.id = secrets.token_urlsafe(9)
        self.spec = ModelSpec(spec) if isinstance(spec, str) else spec
        self.name = self.spec.short_name
        self.error: BaseException | None = None
        self._stop = threading.Event()
        self._done = threading.Event()

    def stop(self) -> None:
        """Give the load up: between two files or weights, and before it takes effect."""
        self._stop.set()

    def check(self) -> None:
        """Raise `LoadStoppedError` when it was told to stop."""
        if self.stopped:
            raise LoadStoppedError

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""
        return self._stop.is_set()

    @property
    def failure(self) -> str:
        """What to tell a user of its failure, or ""; what is no `ModelError` goes to the log."""
        if self.error is None:
            return ""
        if isinstance(self.error, ModelError):
            return str(self.error)
        return f"{self.name} could not be loaded ({type(self.error).__name__})."

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

"""One load of a model: who makes it, how far it is, how it is stopped and how it failed."""

from __future__ import annotations

import secrets
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from xtc_viz.errors import ModelError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.spec import ModelSpec

POLL = 0.1  # seconds between two looks at whether a load was stopped
PATIENCE = 1.0  # seconds for a stopped load to come to its own end

T = TypeVar("T")

# Called with words for people and the share that is done, in [0, 1], or None if unknown.
Progress = Callable[[str, float | None], None]


def no_progress(words: str, share: float | None) -> None:
    """Ignore how far it is."""


class LoadStoppedError(Exception):
    """A load was told to stop: what a `Progress` raises to end it."""


class Loader(Protocol):
    """Makes models of specs, for `ModelHost`; there is one for every place where models run.

    What went wrong is raised as `ModelError`, in words for people. A `LoadStoppedError` from
    `progress` passes through.
    """

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LanguageModel]:
        """Do what disturbs no decode, such as a download, and return what makes the model.

        Each of the two steps calls `progress` now and then.
        """

    def free_memory(self) -> None:
        """Give back the memory of models that no longer have an owner."""


class LoaderByKind:
    """Lets the kind of a spec decide which loader makes the model (a `Loader`)."""

    def __init__(self, loaders: Mapping[type[ModelSpec], Loader]) -> None:
        self._loaders = dict(loaders)

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LanguageModel]:
        if type(spec) not in self._loaders:
            raise TypeError(f"no loader takes {spec!r}")
        return self._loaders[type(spec)].fetch(spec, progress)

    def free_memory(self) -> None:
        for loader in self._loaders.values():
            loader.free_memory()


class NoLoader:
    """Loads nothing: for a host that keeps the model which it was given (a `Loader`)."""

    def fetch(self, spec: ModelSpec, progress: Progress) -> Callable[[], LanguageModel]:
        raise ModelError(f"{spec.short_name} cannot be loaded: the model of this page is fixed.")

    def free_memory(self) -> None:
        pass


class Load:
    """One load, from its request to its end; made by `ModelHost`.

    `id` names it to those who may stop it, and cannot be guessed. `error` is why it failed.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self.id = secrets.token_urlsafe(9)
        self.spec = spec
        self.name = spec.short_name
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

    def finish(self) -> None:
        """Let those go on who wait for the end of the load."""
        self._done.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the load, at most `seconds`; returns whether it has ended."""
        return self._done.wait(seconds)


def forget_frames(error: BaseException) -> None:
    """Drop the local variables of what failed: a half-loaded model among them would live on."""
    link: BaseException | None = error
    while link is not None:
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__


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

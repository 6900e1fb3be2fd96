"""The one owner of a model: one decode or load at a time, in the order of asking."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

from xtc_viz.errors import BusyError, ModelError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.idle import IdleTimer
from xtc_viz.models.load import Load, Loader, LoadStoppedError, NoLoader, forget_frames
from xtc_viz.models.occupancy import Occupancy
from xtc_viz.models.queue import Place, TurnQueue
from xtc_viz.models.spec import ModelSpec
from xtc_viz.models.state import HostState
from xtc_viz.records.modelinfo import ModelInfo

POLL = 0.05  # seconds between two looks of a waiting load at whether it was stopped
log = logging.getLogger(__name__)


class Turn:
    """A place in the queue for the model; made by `ModelHost.turn`.

    Use it in a `with` statement; entering takes a place, leaving gives it up, whether its turn
    has come or not, from whatever thread.
    """

    def __init__(
        self,
        host: ModelHost,
        visitor: str = "",
        *,
        for_load: bool = False,
        background: bool = False,
    ) -> None:
        self._host = host
        self._place = Place(visitor, for_load, background)

    def __enter__(self) -> Self:
        self._host._join(self._place)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._host._leave(self._place)

    @property
    def ahead(self) -> int:
        """How many decodes and loads must end before this turn comes."""
        return self._host._ahead(self._place)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the turn, at most `seconds`; returns whether it has come."""
        return self._host._wait(self._place, seconds)

    @property
    def wanted(self) -> bool:
        """Whether someone waits who is not in the background: time for such a turn to `pause`."""
        return self._host._wanted()

    def pause(self) -> None:
        """Let all others go first; this turn comes again (`wait`)."""
        self._host._pause(self._place)

    @property
    def model(self) -> LanguageModel:
        """The model, for as long as the turn lasts.

        Raises:
            BusyError: the turn has not come, or is over.
            ModelError: no model could be loaded.
        """
        return self._host._model_for(self._place)


class ModelHost:
    """Holds the current model and hands it out, one turn at a time.

    All methods may be called from any thread. A decode that is driven from several threads, as
    the generators of a web server are, is one turn.

    `loader` makes other models; without one the host keeps the model that it was given.
    `max_waiting` is the most decodes that may wait at once; further ones are refused.
    `max_per_visitor` is the most of one visitor, active or waiting, where visitors are known.
    After `rest_after` seconds without a decode a loaded model gives its memory back until it is
    needed.
    """

    def __init__(
        self,
        model: LanguageModel | None = None,
        loader: Loader | None = None,
        *,
        max_waiting: int | None = None,
        max_per_visitor: int | None = None,
        rest_after: float | None = None,
    ) -> None:
        self._loader = loader or NoLoader()
        # A plain lock, held for moments only. A turn is a place in the queue and no lock, so it
        # may begin in one thread and end in another.
        self._changed = threading.Condition(threading.Lock())
        self._occupancy = Occupancy(model, TurnQueue(max_waiting, max_per_visitor))
        self._idle = IdleTimer(rest_after, self._rest_if_idle)

    @property
    def state(self) -> HostState:
        return self._occupancy.state

    @property
    def info(self) -> ModelInfo | None:
        """What is known of the model in use."""
        return self.state.info

    @property
    def resident(self) -> LanguageModel | None:
        """The model in memory, without a turn: for its `info` and its tokenizer alone."""
        with self._changed:
            return self._occupancy.model

    @property
    def waiting(self) -> int:
        """How many decodes and loads are waiting behind the one that runs."""
        with self._changed:
            return self._occupancy.turns.waiting

    @property
    def load_ids(self) -> tuple[str, ...]:
        """The ids of the loads that are not over, the one on its way first."""
        with self._changed:
            return tuple(load.id for load in self._occupancy.loads)

    @property
    def can_rest(self) -> bool:
        """Whether the model in use could be loaded again, and so give its memory back."""
        with self._changed:
            return self._occupancy.can_rest

    def turn(self, visitor: str = "", *, background: bool = False) -> Turn:
        """Return a place in the queue for one decode; see `Turn`. `visitor` says whose it is.

        Entering it raises `BusyError` when `max_waiting` others wait already, or when this visitor
        has `max_per_visitor` places. One in the `background` is not counted, and waits until nobody
        else wants the model; who has it looks at `wanted` between its steps.
        """
        return Turn(self, visitor, background=background)

    def load(self, spec: ModelSpec) -> ModelInfo:
        """Load a model in place of the current one and return what is known of it.

        Loads run one after the other. A download does not disturb decodes; to read the weights
        the load takes its turn in the queue. When it fails or is stopped, the former model stays.

        Raises:
            ModelError: the model could not be loaded, or the load was stopped.
        """
        return self._perform(self._begin(spec))

    def load_in_background(self, spec: ModelSpec) -> Load:
        """Begin to load in another thread; see `state` and the returned `Load`."""
        load = self._begin(spec)
        self._start(load)
        return load

    def stop_load(self, load_id: str) -> bool:
        """Stop this load and no other one; returns whether it was not over yet."""
        with self._changed:
            stopped = [load for load in self._occupancy.loads if load.id == load_id]
        for load in stopped:
            load.stop()
        return bool(stopped)

    def rest(self) -> None:
        """Give the memory of the model back at once; the next decode loads it again.

        Raises:
            BusyError: a run or a load is going on.
            ModelError: there is no model that could be loaded again.
        """
        with self._changed:
            self._occupancy.rest()
        self._loader.free_memory()

    # Loads

    def _begin(self, spec: ModelSpec) -> Load:
        load = Load(spec)
        # Noted before its thread runs, so that nobody finds the host empty in between.
        with self._changes():
            self._occupancy.begin(load)
        return load

    def _start(self, load: Load) -> None:
        def run() -> None:
            try:
                self._perform(load)
            except ModelError:
                pass  # the load itself says so to whoever began it
            except Exception:
                log.exception("loading %s failed", load.name)

        threading.Thread(target=run, name=f"load {load.name}", daemon=True).start()

    def _perform(self, load: Load) -> ModelInfo:
        try:
            while not self._is_first(load, POLL):
                load.check()
            return self._read(load)
        except LoadStoppedError as stopped:
            forget_frames(stopped)
            load.error = ModelError(f"Loading {load.name} was stopped.")
            raise load.error from None
        except BaseException as error:
            forget_frames(error)
            load.error = error
            raise
        finally:
            if load.error:
                self._loader.free_memory()
            self._end(load)

    def _is_first(self, load: Load, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._occupancy.loads[0] is load, seconds)

    def _read(self, load: Load) -> ModelInfo:
        def progress(words: str, share: float | None) -> None:
            with self._changes():
                self._occupancy.state = self._occupancy.state.at(words, share)
            load.check()

        read = self._loader.fetch(load.spec, progress)
        with Turn(self, for_load=True) as turn:
            while not turn.wait(POLL):
                progress("waiting for the model to be free", None)
            model = read()
            load.check()
            with self._changes():
                self._occupancy.install(model, load.spec)
            self._loader.free_memory()
        return model.info

    def _end(self, load: Load) -> None:
        """Take a load off the list; let the model at rest come back if someone waits for it."""
        with self._changes():
            self._occupancy.end(load)
            back = self._occupancy.return_load(load)
        if back:
            self._start(back)
        load.finish()

    def _rest_if_idle(self) -> None:
        with suppress(BusyError, ModelError):
            self.rest()

    # Turns

    def _join(self, place: Place) -> None:
        with self._changes():
            self._occupancy.turns.join(place)
            self._idle.cancel()
            back = None if place.for_load else self._occupancy.return_load()
        if back:
            self._start(back)

    def _leave(self, place: Place) -> None:
        with self._changes():
            self._occupancy.turns.leave(place)
            if self._occupancy.is_idle:
                self._idle.start()

    def _ahead(self, place: Place) -> int:
        with self._changed:
            return self._occupancy.ahead(place)

    def _wait(self, place: Place, seconds: float | None) -> bool:
        with self._changed:
            if not self._changed.wait_for(lambda: self._occupancy.is_next(place), seconds):
                return False
            self._occupancy.turns.begin(place)
            return True

    def _wanted(self) -> bool:
        with self._changed:
            return self._occupancy.turns.wanted

    def _pause(self, place: Place) -> None:
        with self._changes():
            self._occupancy.turns.pause(place)

    def _model_for(self, place: Place) -> LanguageModel:
        with self._changed:
            return self._occupancy.model_for(place)

    @contextmanager
    def _changes(self) -> Iterator[None]:
        """Hold the lock, and wake those who wait for a change."""
        with self._changed:
            yield
            self._changed.notify_all()

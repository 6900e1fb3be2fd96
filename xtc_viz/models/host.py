"""The one owner of the device: one model, one decode or load at a time, in the order of asking."""

from __future__ import annotations

import logging
import threading
from collections import deque
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from xtc_viz.errors import BusyError, ModelError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.load import (
    HostState,
    Load,
    Loader,
    forget_frames,
    free_memory,
    load_local,
)
from xtc_viz.models.queue import Line, Place
from xtc_viz.models.spec import LoadStoppedError, ModelSpec
from xtc_viz.records.trace import ModelInfo

log = logging.getLogger(__name__)


class Turn:
    """A place in the queue for the model; made by `ModelHost.turn`.

    Use it in a `with` statement; entering takes a place, leaving gives it up, whether its turn
    has come or not, from whatever thread.
    """

    def __init__(self, host: ModelHost, visitor: str = "", *, for_load: bool = False) -> None:
        self._host = host
        self._place = Place(visitor, for_load)

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
    def model(self) -> LanguageModel:
        """The model, for as long as the turn lasts.

        Raises:
            BusyError: the turn has not come, or is over.
            ModelError: no model could be loaded.
        """
        return self._host._model_of(self._place)


class ModelHost:
    """Holds the current model and hands it out, one turn at a time.

    All methods may be called from any thread. A decode that is driven from several threads, as
    the generators of a web server are, is one turn.

    `max_waiting` is the most decodes that may wait at once; further ones are refused.
    `max_per_visitor` is the most of one visitor, going or waiting, where visitors are told. After
    `rest_after` seconds without a decode a loaded model gives its memory back until it is needed.
    """

    def __init__(
        self,
        model: LanguageModel | None = None,
        loader: Loader = load_local,
        *,
        max_waiting: int | None = None,
        max_per_visitor: int | None = None,
        rest_after: float | None = None,
    ) -> None:
        self._loader = loader
        self._model = model
        self._spec: ModelSpec | None = None
        self._rest_after = rest_after
        self._rest: threading.Timer | None = None
        self._state = HostState(info=model.info if model else None)
        # A plain lock, held for moments only. A turn is a place in the line and no lock, so it
        # may begin in one thread and end in another.
        self._changed = threading.Condition(threading.Lock())
        self._line = Line(max_waiting, max_per_visitor)
        # The loads that are not over, the one on its way first.
        self._loads: deque[Load] = deque()

    @property
    def state(self) -> HostState:
        return self._state

    @property
    def info(self) -> ModelInfo | None:
        """What is known of the model in use."""
        return self._state.info

    @property
    def resident(self) -> LanguageModel | None:
        """The model in memory, without a turn: for its `info` and its tokenizer alone."""
        with self._changed:
            return self._model

    @property
    def waiting(self) -> int:
        """How many decodes and loads are waiting behind the one that runs."""
        with self._changed:
            return self._line.waiting

    def turn(self, visitor: str = "") -> Turn:
        """Return a place in the queue for one decode; see `Turn`. `visitor` says whose it is.

        Entering it raises `BusyError` when `max_waiting` others wait already, or when this visitor
        has `max_per_visitor` places.
        """
        return Turn(self, visitor)

    @property
    def loads(self) -> tuple[str, ...]:
        """The ids of the loads that are not over, the one on its way first."""
        with self._changed:
            return tuple(load.id for load in self._loads)

    def load(self, spec: ModelSpec | str) -> ModelInfo:
        """Load a model in place of the current one and return what is known of it.

        Loads run one after the other. A download does not disturb decodes; to read the weights
        the load takes its turn in the queue. When it fails or is stopped, the former model stays.

        Raises:
            ModelError: the model could not be loaded, or the load was stopped.
        """
        load = Load(spec)
        self._enlist(load)
        return self._perform(load)

    def load_in_background(self, spec: ModelSpec | str) -> Load:
        """Begin to load in another thread; see `state` and the returned `Load`."""
        load = Load(spec)
        self._enlist(load)
        self._start(load)
        return load

    def stop_load(self, load_id: str) -> bool:
        """Stop this load and no other one; returns whether it was not over yet."""
        with self._changed:
            found = next((load for load in self._loads if load.id == load_id), None)
        if found:
            found.stop()
        return found is not None

    def unload(self) -> None:
        """Forget the model and free its memory; waits for the decodes before it."""
        with Turn(self, for_load=True) as turn:
            turn.wait()
            self._install(None, None)

    @property
    def can_rest(self) -> bool:
        """Whether the model in use could be loaded again, and so give its memory back."""
        with self._changed:
            return self._model is not None and self._spec is not None

    def rest(self) -> None:
        """Give the memory of the model back at once; the next decode loads it again.

        Raises:
            BusyError: a run or a load is going on.
            ModelError: there is no model that could be loaded again.
        """
        with self._changed:
            if not self._line.empty:
                raise BusyError("The model is writing: it can be put away when no run is going on.")
            if self._loads:
                raise BusyError(f"{self._loads[0].name} is being loaded: stop that first, or wait.")
            if self._model is None or self._spec is None:
                raise ModelError("There is no model in memory that could come back by itself.")
            self._model = None
            self._state = replace(self._state, resting=True)
        free_memory()

    def _enlist(self, load: Load) -> None:
        with self._changed:
            self._loads.append(load)
            if len(self._loads) == 1:
                # Said before its thread runs, so that nobody finds the host empty in between.
                self._say_begun(load)

    def _start(self, load: Load) -> None:
        def run() -> None:
            try:
                self._perform(load)
            except ModelError:
                pass  # who asked for it finds it in the load
            except Exception:
                log.exception("loading %s failed", load.name)

        threading.Thread(target=run, name=f"load {load.name}", daemon=True).start()

    def _perform(self, load: Load) -> ModelInfo:
        try:
            while not self._is_first(load, 0.05):
                load.check()
            return self._load(load).info
        except LoadStoppedError as stopped:
            forget_frames(stopped)
            load.error = ModelError(f"Loading {load.name} was stopped.")
            raise load.error from None
        except BaseException as error:
            forget_frames(error)
            load.error = error
            raise
        finally:
            self._end(load)

    def _is_first(self, load: Load, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._loads[0] is load, seconds)

    def _say_begun(self, load: Load) -> None:
        self._state = replace(
            self._state, loading=load.name, load=load.id, words="", share=None, failure=""
        )

    def _end(self, load: Load) -> None:
        """Take a load off the list; let the model that rests come back for who waits for it."""
        back: Load | None = None
        with self._changed:
            self._loads.remove(load)
            needed = self._model is None and self._line.has_decodes
            if needed and self._spec and self._spec != load.spec and not self._loads:
                back = Load(self._spec)
                self._loads.append(back)
            if self._state.load == load.id:
                failure = "" if load.stopped else load.failure
                self._state = replace(
                    self._state, loading="", load="", words="", share=None, failure=failure
                )
            if self._loads and not self._state.load:
                self._say_begun(self._loads[0])
            self._changed.notify_all()
        if back:
            self._start(back)
        load._done.set()

    def _load(self, load: Load) -> LanguageModel:
        def progress(words: str, share: float | None) -> None:
            self._set(words=words, share=share)
            load.check()

        read = self._loader(load.spec, progress)
        with Turn(self, for_load=True) as turn:
            while not turn.wait(0.05):
                progress("waiting for the model to be free", None)
            model = read()
            if load.stopped:
                del model
                free_memory()
                raise LoadStoppedError
            self._install(model, load.spec)
        return model

    def _install(self, model: LanguageModel | None, spec: ModelSpec | None) -> None:
        with self._changed:
            former = self._model is not None
            self._model, self._spec = model, spec
            if model:
                self._state = HostState(info=model.info)
            else:  # a download that is going on does
                self._state = replace(self._state, info=None, failure="", resting=False)
            self._changed.notify_all()
        if former:
            free_memory()

    def _set(self, **values: Any) -> None:
        with self._changed:
            self._state = replace(self._state, **values)
            self._changed.notify_all()

    def _join(self, place: Place) -> None:
        with self._changed:
            self._line.join(place)
            self._keep_awake()
            asleep = self._model is None and not self._state.loading and not place.for_load
            spec = self._spec if asleep else None
        if spec:
            self.load_in_background(spec)

    def _leave(self, place: Place) -> None:
        with self._changed:
            self._line.leave(place)
            idle = self._line.empty and self._spec and self._model
            if idle and self._rest_after is not None:
                self._keep_awake()
                self._rest = threading.Timer(self._rest_after, self._rest_if_idle)
                self._rest.daemon = True
                self._rest.start()
            self._changed.notify_all()

    def _keep_awake(self) -> None:
        if self._rest:
            self._rest.cancel()
            self._rest = None

    def _rest_if_idle(self) -> None:
        with suppress(BusyError, ModelError):
            self.rest()

    def _ahead(self, place: Place) -> int:
        with self._changed:
            return self._line.ahead(place, self._awaits_first_model)

    @property
    def _awaits_first_model(self) -> bool:
        # Decodes wait for the first model, so the load that brings it goes before them.
        return self._model is None and bool(self._state.loading)

    def _wait(self, place: Place, seconds: float | None) -> bool:
        def comes() -> bool:
            return self._line.is_next(place, self._awaits_first_model)

        with self._changed:
            if not self._changed.wait_for(comes, seconds):
                return False
            self._line.begin(place)
            return True

    def _model_of(self, place: Place) -> LanguageModel:
        with self._changed:
            if self._line.going is not place:
                raise BusyError("The model is in use by another run or load.")
            if self._model is None:
                words = "No model is loaded: choose one."
                if self._spec:
                    words = f"{self._spec.short_name} was not loaded again. Another try does it."
                raise ModelError(self._state.failure or words)
            return self._model

"""The one run of the laboratory on a server: its thread, how it stands, and how it gives way.

It holds a turn in the background (`models.queue`), looks between two steps whether anyone else
wants the model, and lets them have it; its own cache waits meanwhile, so nothing is written twice.
A model's server that goes away is waited for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from time import perf_counter

from xtc_viz.errors import BusyError, ModelError, StoreError, XTCVizError
from xtc_viz.lab.cell import run_name
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.runner import ROWS, Progress, run_with
from xtc_viz.lab.store import Store
from xtc_viz.lab.workers.here import Here
from xtc_viz.lab.workers.patient import Patient
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.host import ModelHost, Turn
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.ui.lab.choice import Choice

POLL = 0.1  # seconds between two looks at whether a run that waits is to stop
STORED = "What was written is stored."
log = logging.getLogger(__name__)


class Phase(StrEnum):
    """How the run of a laboratory stands."""

    IDLE = "idle"
    WAITING = "waiting"
    """For the model, at its begin."""
    WRITING = "writing"
    PAUSED = "paused"
    """Visitors' runs or a load go first."""
    STOPPING = "stopping"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def going(self) -> bool:
        return self in (Phase.WAITING, Phase.WRITING, Phase.PAUSED, Phase.STOPPING)


@dataclass(frozen=True, slots=True)
class Status:
    """How the latest run stands.

    `run` is its name in the store, "" until its model is there; `words` say why it failed. Each
    change has the next `number`.
    """

    phase: Phase = Phase.IDLE
    experiment: str = ""
    suite: str = ""
    run: str = ""
    model: str = ""
    progress: Progress | None = None
    words: str = ""
    number: int = 0


class Laboratory:
    """One run at a time, into one store. Safe to use from many threads."""

    def __init__(self, host: ModelHost, path: Path) -> None:
        self.host = host
        self.path = path
        self._lock = threading.Lock()
        self._status = Status()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._rates: dict[Identity, float] = {}

    @property
    def status(self) -> Status:
        return self._status

    def rate(self, identity: Identity) -> float | None:
        """Tokens a second of the latest run on this model, None before the first."""
        return self._rates.get(identity)

    def tried(self, identity: Identity, rate: float | None) -> None:
        """Note a rate that was tried out, until a run says better."""
        if rate is not None:
            self._rates.setdefault(identity, rate)

    def writes(self, run: str) -> bool:
        """Whether texts of this run are being written."""
        return self._status.phase.going and self._status.run == run

    def start(self, choice: Choice) -> None:
        """Begin a run in a thread of its own.

        Raises:
            BusyError: one is going.
        """
        with self._lock:
            if self._status.phase.going:
                raise BusyError(
                    f"A run of {self._status.experiment} is going: the laboratory does one at a "
                    "time. Let it end, or stop it."
                )
            stop = threading.Event()
            self._stop = stop
            self._status = Status(
                Phase.WAITING, choice.experiment.name, number=self._status.number + 1
            )
            self._thread = threading.Thread(
                target=self._work, args=(choice, stop), name="laboratory", daemon=True
            )
            self._thread.start()

    def stop(self) -> bool:
        """Let the run stop at its next step; returns whether one was going."""
        with self._lock:
            going = self._status.phase.going
            if going:
                self._stop.set()
                self._say(Phase.STOPPING)
        return going

    def join(self, seconds: float | None = None) -> None:
        """Wait for the end of the run."""
        if self._thread:
            self._thread.join(seconds)

    def _say(self, phase: Phase | None = None, **changes: object) -> None:
        now = self._status
        if phase is not None and now.phase is Phase.STOPPING and phase.going:
            phase = Phase.STOPPING
        self._status = replace(now, phase=phase or now.phase, number=now.number + 1, **changes)  # type: ignore[arg-type]

    def _work(self, choice: Choice, stop: threading.Event) -> None:
        try:
            with Store(self.path) as store, self.host.turn(background=True) as turn:
                complete = self._write(choice, store, turn, stop)
            words = Phase.DONE if complete else Phase.STOPPED
            with self._lock:
                self._say(words)
        except XTCVizError as error:
            self._fail(str(error))
        except Exception as error:
            log.exception("a run of the laboratory failed")
            self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, words: str) -> None:
        with self._lock:
            self._say(Phase.FAILED, words=f"{words.removesuffix('.')}. {STORED}")

    def _write(self, choice: Choice, store: Store, turn: Turn, stop: threading.Event) -> bool:
        """Write what is missing; return whether it came to its end.

        Raises:
            ModelError: there is no model, or it was changed meanwhile.
            StoreError: the store cannot be written.
        """
        if not self._come(turn, stop):
            return False
        model = turn.model
        experiment, suite = choice.on(model.info.has_chat_template)
        identity = Identity.of(model)
        with self._lock:
            self._say(
                Phase.WRITING,
                suite=suite.name,
                run=run_name(experiment, suite, identity),
                model=model.info.name,
            )
        workers = Patient(model) if isinstance(model, RemoteModel) else Here(model, ROWS)
        with closing(run_with(workers, experiment, suite, store)) as reports:
            for progress in self._between_others(reports, model, turn, stop):
                if progress.rate:
                    self._rates[identity] = progress.rate
                with self._lock:
                    self._say(Phase.WRITING, progress=progress)
        return not stop.is_set()

    def _between_others(
        self,
        reports: Iterator[Progress],
        model: LanguageModel,
        turn: Turn,
        stop: threading.Event,
    ) -> Iterator[Progress]:
        """Go on with a run, step by step, whenever nobody else wants the model."""
        away = 0.0
        while not stop.is_set():
            if turn.wanted:
                begin = perf_counter()
                turn.pause()
                with self._lock:
                    self._say(Phase.PAUSED)
                if not self._come(turn, stop, model):
                    return
                away += perf_counter() - begin
            begin = perf_counter()
            progress = next(reports, None)
            if progress is None:
                return
            if progress.absent:
                away += perf_counter() - begin
            yield without(away, progress)

    def _come(self, turn: Turn, stop: threading.Event, model: LanguageModel | None = None) -> bool:
        """Wait for the turn; False where the run is to stop. `model` must still be in use."""
        while True:
            here = turn.wait(POLL)
            if model is not None and self.host.resident is not model:
                other = self.host.info
                now = f"{other.name} is in use now" if other else "it is in use no more"
                raise ModelError(
                    f"This run was on {model.info.name}, and {now}: it can go on when that model "
                    "is back"
                )
            if stop.is_set():
                return False
            if here:
                return True


def without(away: float, progress: Progress) -> Progress:
    """Return how far a run is, as if it had not rested for so many seconds: it let others go first,
    or its server was away."""
    own, left = max(progress.seconds - away, 0.0), progress.seconds_left
    share = own / progress.seconds if progress.seconds else 1.0
    return replace(progress, seconds=own, seconds_left=left and left * share)


def check_store(path: Path) -> None:
    """Raise `StoreError` where this cannot be a store of a laboratory."""
    folder = path.resolve().parent
    if not folder.is_dir():
        raise StoreError(f"The folder of the laboratory's store, {folder.name}, is not there.")
    if path.exists():
        Store(path, create=False).close()

"""A run: the cells of an experiment that are missing, written and stored as they come.

    store = Store("mine.lab")
    for progress in run(EXPERIMENTS["main"], suite, model, store):
        print(progress.done, progress.total)

To close the iterator is to stop: what was written is stored, and the next run goes on from there.
Prompts come one after the other, in an order drawn by lot: metrics need all samples of a prompt, so
there are numbers soon, and intervals over what is there are sound at any time. Of a prompt its
samples come in an order drawn by lot too, so that two processes that run the same experiment into
one store meet only now and then: each looks again whether a cell is there before it begins it. The
conditions of one sample, which share their dice, stay together.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter

from xtc_viz.errors import SettingsError, StoreError
from xtc_viz.lab.cell import SAMPLING, Cell, cells, run_name
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.news import Absence, News
from xtc_viz.lab.store import Failure, Store, Written
from xtc_viz.lab.suite import Suite
from xtc_viz.lab.workers import Workers
from xtc_viz.lab.workers.here import Here
from xtc_viz.models.base import LanguageModel

ROWS = 16
BATCH = 16
"""Cells in a transaction, where they come that fast."""
LONGEST_WAIT = 1.0
"""Seconds for which a cell that is written may wait for others to be stored with."""
EVERY = 0.2
"""Seconds between two reports where no cell is finished."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    `done` of `total` cells are there: `before` of them since before this run, `written` ones by it,
    the rest by another process at the same time. `failed` ones will not be. `tokens` were written
    in `seconds`. `cell` is the latest that was finished, and `absent` are those who cannot write at
    present.
    """

    total: int
    before: int
    done: int
    written: int = 0
    failed: int = 0
    tokens: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    failures: tuple[Failure, ...] = ()
    cell: Cell | None = None
    absent: tuple[Absence, ...] = ()

    @property
    def rate(self) -> float | None:
        """Tokens a second of this run."""
        return self.tokens / self.seconds if self.seconds and self.tokens else None


def run(
    experiment: Experiment,
    suite: Suite,
    model: LanguageModel,
    store: Store,
    *,
    rows: int = ROWS,
    lot: random.Random | None = None,
) -> Generator[Progress, None, None]:
    """Write the cells of an experiment that the store lacks, up to `rows` side by side.

    Yields at the begin, when cells are finished, at least every `EVERY` seconds while steps go on,
    and at the end. `lot` decides the order of the cells.

    A prompt or a condition that this model cannot take is a `Failure`, and the rest goes on. Where
    a forward itself fails (memory runs out), what it was at is decoded again with half the rows.
    Failures are stored with the run.

    Raises:
        SettingsError: `rows` is less than 1.
        StoreError: the store cannot be read or written.
        Exception: what the model raised, when even single rows fail one after another.
    """
    if rows < 1:
        raise SettingsError("rows", "at least 1", rows)
    yield from run_with(Here(model, rows), experiment, suite, store, lot=lot)


def run_with(
    workers: Workers,
    experiment: Experiment,
    suite: Suite,
    store: Store,
    *,
    lot: random.Random | None = None,
) -> Generator[Progress, None, None]:
    """Do the same with these workers, wherever they are.

    Raises:
        StoreError: the store cannot be read or written.
        Exception: what the workers raise.
    """
    plan = list(cells(experiment, suite, workers.identity))
    name = run_name(experiment, suite, workers.identity)
    store.begin_run(
        name, experiment.to_dict(), suite.to_dict(), workers.identity, workers.info, SAMPLING
    )
    present = store.present(cell.name for cell in plan)
    missing = [cell for cell in plan if cell.name not in present]
    ledger = _Ledger(
        name, workers, store, _by_lot(missing, lot or random.Random()), len(plan), experiment.length
    )
    yield ledger.progress()
    try:
        with closing(workers.write(experiment, ledger.cells())) as reports:
            for news in reports:
                if ledger.take(news):
                    yield ledger.progress()
    except StoreError:
        raise
    except Exception as error:
        ledger.give_up(f"{type(error).__name__}: {error}")
        raise
    finally:
        ledger.flush()
    yield ledger.progress()


def _by_lot(missing: Sequence[Cell], lot: random.Random) -> list[Cell]:
    prompts: dict[tuple[int, str], dict[int, list[Cell]]] = {}
    for cell in missing:
        samples = prompts.setdefault((cell.seed, cell.prompt.id), {})
        samples.setdefault(cell.sample, []).append(cell)
    groups = [list(samples.values()) for samples in prompts.values()]
    lot.shuffle(groups)
    for group in groups:
        lot.shuffle(group)
    return [cell for group in groups for sample in group for cell in sample]


class _Ledger:
    """One run while it goes on: what is missing, what came, what is to be stored."""

    def __init__(
        self, name: str, workers: Workers, store: Store, missing: Sequence[Cell], total: int,
        length: int,
    ) -> None:  # fmt: skip
        self._name, self._store, self._workers = name, store, workers
        self._missing = {cell.name: cell for cell in missing}
        self._total, self._before, self._length = total, total - len(missing), length
        self._ready: list[Written] = []
        self._unsaid: list[Failure] = []
        self._flushed = self._reported = self._begin = perf_counter()
        self._elsewhere = self._failed = self._tokens = self._flying = 0
        self._lengths: list[int] = []
        self._failures: dict[tuple[str, str], Failure] = {}
        self._latest: Cell | None = None
        self._absent: tuple[Absence, ...] = ()

    def cells(self) -> Iterator[Cell]:
        """Return what is missing; what another process wrote by now is left out."""
        for name, cell in self._missing.items():
            if name in self._store:
                self._elsewhere += 1
            else:
                yield cell

    def take(self, news: News) -> bool:
        """Take news in, and store what is due; return whether it is time for a report."""
        now = perf_counter()
        self._tokens += news.tokens
        self._flying = news.flying
        changed, self._absent = news.absent != self._absent, news.absent
        if news.written and not self._ready:
            self._flushed = now
        for written in news.written:
            self._ready.append(written)
            self._lengths.append(len(written.tokens))
            self._latest = self._missing[written.name]
        for _, failure in news.failed:
            self._fail(failure)
        self._failed += len(news.failed)
        waited = now - self._flushed > LONGEST_WAIT
        if len(self._ready) >= BATCH or self._unsaid or (self._ready and waited):
            self.flush()
        due = bool(news.written or news.failed or changed) or now - self._reported > EVERY
        if due:
            self._reported = now
        return due

    def give_up(self, message: str) -> None:
        """Note why the run ends early."""
        self._fail(Failure("", "", message))

    def flush(self) -> None:
        """Store what is ready."""
        self._flushed = perf_counter()
        if self._ready:
            self._store.add(self._ready, self._workers.identity, self._workers.info)
            self._ready.clear()
        if self._unsaid:
            self._store.fail(self._name, self._unsaid)
            self._unsaid.clear()

    def progress(self) -> Progress:
        seconds = perf_counter() - self._begin
        written = len(self._lengths)
        left = self._total - self._before - self._elsewhere - written - self._failed
        seconds_left: float | None = 0.0
        if left:
            mean = sum(self._lengths) / written if written else self._length
            tokens_left = max(left * mean - self._flying, 1.0)
            seconds_left = tokens_left * seconds / self._tokens if self._tokens else None
        return Progress(
            total=self._total,
            before=self._before,
            done=self._before + self._elsewhere + written,
            written=written,
            failed=self._failed,
            tokens=self._tokens,
            seconds=seconds,
            seconds_left=seconds_left,
            failures=tuple(self._failures.values()),
            cell=self._latest,
            absent=self._absent,
        )

    def _fail(self, failure: Failure) -> None:
        key = failure.condition, failure.prompt
        if key not in self._failures:
            self._failures[key] = failure
            self._unsaid.append(failure)

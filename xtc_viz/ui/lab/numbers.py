"""The numbers of a run, measured anew as its texts arrive: in another process, never more than part
of the time, so that neither the page nor anyone's run waits for them.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from xtc_viz.errors import SettingsError, XTCVizError
from xtc_viz.lab.against import Against, against, measured
from xtc_viz.lab.reading import find_run
from xtc_viz.lab.results import Results, results
from xtc_viz.lab.store import Store
from xtc_viz.sideprocess import MIB, Cost, SidePool

EVERY = 4.0  # seconds at least between two measurements of a run that goes on,
SHARE = 3.0  # and so many times as long as one takes
KEPT = 8
MEASURING = Cost(seconds=600.0, memory=4096 * MIB)
T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run came to when the store held so many `cells`; `words` say why there is nothing.

    It took so many `seconds`. The latest measurement of a run has the highest `number`.
    """

    results: Results | None
    words: str
    cells: int
    seconds: float = 0.0
    number: int = 0


@dataclass(slots=True)
class _Kept:
    measured: Measured | None = None
    going: bool = False
    ended: float = float("-inf")

    @property
    def took(self) -> float:
        return self.measured.seconds if self.measured else 0.0


class Numbers:
    """The latest numbers of the runs of a store, by run and baseline. For many threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pool = SidePool(processes=1, waiting=10**6)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str | None], _Kept] = OrderedDict()
        self._count = 0

    def latest(
        self, run: str, baseline: str | None = None, *, growing: bool = False
    ) -> Measured | None:
        """Return what was measured last, at once, None before the first; where there are texts by
        now that it does not know, a new measurement begins, of a run that is `growing` not at once.

        Raises:
            StoreError: the store cannot be read, or holds no such run.
        """
        with Store(self.path, create=False) as store:
            record, cells = find_run(store, run), len(store)
        name = record.name
        if baseline == record.experiment["conditions"][0]["name"]:
            baseline = None  # the usual one
        with self._lock:
            kept = self._kept.setdefault((name, baseline), _Kept())
            self._kept.move_to_end((name, baseline))
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            fresh = kept.measured is not None and kept.measured.cells == cells
            early = growing and monotonic() < kept.ended + max(EVERY, SHARE * kept.took)
            if fresh or kept.going or early:
                return kept.measured
            kept.going = True
        arguments = (kept, name, baseline)
        threading.Thread(target=self._measure, args=arguments, name="numbers", daemon=True).start()
        return kept.measured

    def apart(self, what: str, function: Callable[..., T], *arguments: Any) -> T:
        """Return `function(*arguments)`, done where runs are measured. Raises `XTCVizError`."""
        return self._pool.call(what, function, *arguments, most=MEASURING)

    def close(self) -> None:
        self._pool.close()

    def _measure(self, kept: _Kept, run: str, baseline: str | None) -> None:
        try:
            found = self.apart("Measuring this run", measure, self.path, run, baseline)
        except Exception as error:
            words = str(error) if isinstance(error, XTCVizError) else "It cannot be measured."
            if not isinstance(error, XTCVizError):
                log.exception("measuring a run failed")
            found = Measured(None, words, -1)
        with self._lock:
            self._count += 1
            kept.measured = replace(found, number=self._count)
            kept.ended, kept.going = monotonic(), False


def compared(path: Path, first: str, second: str) -> Against:
    """Return two stored runs held against each other.

    Raises:
        SettingsError: they are not to be compared; what differs is named.
        StoreError: one of them is not there.
    """
    with Store(path, create=False) as store:
        one, other = find_run(store, first), find_run(store, second)
        return against(*measured(store, one, store, other))


def measure(path: Path, run: str, baseline: str | None = None) -> Measured:
    """Return the numbers of a stored run, with its mechanism."""
    begin = monotonic()
    with Store(path, create=False) as store:
        cells, record = len(store), find_run(store, run)
        try:
            found = results(store, record, baseline=baseline, mechanism=True)
            return Measured(found, "", cells, monotonic() - begin)
        except SettingsError as error:
            if error.parameter != "run":
                raise
            words = "Numbers come with the first prompt whose texts are all there."
            return Measured(None, words, cells)

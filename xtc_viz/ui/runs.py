"""The runs that this process keeps, bounded, by an id that cannot be guessed.

The id is all that one needs to look at a run; nobody is asked who they are.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter, OrderedDict

from xtc_viz.errors import UnknownRunError
from xtc_viz.ui.run import Run

MAX_BYTES = 256 << 20  # some hundred runs of usual length
MAX_RUNS = 500


class RunStore:
    """The latest runs by id. Without room for one, the oldest go of whoever keeps the most.

    Safe to use from many threads. Kept runs (`keep=True`) are never dropped and do not count.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_runs: int = MAX_RUNS) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._owners: dict[str, str] = {}
        self._kept: dict[str, Run] = {}
        self._lock = threading.Lock()
        self._max_bytes = max_bytes
        self._max_runs = max_runs

    @staticmethod
    def reserve() -> str:
        """Return a fresh id for a run to come."""
        return secrets.token_urlsafe(16)

    def add(
        self, run: Run, run_id: str | None = None, *, keep: bool = False, owner: str = ""
    ) -> str:
        """Take a run in and return its id. `owner` is what its visitor is told apart by."""
        key = run_id or self.reserve()
        with self._lock:
            if keep:
                self._kept[key] = run
            else:
                self._runs[key] = run
                self._owners[key] = owner
                self._shrink(key)
        return key

    def get(self, run_id: object) -> Run:
        """Return a run. Raises `UnknownRunError`."""
        with self._lock:
            if isinstance(run_id, str):
                if run_id in self._kept:
                    return self._kept[run_id]
                if run_id in self._runs:
                    self._runs.move_to_end(run_id)
                    return self._runs[run_id]
        raise UnknownRunError

    def __len__(self) -> int:
        return len(self._runs) + len(self._kept)

    def _shrink(self, newest: str) -> None:
        sizes = {key: run.nbytes for key, run in self._runs.items()}
        kept: Counter[str] = Counter()
        for key, size in sizes.items():
            kept[self._owners[key]] += size
        while len(sizes) > 1 and (kept.total() > self._max_bytes or len(sizes) > self._max_runs):
            most = max(kept, key=kept.__getitem__)
            oldest = next((k for k in sizes if self._owners[k] == most and k != newest), None)
            # The newest may be all that they keep.
            gone = oldest or next(k for k in sizes if k != newest)
            kept[self._owners.pop(gone)] -= sizes.pop(gone)
            del self._runs[gone]

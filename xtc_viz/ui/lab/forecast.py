"""What a run will take, before it starts: cells, time, space."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from xtc_viz.lab.cell import cells, run_name
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.runner import ROWS
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import Suite

BYTES = 450
"""A token in the store, with its candidates: about 80 kB for a text of 176."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run of `total` cells takes of which `present` are there already.

    At most `tokens` are to be written, in about `seconds` where a rate is known, tokens a second:
    `measured` by a run of this server, else from the times of texts in the store. They take about
    `space` bytes, of which the disk has `free`.
    """

    run: str
    total: int
    present: int
    tokens: int
    rate: float | None
    measured: bool
    seconds: float | None
    space: int
    free: int

    @property
    def missing(self) -> int:
        return self.total - self.present


def forecast(
    experiment: Experiment, suite: Suite, identity: Identity, path: Path, rate: float | None = None
) -> Forecast:
    """Return what it takes to write what the store at `path` lacks of an experiment.

    `rate` is that of a run of this server, in tokens a second.

    Raises:
        StoreError: the store cannot be read.
    """
    names = [cell.name for cell in cells(experiment, suite, identity)]
    present, length, stored = 0, float(experiment.length), None
    if path.exists():
        with Store(path, create=False) as store:
            present = len(store.present(names))
            pace = store.pace(identity)
        if pace is not None and pace.length:
            length = min(length, experiment.length * pace.tokens / pace.length)
            stored = ROWS * pace.tokens / pace.seconds if pace.seconds else None
    tokens = round((len(names) - present) * length)
    speed = rate or stored
    return Forecast(
        run=run_name(experiment, suite, identity),
        total=len(names),
        present=present,
        tokens=tokens,
        rate=speed,
        measured=rate is not None,
        seconds=tokens / speed if speed else None,
        space=tokens * BYTES,
        free=shutil.disk_usage(path.resolve().parent).free,
    )

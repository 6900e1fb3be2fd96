"""What a report of a run holds, whatever it is written as."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version

import plotly.graph_objects as go

from xtc_viz import __version__
from xtc_viz.lab.beside import Beside, beside
from xtc_viz.lab.figures import FIGURES
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.reading import Count, Filter, cells_of, counts, entries
from xtc_viz.lab.report.sidebyside import SideBySide, side_by_side
from xtc_viz.lab.results import Results, results
from xtc_viz.lab.store import RunRecord, Store
from xtc_viz.records.modelinfo import ModelInfo

MAIN = ("distinct_2", "repeated_trigrams", "self_bleu", "embedding_distance", "tokens", "ended")
"""The metrics of which a report speaks first."""
_LIBRARIES = ("torch", "transformers", "numpy", "scipy", "rapidfuzz", "plotly")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure, how it is read, and what it shows."""

    name: str
    label: str
    meaning: str
    sentence: str
    figure: go.Figure


@dataclass(frozen=True)
class Report:
    """All that a report says of a run.

    `counts` say what is there of each condition, `missing` why the run cannot have some figures, by
    their labels. `info` is the model as the run's texts name it. `versions` are those of the
    program that measures, `made` is when, in seconds since 1970.
    """

    run: RunRecord
    results: Results
    counts: Sequence[Count]
    info: ModelInfo
    figures: Sequence[Drawn]
    missing: Mapping[str, str]
    samples: Sequence[SideBySide]
    beside: Beside
    versions: Mapping[str, str]
    made: float

    @cached_property
    def done(self) -> int:
        return sum(count.done for count in self.counts)

    @cached_property
    def total(self) -> int:
        return sum(count.total for count in self.counts)

    @property
    def partial(self) -> str:
        """Say what is missing; "" where everything is there."""
        if self.done == self.total:
            return ""
        short = [f"{one.condition} {one.total - one.done:,}" for one in self.counts
                 if one.done < one.total]  # fmt: skip
        return (
            f"This run is not complete: {self.total - self.done:,} of {self.total:,} texts are not "
            f"there, as it was stopped or as they failed ({', '.join(short)}). What is said here "
            "rests on the prompts that have all their samples."
        )

    @property
    def main(self) -> list[str]:
        """The metrics of `MAIN` that have a value here, or else all that have."""
        known = [name for name, own in self.results.means.items() if any(i.n for i in own.values())]
        return [name for name in MAIN if name in known] or known


def report(
    store: Store,
    run: RunRecord,
    metrics: Sequence[str] = tuple(METRICS),
    baseline: str | None = None,
    *,
    embedder: str = "lsa",
) -> Report:
    """Return what a report of a run holds, whole or not; arguments as those of `results`.

    Raises:
        SettingsError, StoreError, TraceError: as `results` does.
    """
    measured = results(store, run, metrics, baseline, mechanism=True, embedder=embedder)
    lacks = {name: one.missing(measured) for name, one in FIGURES.items()}
    return Report(
        run=run,
        results=measured,
        counts=counts(store, run),
        info=_info(store, run, measured.baseline),
        figures=tuple(
            Drawn(name, one.label, one.meaning, one.sentence(measured), one.draw(measured))
            for name, one in FIGURES.items()
            if not lacks[name]
        ),
        missing={FIGURES[name].label: lack for name, lack in lacks.items() if lack},
        samples=side_by_side(store, run, measured),
        beside=beside(measured),
        versions=versions(run),
        made=time.time(),
    )


def _info(store: Store, run: RunRecord, condition: str) -> ModelInfo:
    """Return the model as it stands with a text of a condition that has some."""
    cell, _ = next(entries(store, cells_of(run, Filter(conditions=(condition,)))))
    return store.read(cell.name)[1]


def versions(run: RunRecord) -> dict[str, str]:
    """Return the versions of what measures here, and of the sampling that wrote the texts."""
    by_name = {"xtc_viz": __version__, "sampling": str(run.sampling)}
    by_name["Python"] = ".".join(map(str, sys.version_info[:3]))
    for name in _LIBRARIES:
        try:
            by_name[name] = version(name)
        except PackageNotFoundError:
            by_name[name] = "not installed as a package"
    return by_name

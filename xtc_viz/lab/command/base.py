"""What a task of the command line is, and what tasks have in common.

A task's module imports nothing heavy at its top: help comes at once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xtc_viz.errors import SettingsError, XTCVizError

if TYPE_CHECKING:
    from xtc_viz.lab.experiment import Experiment
    from xtc_viz.lab.store import RunRecord, Store
    from xtc_viz.models.base import LanguageModel

DONE, FAILED, WRONG_INPUT, STOPPED = 0, 1, 2, 130
STORE = "xtc-viz-lab.sqlite"
FAKE, ALL = "fake", "all"
USUAL = ("distinct_2", "repeated_trigrams", "self_bleu", "embedding_distance", "tokens")
"""The metrics that are compared where none is named."""


RIGHT = ("passed", "rules_kept", "parses")
"""Those that come first where prompts say what is right."""


class RunError(XTCVizError):
    """A run that could not go on."""


@dataclass(frozen=True, slots=True)
class Task:
    """What `xtc-viz lab NAME` does: `words` say it in help, `add` gives the parser its arguments,
    `do` takes them and returns an exit code. `place` is its place in help."""

    name: str
    place: int
    words: str
    add: Callable[[argparse.ArgumentParser], object]
    do: Callable[[argparse.Namespace], int]


# Arguments


def add_store(task: argparse.ArgumentParser) -> None:
    task.add_argument(
        "--store", type=Path, default=Path(STORE), metavar="FILE",
        help=f"the file that keeps all texts (default: {STORE})",
    )  # fmt: skip


def add_run(task: argparse.ArgumentParser) -> None:
    task.add_argument(
        "run", nargs="?", default="", help="its name, or an experiment (default: latest)"
    )


# What they need


@contextmanager
def stored_run(options: argparse.Namespace) -> Iterator[tuple[Store, RunRecord]]:
    """Open the store and find the run that was named, or the latest. Raises `StoreError`."""
    from xtc_viz.lab.reading import find_run
    from xtc_viz.lab.store import Store

    with Store(options.store, create=False) as store:
        runs = store.runs()
        yield store, find_run(store, options.run or (runs[0].name if runs else ""))


def experiment(word: str) -> Experiment:
    """Return the experiment of this name, or in this TOML file. Raises `SettingsError`."""
    from xtc_viz.lab import tomlfile
    from xtc_viz.lab.builtin import EXPERIMENTS

    if word in EXPERIMENTS:
        return EXPERIMENTS[word]
    if word.endswith(".toml"):
        return tomlfile.load(word)
    known = ", ".join(EXPERIMENTS)
    raise SettingsError("experiment", f"one of {known}, or a file that ends in .toml", word)


def experiments(word: str) -> list[Experiment]:
    """Return the experiment of this name, or all that come with the app."""
    if word == ALL:
        from xtc_viz.lab.builtin import EXPERIMENTS

        return list(EXPERIMENTS.values())
    return [experiment(word)]


def model(name: str, options: argparse.Namespace) -> LanguageModel:
    """Load a model of this process by the options that `run` has."""
    if name == FAKE:
        from xtc_viz.models.fake import FakeModel

        return FakeModel()
    from xtc_viz.models.local.model import LocalModel, leave_a_core
    from xtc_viz.models.local.spec import LocalSpec

    leave_a_core()
    own = ("revision", "device", "dtype", "quantization")
    return LocalModel.load(LocalSpec(name, **{flag: getattr(options, flag) for flag in own}))


def metric_names(wanted: Sequence[str], run: RunRecord) -> Sequence[str] | None:
    """Return the metrics that were named, those that are usual for such a run, or None for all."""
    from xtc_viz.lab.results import judged

    if ALL in wanted:
        return None
    return wanted or ((*RIGHT, *USUAL) if judged(run) else USUAL)


def run_values(run: RunRecord) -> dict[str, Any]:
    """Return what names a run, as it is printed."""
    return {
        "run": run.name,
        "experiment": run.experiment["name"],
        "suite": run.suite["name"],
        "model": run.identity.name,
        "begun": time.strftime("%Y-%m-%d %H:%M", time.localtime(run.begun)),
    }

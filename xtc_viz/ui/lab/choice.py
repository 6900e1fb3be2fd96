"""What is to be run, as a page asks for it: one of the experiments that come with the app, a stored
run to go on with, or files of one's own. Names of files on the server mean nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from xtc_viz.errors import SettingsError, Words, shortened
from xtc_viz.lab import tomlfile
from xtc_viz.lab.builtin import EXPERIMENTS, fitting_suite
from xtc_viz.lab.cell import count
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.store import RunRecord
from xtc_viz.lab.suite import Suite, builtin_suites, load_suite, parse_suite

MAX_CELLS = 200_000
"""Cells of a run from the page: about 16 GB. The command line takes more."""
MAX_FILE = 1 << 20
"""Characters of a file."""
MAX_NAME = 200
NAMES = ("experiment", "suite", "small", "toml", "jsonl")


@dataclass(frozen=True, slots=True)
class File:
    """A file that somebody has dropped: its name, and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """An experiment to run. `suite` None is the one that fits the model (`on`)."""

    experiment: Experiment
    suite: Suite | None = None

    def on(self, has_chat_template: bool) -> tuple[Experiment, Suite]:
        """Return what it comes to on a model that has a chat template or not.

        Raises:
            SettingsError: it has more cells than a page may ask for.
        """
        suite = self.suite or _builtin(
            fitting_suite(self.experiment.suite, has_chat_template=has_chat_template)
        )
        experiment = replace(self.experiment, suite=suite.name)
        cells = count(experiment, suite)
        if cells > MAX_CELLS:
            bounds = f"at most {MAX_CELLS:,} cells (the command line takes more)"
            raise SettingsError("experiment", bounds, Words(f"{cells:,}"))
        return experiment, suite


def parse(data: object) -> Choice:
    """Return what a page chose: the name of an `experiment` or the `toml` of one, the name of a
    `suite` or the `jsonl` of one ("" is the experiment's own), and whether the `small` version.

    Raises:
        SettingsError, SuiteError: naming the file and what is wrong in it.
    """
    if not isinstance(data, Mapping):
        raise SettingsError("choice", "an object with named values", data)
    for name in data:
        if name not in NAMES:
            raise SettingsError(str(name), f"one of {', '.join(NAMES)}", name)
    small = data.get("small", False)
    if not isinstance(small, bool):
        raise SettingsError("small", "true or false", small)
    toml, jsonl = _file("toml", data.get("toml")), _file("jsonl", data.get("jsonl"))
    experiment = _experiment(data.get("experiment"), toml)
    suite = _suite(data.get("suite", ""), jsonl, experiment, toml)
    return Choice(experiment.in_small() if small else experiment, suite)


def of_run(run: RunRecord) -> Choice:
    """Return the choice that goes on with a stored run."""
    return Choice(Experiment.from_dict(run.experiment), Suite.from_dict(run.suite))


def _experiment(name: object, toml: File | None) -> Experiment:
    if toml is None:
        if not isinstance(name, str) or name not in EXPERIMENTS:
            raise SettingsError("experiment", f"one of {', '.join(EXPERIMENTS)}", name)
        return EXPERIMENTS[name]
    try:
        return tomlfile.loads(toml.text.removeprefix("\ufeff"))
    except SettingsError as error:
        where = f"{toml.name}: {error.parameter}"
        raise SettingsError(where, error.bounds, error.value) from error


def _suite(
    name: object, jsonl: File | None, experiment: Experiment, toml: File | None
) -> Suite | None:
    """Return the suite that is asked for, None where it is one that comes with the app and may
    give way to one that fits the model."""
    if jsonl is not None:
        stem = jsonl.name.removesuffix(".jsonl")
        lines = jsonl.text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
        return replace(parse_suite(jsonl.name, lines), name=stem)
    known = builtin_suites()
    if name:
        if not isinstance(name, str) or name not in known:
            raise SettingsError("suite", f"one of {', '.join(known)}", name)
        return _builtin(name)
    if experiment.suite not in known:
        where = f"{toml.name}: suite" if toml else "suite"
        bounds = f"one of {', '.join(known)}, or a JSONL file that is opened here too"
        raise SettingsError(where, bounds, experiment.suite)
    return None


def _builtin(name: str) -> Suite:
    return load_suite(name)


def _file(kind: str, value: Any) -> File | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or value.keys() != {"name", "text"}:
        raise SettingsError(kind, "a file with name and text", value)
    name, text = value["name"], value["text"]
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise SettingsError(f"{kind}: name", f"a text of 1 to {MAX_NAME} characters", name)
    if not isinstance(text, str) or len(text) > MAX_FILE:
        found = Words(f"{len(text):,} characters") if isinstance(text, str) else text
        raise SettingsError(f"{kind}: text", f"a text of at most {MAX_FILE:,} characters", found)
    return File(shortened(name), text)

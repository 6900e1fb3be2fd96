"""What the page of the laboratory may ask; the answers are drawn up by the modules beside this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xtc_viz.errors import ModelError, SettingsError, XTCVizError
from xtc_viz.lab import reading, tomlfile
from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.cell import count
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.results import Results
from xtc_viz.lab.store import Store
from xtc_viz.lab.suite import builtin_suites, load_suite
from xtc_viz.models.host import ModelHost
from xtc_viz.records.trace import Trace
from xtc_viz.ui.access import OpenTo
from xtc_viz.ui.lab import choice, listing, view
from xtc_viz.ui.lab.drawing import figures_of, report_of
from xtc_viz.ui.lab.forecast import forecast
from xtc_viz.ui.lab.laboratory import Laboratory
from xtc_viz.ui.lab.numbers import Measured, Numbers, compared
from xtc_viz.ui.lab.trial import tried_rate
from xtc_viz.ui.server import Question, answer

NO_MODEL = "No model is in memory: it comes back with a run, on the page or here."
MEASURING = "Being measured …"
REFUSED = (
    "The laboratory is for those who sit at this machine. Who runs the page can open it to all "
    "with --lab all."
)


class ClosedError(XTCVizError):
    """The laboratory is not for those who come from elsewhere."""

    def __init__(self) -> None:
        super().__init__(REFUSED)


@dataclass(frozen=True, slots=True)
class Lab:
    """The laboratory of one server: its run, its numbers, and who may use it."""

    laboratory: Laboratory
    numbers: Numbers
    counts: listing.Counts
    open_to: OpenTo

    @classmethod
    def at(cls, host: ModelHost, path: Path, open_to: OpenTo) -> Lab:
        """Return the laboratory that keeps its texts at `path`."""
        return cls(Laboratory(host, path), Numbers(path), listing.Counts(), open_to)

    @property
    def path(self) -> Path:
        return self.laboratory.path

    def results(self, run: object, baseline: object = None) -> Measured | None:
        if not isinstance(run, str) or not isinstance(baseline, str | None):
            raise SettingsError("run", "the name of a run", run)
        return self.numbers.latest(run, baseline, growing=self.laboratory.writes(run))

    def sure(self, run: object, baseline: object = None) -> Results:
        """Return the results of a run. Raises `XTCVizError` where there are none (yet)."""
        measured = self.results(run, baseline)
        if measured is None or measured.results is None:
            raise XTCVizError(measured.words if measured else MEASURING)
        return measured.results


def lab_questions(lab: Lab) -> list[Question]:
    """Return the functions that the page of the laboratory may call, by their names."""
    laboratory, path = lab.laboratory, lab.path

    def lab_choices() -> object:
        """The experiments and suites that come with the app, and where texts are kept."""
        sizes = {name: load_suite(name) for name in builtin_suites()}
        return {
            # Code is judged by running it, which the page never does.
            "experiments": [
                _about(one, sizes) for one in EXPERIMENTS.values() if one.suite != "code"
            ],
            "suites": [
                [name, len(suite.prompts), len({p.genre for p in suite.prompts})]
                for name, suite in sizes.items()
            ],
            "store": path.name,
        }

    def lab_toml(experiment: object) -> object:
        """An experiment as TOML, to be changed."""
        chosen = choice.parse({"experiment": experiment})
        return tomlfile.dumps(chosen.experiment)

    def lab_forecast(chosen: object) -> object:
        """What a choice will take."""
        model = laboratory.host.resident
        if model is None:
            raise ModelError(NO_MODEL)
        experiment, suite = choice.parse(chosen).on(model.info.has_chat_template)
        identity = Identity.of(model)
        taken = forecast(experiment, suite, identity, path, laboratory.rate(identity))
        if taken.rate is None and taken.missing:
            laboratory.tried(identity, tried_rate(laboratory.host, model, experiment, suite))
            taken = forecast(experiment, suite, identity, path, laboratory.rate(identity))
        return {
            "experiment": experiment.name,
            "question": experiment.question,
            "suite": suite.name,
            "model": model.info.name,
            "asks_for": experiment.model,
            "conditions": [one.name for one in experiment.conditions],
            "prompts": len(suite.take(experiment.prompts).prompts),
            "seeds": len(experiment.seeds),
            "samples": experiment.samples,
            "length": experiment.length,
            **view.forecast_of(taken),
        }

    def lab_start(chosen: object) -> object:
        """Begin a run; the answer is how it stands."""
        laboratory.start(choice.parse(chosen))
        return view.status_of(laboratory.status)

    def lab_go_on(run: object) -> object:
        """Write what a stored run lacks, on the model that wrote it."""
        with Store(path, create=False) as store:
            record = reading.find_run(store, str(run))
        model = laboratory.host.resident
        if model is not None and Identity.of(model) != record.identity:
            raise ModelError(
                f"This run is on {record.identity.name}, and {model.info.name} is in use: choose "
                "that model on the page first."
            )
        laboratory.start(choice.of_run(record))
        return view.status_of(laboratory.status)

    def lab_stop() -> object:
        """Stop the run; the answer is how it stands."""
        laboratory.stop()
        return view.status_of(laboratory.status)

    def lab_status() -> object:
        """How the run stands."""
        return view.status_of(laboratory.status)

    def lab_runs() -> object:
        """The stored runs, the latest first."""
        return listing.runs(path, lab.counts)

    def lab_numbers(run: object, baseline: object, have: object) -> object:
        """The table of a run, unless the page has this one: `have` is its number."""
        measured = lab.results(run, baseline)
        if measured is None:
            return {"number": 0, "words": MEASURING, "table": None}
        if measured.number == have:
            return {"number": have, "words": None, "table": None}
        shown = view.table_of(measured.results) if measured.results else None
        return {"number": measured.number, "words": measured.words, "table": shown}

    def lab_prompts(run: object, baseline: object, metric: object, condition: object) -> object:
        """What a number is the mean of, prompt by prompt."""
        return view.prompts_of(lab.sure(run, baseline), metric, condition)

    def lab_figures(run: object, baseline: object, metric: object) -> object:
        """The figures that a run can have, each with its sentence."""
        results = lab.sure(run, baseline)
        return lab.numbers.apart("Drawing figures", figures_of, results, str(metric or ""))

    def lab_report(run: object, baseline: object) -> object:
        """A run as one HTML file."""
        base = None if baseline is None else str(baseline)
        return lab.numbers.apart("Writing this report", report_of, path, str(run), base)

    def lab_samples(run: object, condition: object, prompt: object, beside: object) -> object:
        """The texts of a prompt under a condition, each beside that of the same dice."""
        other = None if beside in (None, "", condition) else str(beside)
        return listing.samples(path, str(run), str(condition), str(prompt or ""), other)

    def lab_compare(first: object, second: object) -> object:
        """Two runs side by side."""
        found = lab.numbers.apart("Comparing these runs", compared, path, str(first), str(second))
        return view.against_of(found)

    every = (
        lab_choices, lab_toml, lab_forecast, lab_start, lab_go_on, lab_stop, lab_status, lab_runs,
        lab_numbers, lab_prompts, lab_figures, lab_report, lab_samples, lab_compare,
    )  # fmt: skip
    return [guarded(lab, function) for function in every]


def guarded(lab: Lab, function: Callable[..., object]) -> Question:
    """Turn a function into a question of those whom the laboratory is open to."""
    return answer(function, refusing(function) if lab.open_to is OpenTo.OWN else None)


def refusing(function: Callable[..., object]) -> Callable[..., object]:
    def refuse(*_: object) -> object:
        raise ClosedError

    return refuse


def cells_as_trace(path: Path, names: object) -> Trace:
    """Return one stored cell, or two of the same dice side by side, as a run.

    Raises:
        SettingsError: these are no names of cells.
        StoreError: there is no such cell.
    """
    listed = names if isinstance(names, list) else []
    if not 1 <= len(listed) <= 2 or not all(isinstance(name, str) for name in listed):
        raise SettingsError("cell", "the names of one or two cells", names)
    with Store(path, create=False) as store:
        traces = [reading.trace(store, reading.find_cell(store, name)) for name in listed]
    return traces[0] if len(traces) == 1 else listing.side_by_side(*traces)


def _about(one: Experiment, suites: dict[str, Any]) -> dict[str, Any]:
    suite, small = suites[one.suite], one.in_small()
    return {
        "name": one.name,
        "question": one.question,
        "suite": one.suite,
        "conditions": [condition.name for condition in one.conditions],
        "cells": [count(small, suite), count(one, suite)],
    }

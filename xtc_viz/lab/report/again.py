"""How a run is run again: a command, and a file where the experiment's name is not enough."""

from __future__ import annotations

from shlex import quote

from xtc_viz.assets import STORY_MODEL
from xtc_viz.lab import tomlfile
from xtc_viz.lab.builtin import EXPERIMENTS, PLAIN
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.reading import experiment_of
from xtc_viz.lab.store import RunRecord
from xtc_viz.texts import visible

FILE = "mine.toml"


def command(run: RunRecord) -> str:
    """Return the line that runs it again; it names `FILE` where `toml` is needed too.

    A model that is a folder of one's own is called by the folder's name, as it calls itself.
    """
    experiment, identity = experiment_of(run), run.identity
    words = ["xtc-viz", "lab", "run", *_called(experiment)]
    if identity.name != STORY_MODEL.name:
        words += ["--model", identity.name]
        if identity.revision:
            words += ["--revision", identity.revision]
    return " ".join(quote(" ".join(visible(word).split())) for word in words)


def needs_file(run: RunRecord) -> bool:
    """Say whether the experiment is another one than that of its name which comes with the app."""
    return FILE in _called(experiment_of(run))


def toml(run: RunRecord) -> str:
    """Return the experiment as a file."""
    return tomlfile.dumps(experiment_of(run))


def _called(experiment: Experiment) -> list[str]:
    known = EXPERIMENTS.get(experiment.name)
    if known is None:
        return [FILE]
    suite = [] if experiment.suite in (known.suite, PLAIN.get(known.suite)) else [experiment.suite]
    values = experiment.to_dict() | {"suite": known.suite}
    option = ["--suite", *suite] if suite else []
    if values == known.to_dict():
        return [known.name, *option]
    if values == known.in_small().to_dict():
        return [known.name, "--small", *option]
    return [FILE]

"""`run`: write what of an experiment is missing."""

from __future__ import annotations

import argparse
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import SettingsError
from xtc_viz.lab.command.base import ALL, DONE, FAILED, FAKE, RunError, Task, experiments, model
from xtc_viz.lab.printing import Shown

if TYPE_CHECKING:
    from xtc_viz.lab.experiment import Experiment
    from xtc_viz.lab.store import Store
    from xtc_viz.models.base import LanguageModel


def _add(task: argparse.ArgumentParser) -> None:
    task.add_argument(
        "experiments", nargs="+", metavar="EXPERIMENT", help=f"a name, a TOML file, or `{ALL}`"
    )
    task.add_argument("--small", action="store_true", help="fewer prompts and shorter texts")
    task.add_argument("--suite", metavar="NAME", help="other prompts: a suite, or a JSONL file")
    task.add_argument(
        "--rows", type=int, default=16, metavar="N", help="texts at once (default: 16)"
    )
    task.add_argument(
        "--model",
        help="hub id, folder, or the address of a server such as http://127.0.0.1:8080 (default: "
        "the experiment's own, or the embedded story model); "
        f"`{FAKE}` is word salad that needs no weights",
    )
    for flag, default in (("revision", None), ("device", "auto"), ("dtype", "auto")):
        task.add_argument(f"--{flag}", default=default, help="as for the page")
    task.add_argument("--quantization", default="none", help="as for the page")


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.lab.store import Store
    from xtc_viz.lab.suite import load_suite

    wanted = [own for word in options.experiments for own in experiments(word)]
    if options.rows < 1:
        raise SettingsError("rows", "at least 1", options.rows)
    # Whatever is wrong is said before a model is loaded.
    for experiment in wanted:
        load_suite(options.suite or experiment.suite)
    if options.small:
        wanted = [experiment.in_small() for experiment in wanted]
    models: dict[str, LanguageModel] = {}
    codes = set()
    with Store(options.store) as store:
        for experiment in wanted:
            name = options.model or experiment.model or str(STORY_MODEL)
            if name not in models:
                models.clear()  # one at a time
                models[name] = model(name, options)
            codes.add(_run_one(experiment, models[name], store, options))
    return FAILED if FAILED in codes else DONE


def _run_one(
    experiment: Experiment, model: LanguageModel, store: Store, options: argparse.Namespace
) -> int:
    from xtc_viz.lab.builtin import fitting_suite
    from xtc_viz.lab.runner import run
    from xtc_viz.lab.suite import load_suite

    template = model.info.has_chat_template
    name = options.suite or fitting_suite(experiment.suite, has_chat_template=template)
    suite = load_suite(name)
    experiment = replace(experiment, suite=suite.name)
    show = Shown(experiment.name, model.info.name, as_json=options.json)
    try:
        with closing(run(experiment, suite, model, store, rows=options.rows)) as reports:
            for progress in reports:
                show.update(progress)
    except KeyboardInterrupt:
        show.end("stopped")
        raise
    except Exception as error:
        show.end("failed")
        if isinstance(error, SettingsError):
            raise
        # The store is full, or the model itself gave up: nothing after it would go better.
        raise RunError(str(error) or type(error).__name__) from error
    show.end("failed" if progress.failed else "done")
    return FAILED if progress.failed else DONE


TASK = Task("run", 20, "write what of an experiment is missing", _add, _do)

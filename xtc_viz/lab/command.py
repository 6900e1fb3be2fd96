"""The laboratory from the command line. What a task needs is imported when it is done."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import PromptError, SettingsError, StoreError, SuiteError, XTCVizError
from xtc_viz.lab.printing import Shown, print_json, print_table

if TYPE_CHECKING:
    from xtc_viz.lab.experiment import Experiment
    from xtc_viz.lab.store import Store
    from xtc_viz.models.base import LanguageModel

DONE, FAILED, WRONG_INPUT, STOPPED = 0, 1, 2, 130
STORE = "xtc-viz-lab.sqlite"
USUAL = ("distinct_2", "repeated_trigrams", "self_bleu", "embedding_distance", "tokens")
"""The metrics that are compared where none is named."""
FAKE, ALL = "fake", "all"
_EXAMPLES = """examples:
  xtc-viz lab list
  xtc-viz lab run main --small
  xtc-viz lab run all --small
  xtc-viz lab run main --model HuggingFaceTB/SmolLM2-135M-Instruct --store mine.sqlite
  xtc-viz lab list --toml main > mine.toml; xtc-viz lab run mine.toml
  xtc-viz lab show
  xtc-viz lab compare main --metric distinct_2
  xtc-viz lab export main --table main.csv
  xtc-viz lab export 3f2a91 --trace cell.json.gz

A run that was stopped, or killed, goes on where it was when the same command is given again.

exit codes: 0 done, 1 something failed, 2 wrong input, 130 stopped"""


class RunError(XTCVizError):
    """A run that could not go on."""


def main(arguments: Sequence[str]) -> int:
    """Do a task of the laboratory and return its exit code. Raises `SystemExit` for help."""
    options = parser().parse_args(arguments)
    try:
        return int(options.do(options))
    except (SettingsError, SuiteError, StoreError, PromptError) as error:
        return _complain(error, WRONG_INPUT)
    except (XTCVizError, OSError) as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        print("Stopped. What was written is stored.", file=sys.stderr)
        return STOPPED


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="xtc-viz lab",
        description="Run the paper's experiments on a model, and keep every text.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    tasks = top.add_subparsers(dest="task", required=True, metavar="TASK")

    def add(name: str, words: str, do: Any) -> argparse.ArgumentParser:
        task = tasks.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        task.set_defaults(do=do)
        task.add_argument(
            "--store", type=Path, default=Path(STORE), metavar="FILE",
            help=f"the file that keeps all texts (default: {STORE})",
        )  # fmt: skip
        task.add_argument("--json", action="store_true", help="print JSON, for scripts")
        return task

    task = add("list", "say which suites and experiments there are, and what a store holds", _list)
    task.add_argument("--toml", metavar="EXPERIMENT", help="print one as TOML, to change it")

    task = add("run", "write what of an experiment is missing", _run)
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
        help="hub id or folder (default: the experiment's own, or the embedded story model); "
        f"`{FAKE}` is word salad that needs no weights",
    )
    for flag, default in (("revision", None), ("device", "auto"), ("dtype", "auto")):
        task.add_argument(f"--{flag}", default=default, help="as for the page")
    task.add_argument("--quantization", default="none", help="as for the page")

    task = add("show", "count what is there of a run, and what is missing", _show)
    task.add_argument(
        "run", nargs="?", default="", help="its name, or an experiment (default: latest)"
    )

    task = add("compare", "hold a run's conditions against its baseline, with intervals", _compare)
    task.add_argument(
        "run", nargs="?", default="", help="its name, or an experiment (default: latest)"
    )
    task.add_argument("--baseline", metavar="NAME", help="the condition (default: the first)")
    task.add_argument(
        "--metric", action="append", default=[], metavar="NAME",
        help=f"this one only; may be given more than once (default: {', '.join(USUAL)}; or {ALL})",
    )  # fmt: skip

    task = add("export", "write a run as a table, or one cell as a trace for the page", _export)
    task.add_argument("what", metavar="RUN|CELL", help="a run or experiment, or a cell's name")
    task.add_argument("--table", type=Path, metavar="FILE", help=".csv, or .parquet with pyarrow")
    task.add_argument("--trace", type=Path, metavar="FILE", help=".json or .json.gz, of one cell")
    for flag in ("condition", "prompt", "genre"):
        task.add_argument(
            f"--{flag}", action="append", default=[], metavar="NAME",
            help="of a table: this one only; may be given more than once",
        )  # fmt: skip
    return top


# The tasks


def _list(options: argparse.Namespace) -> int:
    from xtc_viz.lab import cell, tomlfile
    from xtc_viz.lab.builtin import EXPERIMENTS
    from xtc_viz.lab.store import Store
    from xtc_viz.lab.suite import builtin_suites, load_suite

    if options.toml:
        print(tomlfile.dumps(_experiment(options.toml)), end="")
        return DONE
    suites = {name: load_suite(name) for name in builtin_suites()}
    listed = {
        "suites": [
            {
                "name": name,
                "prompts": len(suite.prompts),
                "genres": len({prompt.genre for prompt in suite.prompts}),
                "kinds": sorted({str(prompt.kind) for prompt in suite.prompts}),
            }
            for name, suite in suites.items()
        ],
        "experiments": [
            {
                "name": name,
                "suite": one.suite,
                "conditions": [condition.name for condition in one.conditions],
                "cells": cell.count(one, suites[one.suite]),
                "cells_small": cell.count(one.in_small(), suites[one.suite]),
                "question": one.question,
            }
            for name, one in EXPERIMENTS.items()
        ],
        "runs": [],
    }
    if options.store.exists():
        with Store(options.store, create=False) as store:
            listed["runs"] = [_run_values(run) for run in store.runs()]
    if options.json:
        print_json(listed)
        return DONE
    print("Suites")
    print_table(listed["suites"], ("name", "prompts", "genres", "kinds"))
    print("\nExperiments")
    print_table(listed["experiments"], ("name", "suite", "cells", "cells_small", "question"))
    print(f"\nRuns in {options.store.name}")
    print_table(listed["runs"], ("run", "experiment", "suite", "model", "begun"))
    return DONE


def _run(options: argparse.Namespace) -> int:
    from xtc_viz.lab.store import Store
    from xtc_viz.lab.suite import load_suite

    experiments = [own for word in options.experiments for own in _experiments(word)]
    if options.rows < 1:
        raise SettingsError("rows", "at least 1", options.rows)
    # Whatever is wrong is said before a model is loaded.
    for experiment in experiments:
        load_suite(options.suite or experiment.suite)
    if options.small:
        experiments = [experiment.in_small() for experiment in experiments]
    models: dict[str, LanguageModel] = {}
    codes = set()
    with Store(options.store) as store:
        for experiment in experiments:
            name = options.model or experiment.model or str(STORY_MODEL)
            if name not in models:
                models.clear()  # one at a time
                models[name] = _model(name, options)
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


def _show(options: argparse.Namespace) -> int:
    from xtc_viz.lab.reading import counts, find_run
    from xtc_viz.lab.store import Store

    with Store(options.store, create=False) as store:
        runs = store.runs()
        run = find_run(store, options.run or (runs[0].name if runs else ""))
        conditions = [asdict(count) for count in counts(store, run)]
    values = _run_values(run) | {"conditions": conditions}
    if options.json:
        print_json(values)
        return DONE
    print(f"{values['experiment']} on {values['model']}, run {run.name}, begun {values['begun']}")
    for count in conditions:
        count["missing"] = count["total"] - count["done"]
        tokens, ended = count["mean_tokens"], count["ended"]
        count["mean tokens"] = "" if tokens is None else f"{tokens:.1f}"
        count["ended"] = "" if ended is None else f"{ended:.0%}"
    print_table(conditions, ("condition", "total", "done", "missing", "mean tokens", "ended"))
    return DONE


def _compare(options: argparse.Namespace) -> int:
    from xtc_viz.lab import table
    from xtc_viz.lab.metrics import METRICS
    from xtc_viz.lab.reading import find_run
    from xtc_viz.lab.results import results
    from xtc_viz.lab.store import Store

    names = list(METRICS) if ALL in options.metric else options.metric or USUAL
    with Store(options.store, create=False) as store:
        runs = store.runs()
        run = find_run(store, options.run or (runs[0].name if runs else ""))
        measured = results(store, run, names, options.baseline)
    if options.json:
        print_json(_run_values(run) | table.values(measured))
        return DONE
    print(f"{run.experiment['name']} on {run.identity.name}, run {run.name}")
    print(f"{len(measured.whole)} prompts, against {measured.baseline}; 95 % intervals by prompt")
    for metric, rows in table.rows(measured).items():
        print(f"\n{metric.label}, {metric.direction}: {metric.meaning}")
        print_table(rows, table.COLUMNS)
    return DONE


def _export(options: argparse.Namespace) -> int:
    from xtc_viz.lab import export, reading
    from xtc_viz.lab.store import Store
    from xtc_viz.records import tracefile

    if bool(options.table) == bool(options.trace):
        raise SettingsError("export", "given one of --table and --trace", options.what)
    with Store(options.store, create=False) as store:
        if options.trace:
            name = reading.find_cell(store, options.what)
            tracefile.save(reading.trace(store, name), options.trace)
            values: dict[str, object] = {"cell": name, "file": str(options.trace)}
        else:
            run = reading.find_run(store, options.what)
            wanted = reading.Filter(options.condition, options.prompt, options.genre)
            plan = reading.cells_of(run, wanted)
            if not plan:
                raise SettingsError("export", "of cells that the run asks for", options.what)
            rows = export.write_table(options.table, reading.entries(store, plan))
            values = {"run": run.name, "file": str(options.table), "cells": rows}
    if options.json:
        print_json(values)
    else:
        print(f"{options.trace or options.table} is written.")
    return DONE


# What they need


def _experiment(word: str) -> Experiment:
    from xtc_viz.lab import tomlfile
    from xtc_viz.lab.builtin import EXPERIMENTS

    if word in EXPERIMENTS:
        return EXPERIMENTS[word]
    if word.endswith(".toml"):
        return tomlfile.load(word)
    known = ", ".join(EXPERIMENTS)
    raise SettingsError("experiment", f"one of {known}, or a file that ends in .toml", word)


def _experiments(word: str) -> list[Experiment]:
    if word == ALL:
        from xtc_viz.lab.builtin import EXPERIMENTS

        return list(EXPERIMENTS.values())
    return [_experiment(word)]


def _model(name: str, options: argparse.Namespace) -> LanguageModel:
    if name == FAKE:
        from xtc_viz.models.fake import FakeModel

        return FakeModel()
    from xtc_viz.models.local.model import LocalModel
    from xtc_viz.models.local.spec import LocalSpec

    own = ("revision", "device", "dtype", "quantization")
    return LocalModel.load(LocalSpec(name, **{flag: getattr(options, flag) for flag in own}))


def _run_values(run: Any) -> dict[str, Any]:
    return {
        "run": run.name,
        "experiment": run.experiment["name"],
        "suite": run.suite["name"],
        "model": run.identity.name,
        "begun": time.strftime("%Y-%m-%d %H:%M", time.localtime(run.begun)),
    }


def _complain(error: BaseException, code: int) -> int:
    print(f"xtc-viz lab: {error}", file=sys.stderr)
    return code

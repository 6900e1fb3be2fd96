"""`list`: suites, experiments, and the runs of a store."""

from __future__ import annotations

import argparse
from typing import Any

from xtc_viz.lab.command.base import DONE, Task, experiment, run_values
from xtc_viz.lab.printing import print_json, print_table


def _add(task: argparse.ArgumentParser) -> None:
    task.add_argument("--toml", metavar="EXPERIMENT", help="print one as TOML, to change it")


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.lab import tomlfile

    if options.toml:
        print(tomlfile.dumps(experiment(options.toml)), end="")
        return DONE
    listed = _listed(options)
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


def _listed(options: argparse.Namespace) -> dict[str, Any]:
    from xtc_viz.lab import cell
    from xtc_viz.lab.builtin import EXPERIMENTS
    from xtc_viz.lab.store import Store
    from xtc_viz.lab.suite import builtin_suites, load_suite

    suites = {name: load_suite(name) for name in builtin_suites()}
    listed: dict[str, Any] = {
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
            listed["runs"] = [run_values(run) for run in store.runs()]
    return listed


TASK = Task("list", 10, "say which suites and experiments there are, and what a store holds",
            _add, _do)  # fmt: skip

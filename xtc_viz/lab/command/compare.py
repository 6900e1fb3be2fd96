"""`compare`: each condition of a run against its baseline."""

from __future__ import annotations

import argparse

from xtc_viz.lab.command.base import ALL, DONE, USUAL, Task, add_run, run_values, stored_run
from xtc_viz.lab.printing import print_json, print_table


def _add(task: argparse.ArgumentParser) -> None:
    add_run(task)
    task.add_argument("--baseline", metavar="NAME", help="the condition (default: the first)")
    task.add_argument(
        "--metric", action="append", default=[], metavar="NAME",
        help=f"this one only; may be given more than once (default: {', '.join(USUAL)}; or {ALL})",
    )  # fmt: skip


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.lab import table
    from xtc_viz.lab.metrics import METRICS
    from xtc_viz.lab.results import results

    names = list(METRICS) if ALL in options.metric else options.metric or USUAL
    with stored_run(options) as (store, run):
        measured = results(store, run, names, options.baseline)
    if options.json:
        print_json(run_values(run) | table.values(measured))
        return DONE
    print(f"{run.experiment['name']} on {run.identity.name}, run {run.name}")
    print(f"{len(measured.whole)} prompts, against {measured.baseline}; 95 % intervals by prompt")
    for metric, rows in table.rows(measured).items():
        print(f"\n{metric.label}, {metric.direction}: {metric.meaning}")
        print_table(rows, table.COLUMNS)
    return DONE


TASK = Task("compare", 40, "hold a run's conditions against its baseline, with intervals",
            _add, _do)  # fmt: skip

"""`compare`: each condition of a run against its baseline."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from xtc_viz.lab.command.base import (
    ALL,
    DONE,
    USUAL,
    Task,
    add_run,
    metric_names,
    run_values,
    stored_run,
)
from xtc_viz.lab.printing import print_json, print_table, say

if TYPE_CHECKING:
    from xtc_viz.lab.store import RunRecord, Store


def _add(task: argparse.ArgumentParser) -> None:
    add_run(task)
    task.add_argument("--baseline", metavar="NAME", help="the condition (default: the first)")
    task.add_argument(
        "--metric", action="append", default=[], metavar="NAME",
        help=f"this one only; may be given more than once (default: {', '.join(USUAL)}; or {ALL})",
    )  # fmt: skip
    task.add_argument(
        "--against", metavar="RUN", help="another run of the experiment, such as on another model"
    )
    task.add_argument(
        "--against-store", type=Path, metavar="FILE", help="the store that it is in, if another"
    )


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.lab import table
    from xtc_viz.lab.results import results

    with stored_run(options) as (store, run):
        if options.against:
            return _against(options, store, run)
        names = metric_names(options.metric, run)
        measured = results(store, run, names, options.baseline)
    if options.json:
        print_json(run_values(run) | table.values(measured))
        return DONE
    say(f"{run.experiment['name']} on {run.identity.name}, run {run.name}")
    say(f"{len(measured.whole)} prompts, against {measured.baseline}; 95 % intervals by prompt")
    for metric, rows in table.rows(measured).items():
        say(f"\n{metric.label}, {metric.direction}: {metric.meaning}")
        print_table(rows, table.COLUMNS)
    return DONE


def _against(options: argparse.Namespace, store: Store, run: RunRecord) -> int:
    """Compare a run with another one, condition by condition."""
    from xtc_viz.lab import table
    from xtc_viz.lab.against import against, measured
    from xtc_viz.lab.reading import find_run
    from xtc_viz.lab.store import Store

    with Store(options.against_store or store.path, create=False) as elsewhere:
        # In another file it may be the same run, written once more.
        besides = "" if options.against_store else run.name
        other = find_run(elsewhere, options.against, besides)
        names = metric_names(options.metric, run)
        found = against(*measured(store, run, elsewhere, other, names, options.baseline))
    if options.json:
        own = {"first": run_values(run), "second": run_values(other)}
        print_json({"runs": own} | table.against_values(found))
        return DONE
    for place, name, one in zip(("first", "second"), found.names, (run, other), strict=True):
        say(f"{place}: {one.experiment['name']} on {name}, run {one.name}")
    print("paired by prompt, condition and seed; 95 % intervals by prompt")
    for metric, rows in table.against_rows(found).items():
        say(f"\n{metric.label}, {metric.direction}: {metric.meaning}")
        print_table(rows, table.AGAINST)
    print("\nThe change of the effect: what a condition differs by from the baseline in the second")
    print("run, less what it does in the first.")
    return DONE


TASK = Task("compare", 40, "hold a run's conditions against its baseline, with intervals",
            _add, _do)  # fmt: skip

"""`show`: what is there of a run, condition by condition."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from xtc_viz.lab.command.base import DONE, Task, add_run, run_values, stored_run
from xtc_viz.lab.printing import failure_line, print_json, print_table, say


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.lab.reading import counts, failures

    with stored_run(options) as (store, run):
        conditions = [asdict(count) for count in counts(store, run)]
        failed = failures(store, run)
    values = run_values(run) | {
        "conditions": conditions,
        "failures": [asdict(failure) for failure in failed],
    }
    if options.json:
        print_json(values)
        return DONE
    say(f"{values['experiment']} on {values['model']}, run {run.name}, begun {values['begun']}")
    for count in conditions:
        count["missing"] = count["total"] - count["done"]
        tokens, ended = count["mean_tokens"], count["ended"]
        count["mean tokens"] = "" if tokens is None else f"{tokens:.1f}"
        count["ended"] = "" if ended is None else f"{ended:.0%}"
    print_table(conditions, ("condition", "total", "done", "missing", "mean tokens", "ended"))
    for line in map(failure_line, failed):
        say(line)
    return DONE


TASK = Task("show", 30, "count what is there of a run, and what is missing", add_run, _do)

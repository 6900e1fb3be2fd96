"""`export`: a run as a table, or one cell as a trace for the page."""

from __future__ import annotations

import argparse
from pathlib import Path

from xtc_viz.errors import SettingsError
from xtc_viz.lab.command.base import DONE, Task
from xtc_viz.lab.printing import print_json


def _add(task: argparse.ArgumentParser) -> None:
    task.add_argument("what", metavar="RUN|CELL", help="a run or experiment, or a cell's name")
    task.add_argument("--table", type=Path, metavar="FILE", help=".csv, or .parquet with pyarrow")
    task.add_argument("--trace", type=Path, metavar="FILE", help=".json or .json.gz, of one cell")
    for flag in ("condition", "prompt", "genre"):
        task.add_argument(
            f"--{flag}", action="append", default=[], metavar="NAME",
            help="of a table: this one only; may be given more than once",
        )  # fmt: skip


def _do(options: argparse.Namespace) -> int:
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
            judged = reading.verdicts(store, plan)
            rows = export.write_table(options.table, reading.entries(store, plan), judged)
            values = {"run": run.name, "file": str(options.table), "cells": rows}
    if options.json:
        print_json(values)
    else:
        print(f"{options.trace or options.table} is written.")
    return DONE


TASK = Task("export", 50, "write a run as a table, or one cell as a trace for the page", _add, _do)

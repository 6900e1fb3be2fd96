"""`figure`: one figure of a run as a file that opens offline, or which figures it can have."""

from __future__ import annotations

import argparse
from pathlib import Path

from xtc_viz.errors import SettingsError
from xtc_viz.lab.command.base import DONE, Task, add_run, run_values, stored_run
from xtc_viz.lab.printing import print_json, print_table, say

THEMES = ("light", "dark")


def _add(task: argparse.ArgumentParser) -> None:
    add_run(task)
    task.add_argument("name", nargs="?", default="", help="the figure's name (see --list)")
    task.add_argument("--out", type=Path, metavar="FILE", help="an .html file")
    task.add_argument("--list", action="store_true", help="say which figures the run can have")
    task.add_argument("--metric", default="", metavar="NAME", help="what it is to show")
    task.add_argument("--baseline", metavar="NAME", help="the condition (default: the first)")
    task.add_argument(
        "--condition", action="append", default=[], metavar="NAME",
        help="this one only, beside the baseline; may be given more than once",
    )  # fmt: skip
    task.add_argument("--theme", default="light", help=f"{' or '.join(THEMES)} (default: light)")


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.figures import export
    from xtc_viz.lab.figures import FIGURES, figure
    from xtc_viz.lab.figures.view import Options
    from xtc_viz.lab.results import results

    chosen = Options(options.metric, options.theme, tuple(options.condition))
    # Whatever is wrong is said before anything is measured.
    wanted = [*FIGURES.values()] if options.list else [figure(options.name)]
    if options.out and options.out.suffix.lower() not in (".html", ".htm"):
        raise SettingsError("out", "a file that ends in .html", str(options.out))
    with stored_run(options) as (store, run):
        measured = results(store, run, baseline=options.baseline, mechanism=True)
    if options.list:
        listed = [
            {"name": one.name, "label": one.label, "missing": one.missing(measured, chosen)}
            for one in wanted
        ]
        if options.json:
            print_json(run_values(run) | {"figures": listed})
        else:
            print_table(listed, ("name", "label", "missing"))
        return DONE
    (one,) = wanted
    sentence = one.sentence(measured, chosen)
    values = run_values(run) | {"figure": one.name, "label": one.label, "sentence": sentence}
    if options.out:
        about = f"{run.experiment['name']} on {run.identity.name}, run {run.name}"
        caption = (one.label, sentence, one.meaning, about)
        page = export.html(one.draw(measured, chosen), caption, name=one.name, width=1100)
        options.out.write_text(page, encoding="utf-8")
        values["file"] = str(options.out)
    if options.json:
        print_json(values)
    else:
        say(f"{one.label}. {sentence}")
        if options.out:
            say(f"{options.out} is written.")
    return DONE


TASK = Task("figure", 60, "draw a figure of a run, and say what it shows", _add, _do)

"""`report`: all that there is of a run as one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from xtc_viz.lab.command.base import DONE, Task, add_run, run_values, stored_run
from xtc_viz.lab.printing import print_json, say

OUT = "report.html"


def _add(task: argparse.ArgumentParser) -> None:
    add_run(task)
    task.add_argument("--baseline", metavar="NAME", help="the condition (default: the first)")
    task.add_argument(
        "--out", type=Path, metavar="FILE",
        help=f"the HTML file (default: {OUT}, where no --markdown is asked for)",
    )  # fmt: skip
    task.add_argument(
        "--markdown", type=Path, metavar="FILE", help="a short version, for a model card"
    )


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.lab.report.content import report

    with stored_run(options) as (store, run):
        content = report(store, run, baseline=options.baseline)
    written = {}
    if options.markdown:
        from xtc_viz.lab.report.markdown import markdown

        written[options.markdown] = markdown(content)
    if options.out or not options.markdown:
        from xtc_viz.lab.report.page import html

        written[options.out or Path(OUT)] = html(content)
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    files = [str(path) for path in written]
    values = {"files": files, "texts": content.done, "missing": content.total - content.done}
    if options.json:
        print_json(run_values(run) | values)
        return DONE
    if content.partial:
        say(content.partial)
    say(f"{' and '.join(files)} {'is' if len(files) == 1 else 'are'} written.")
    return DONE


TASK = Task("report", 45, "write a run as one HTML file, or as Markdown for a model card",
            _add, _do)  # fmt: skip

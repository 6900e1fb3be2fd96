"""The laboratory from the command line, one module a task.

To add one, add a module here with its `TASK` (`base`): the parser and help know it then.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from xtc_viz.errors import PromptError, SettingsError, StoreError, SuiteError, XTCVizError
from xtc_viz.lab.command.base import DONE, FAILED, STOPPED, WRONG_INPUT, Task, add_store

_EXAMPLES = """examples:
  xtc-viz lab list
  xtc-viz lab run main --small
  xtc-viz lab run all --small
  xtc-viz lab run main --model HuggingFaceTB/SmolLM2-135M-Instruct --store mine.sqlite
  xtc-viz lab list --toml main > mine.toml; xtc-viz lab run mine.toml
  xtc-viz lab show
  xtc-viz lab compare main --metric distinct_2
  xtc-viz lab compare quantization --against quantization
  xtc-viz lab run code --run-code
  xtc-viz lab run main --workers ray
  xtc-viz lab report main --out main.html --markdown main.md
  xtc-viz lab export main --table main.csv
  xtc-viz lab export 3f2a91 --trace cell.json.gz
  xtc-viz lab figure main --list
  xtc-viz lab figure main forest --metric distinct_2 --out forest.html
  xtc-viz lab mechanism main --by genre

A run that was stopped, or killed, goes on where it was when the same command is given again.

exit codes: 0 done, 1 something failed, 2 wrong input, 130 stopped"""


def _tasks() -> dict[str, Task]:
    names = [module.name for module in iter_modules(__path__) if module.name != "base"]
    tasks: list[Task] = [import_module(f"{__name__}.{name}").TASK for name in names]
    return {one.name: one for one in sorted(tasks, key=lambda one: one.place)}


TASKS: dict[str, Task] = _tasks()
"""All of them by name, in the order of help."""


def main(arguments: Sequence[str]) -> int:
    """Do a task of the laboratory and return its exit code. Raises `SystemExit` for help."""
    options = parser().parse_args(arguments)
    try:
        return TASKS[options.task].do(options)
    except (SettingsError, SuiteError, StoreError, PromptError) as error:
        return _complain(error, WRONG_INPUT)
    except BrokenPipeError:  # who reads, as `head`, has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
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
    for name, task in TASKS.items():
        words = f"{task.words[0].upper()}{task.words[1:]}."
        own = tasks.add_parser(name, help=task.words, description=words)
        add_store(own)
        own.add_argument("--json", action="store_true", help="print JSON, for scripts")
        task.add(own)
    return top


def _complain(error: BaseException, code: int) -> int:
    print(f"xtc-viz lab: {error}", file=sys.stderr)
    return code

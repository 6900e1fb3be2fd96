"""The command `xtc-viz`: it does the task that its first argument names, and opens the page alone.

What a task needs is imported when the task is done, so that help comes at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from xtc_viz.errors import shown
from xtc_viz.threads import wait_passively
from xtc_viz.ui import flags


class Task(NamedTuple):
    """A task: a line of help, and what does it with the arguments that follow its name."""

    help: str
    do: Callable[[Sequence[str]], None]


def open_page(arguments: Sequence[str]) -> None:
    parser = flags.parser()
    tasks = "; ".join(f"{name}: {task.help}" for name, task in TASKS.items())
    parser.epilog = f"{parser.epilog} Tasks, each with a --help of its own: {tasks}."
    if arguments and not arguments[0].startswith("-"):
        known = ", ".join(TASKS)
        word = shown(arguments[0])
        parser.error(f"the first word must be a task ({known}) or an option, but is {word}")
    options = parser.parse_args(arguments)
    from xtc_viz.ui.launch import launch

    launch(options)


def lab(arguments: Sequence[str]) -> None:
    from xtc_viz.lab.command import main

    raise SystemExit(main(arguments))


def audit(arguments: Sequence[str]) -> None:
    from xtc_viz.audit.command import main

    raise SystemExit(main(arguments))


def vectors(arguments: Sequence[str]) -> None:
    from xtc_viz.engines.vectors.command import main

    raise SystemExit(main(arguments))


def settings(arguments: Sequence[str]) -> None:
    from xtc_viz.engines.command import main

    raise SystemExit(main(arguments))


TASKS = {
    "page": Task("open the page, as without a word", open_page),
    "lab": Task("run the paper's experiments on a model", lab),
    "audit": Task("find out whether a server does XTC as it is asked to", audit),
    "vectors": Task("write test vectors of an engine's rule", vectors),
    "settings": Task("say settings in another program's words, or read them", settings),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Do a task. Raises `SystemExit` with what is wrong."""
    # Read when torch and when gradio is imported; the latter sends no figures anywhere then.
    wait_passively()
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
    # What proxies write of visitors is read by the page's gate alone, not by uvicorn.
    os.environ.setdefault("FORWARDED_ALLOW_IPS", "")
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = words.pop(0) if words and words[0] in TASKS else "page"
    TASKS[name].do(words)

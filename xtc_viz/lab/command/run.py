"""`run`: write what of an experiment is missing."""

from __future__ import annotations

import argparse
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from xtc_viz.assets import STORY_MODEL
from xtc_viz.errors import SettingsError
from xtc_viz.lab.command.base import ALL, DONE, FAILED, FAKE, RunError, Task, experiments, model
from xtc_viz.lab.printing import Shown
from xtc_viz.models.remote.address import is_address

ROWS = 16

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xtc_viz.lab.experiment import Experiment
    from xtc_viz.lab.store import Store
    from xtc_viz.lab.workers import Workers


def _add(task: argparse.ArgumentParser) -> None:
    task.add_argument(
        "experiments", nargs="+", metavar="EXPERIMENT", help=f"a name, a TOML file, or `{ALL}`"
    )
    task.add_argument("--small", action="store_true", help="fewer prompts and shorter texts")
    task.add_argument("--suite", metavar="NAME", help="other prompts: a suite, or a JSONL file")
    task.add_argument(
        "--rows", type=int, metavar="N",
        help=f"texts at once (default: {ROWS}, on a server as many as it has slots)",
    )  # fmt: skip
    task.add_argument(
        "--model",
        action="append",
        default=[],
        help="hub id, folder, or the address of a server such as http://127.0.0.1:8080, once for "
        "each server with the same model (default: the experiment's own, or the embedded story "
        f"model); `{FAKE}` is word salad that needs no weights",
    )
    task.add_argument(
        "--tokenizer", default="", metavar="FOLDER",
        help="folder with the tokenizer.json of a server's model, where that does not tell its "
        "tokens (vLLM)",
    )  # fmt: skip
    task.add_argument(
        "--patience", type=float, metavar="SECONDS",
        help="how long to wait for a server that gives no answer (default: 600)",
    )  # fmt: skip
    for flag, default in (("revision", None), ("device", "auto"), ("dtype", "auto")):
        task.add_argument(f"--{flag}", default=default, help="as for the page")
    task.add_argument(
        "--quantization", action="append", default=[], metavar="KIND",
        help="as for the page; given twice, such as none and 4bit, the experiment is run on both",
    )  # fmt: skip
    task.add_argument(
        "--workers", metavar="ray[://ADDRESS]",
        help="spread the texts over a Ray cluster: that of this machine, or one elsewhere",
    )  # fmt: skip
    task.add_argument(
        "--run-code",
        action="store_true",
        help="run the code that answers are, shut in (Linux), to judge it by its tests",
    )
    task.add_argument(
        "--run-code-unprotected",
        action="store_true",
        help="run it too where it cannot be shut in: it may then read, change and send away "
        "whatever you may yourself",
    )


def _do(options: argparse.Namespace) -> int:
    from xtc_viz.lab.store import Store
    from xtc_viz.lab.suite import load_suite

    wanted = [own for word in options.experiments for own in experiments(word)]
    if options.rows is not None and options.rows < 1:
        raise SettingsError("rows", "at least 1", options.rows)
    if len(options.model) > 1 and not all(map(is_address, options.model)):
        raise SettingsError("model", "one name, or addresses of servers", options.model)
    if options.workers:
        from xtc_viz.lab.workers.cluster import address_of

        address_of(options.workers)
    # Whatever is wrong is said before a model is loaded.
    for experiment in wanted:
        load_suite(options.suite or experiment.suite)
    if options.small:
        wanted = [experiment.in_small() for experiment in wanted]
    if options.store.exists():
        Store(options.store).close()
    elif not options.store.parent.is_dir():
        raise SettingsError("store", "a file in a folder that is there", str(options.store))
    codes = set()
    with ExitStack() as held:
        present: tuple[list[str], str] | None = None
        writers: Workers | None = None
        for kind, experiment in product(options.quantization or ["none"], wanted):
            names = options.model or [experiment.model or str(STORY_MODEL)]
            if (names, kind) != present:
                held.close()
                writers = None  # one model at a time
                own = argparse.Namespace(**vars(options) | {"quantization": kind})
                present = names, kind
                writers = held.enter_context(closing(workers(names, own)))
            # Made only now: a model that cannot be loaded leaves no empty store behind.
            assert writers
            with Store(options.store) as store:
                codes.add(_run_one(experiment, writers, store, options))
    return FAILED if FAILED in codes else DONE


def workers(names: Sequence[str], options: argparse.Namespace) -> Workers:
    """Return who writes with the model of these names: this process, servers, or a cluster."""
    if is_address(names[0]):
        from xtc_viz.lab.workers.post import PATIENCE
        from xtc_viz.lab.workers.servers import Servers
        from xtc_viz.models.remote.key import key_of
        from xtc_viz.models.remote.spec import RemoteSpec

        if options.workers:
            bounds = "left out where the model runs in servers"
            raise SettingsError("workers", bounds, options.workers)
        patience = PATIENCE if options.patience is None else options.patience
        specs = [RemoteSpec(name, key=key_of(), tokenizer=options.tokenizer) for name in names]
        return Servers(specs, options.rows, patience)
    load, rows = partial(model, names[0], options), options.rows or ROWS
    if not options.workers:
        from xtc_viz.lab.workers.here import Here

        return Here(load(), rows)
    from xtc_viz.lab.workers.cluster import Cluster, address_of

    return Cluster(load, rows, address_of(options.workers))


def _run_one(
    experiment: Experiment, own: Workers, store: Store, options: argparse.Namespace
) -> int:
    from xtc_viz.lab.builtin import fitting_suite
    from xtc_viz.lab.cell import run_name
    from xtc_viz.lab.code.sandbox import SandboxError
    from xtc_viz.lab.runner import run_with
    from xtc_viz.lab.suite import load_suite

    template = own.info.has_chat_template
    name = options.suite or fitting_suite(experiment.suite, has_chat_template=template)
    suite = load_suite(name)
    experiment = replace(experiment, suite=suite.name)
    show = Shown(experiment.name, own.info.name, as_json=options.json)
    try:
        with closing(run_with(own, experiment, suite, store)) as reports:
            for progress in reports:
                show.update(progress)
        if options.run_code or options.run_code_unprotected:
            _judge(run_name(experiment, suite, own.identity), store, options, show)
    except KeyboardInterrupt:
        show.end("stopped")
        raise
    except Exception as error:
        show.end("failed")
        if isinstance(error, (SettingsError, SandboxError)):
            raise
        # The store is full, or the model itself gave up: nothing after it would go better.
        raise RunError(str(error) or type(error).__name__) from error
    show.end("failed" if progress.failed else "done")
    return FAILED if progress.failed else DONE


def _judge(run: str, store: Store, options: argparse.Namespace, show: Shown) -> None:
    """Run the code that the answers of a run are."""
    from xtc_viz.lab.code.judging import judge_code
    from xtc_viz.lab.reading import find_run

    shut = not options.run_code_unprotected
    with closing(judge_code(store, find_run(store, run), shut=shut)) as reports:
        for judged in reports:
            if judged.total:
                show.judging(judged)


TASK = Task("run", 20, "write what of an experiment is missing", _add, _do)

"""The page: parse flags, choose the model, build, launch. Also the entry of a Space."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

# Read when gradio is imported: no figures are sent anywhere.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local import leave_a_core
from xtc_viz.models.spec import ATTENTIONS, QUANTIZATIONS, ModelSpec
from xtc_viz.ui.app import build, launch_options
from xtc_viz.ui.models import May, default_may
from xtc_viz.ui.offers import STORY_MODEL

FAKE = "fake"


def parser() -> argparse.ArgumentParser:
    """Return the command line. Every flag can be given by an environment variable instead."""
    flags = argparse.ArgumentParser(
        description="See what XTC does to every single token.",
        epilog="Each flag's environment variable stands in brackets; the flag goes first.",
    )

    def add(name: str, words: str, default: object = None, **options: Any) -> None:
        variable = "XTC_VIZ_" + name.upper().replace("-", "_")
        value = os.environ.get(variable, default)
        flags.add_argument(f"--{name}", default=value, help=f"{words} [{variable}]", **options)

    add("host", "address to listen on (default: this machine only)", metavar="ADDRESS")
    add("port", "port to listen on (default: 7860 or the next that is free)", type=int)
    add(
        "model",
        "hub id or folder of a causal language model (default: the embedded story model); "
        f"`{FAKE}` is word salad that needs no weights",
        str(STORY_MODEL),
    )
    add("revision", "branch, tag or commit of a hub model")
    add("device", "auto, cpu, cuda or cuda:1 (default: auto)", "auto")
    add("dtype", "auto, float32, bfloat16 or float16 (default: auto)", "auto")
    add("quantization", f"{', '.join(QUANTIZATIONS)} (default: none)", "none")
    add("attention", f"{', '.join(ATTENTIONS)} (default: auto)", "auto")
    add(
        "models",
        "which models visitors may load: all (any hub id or folder), catalog, fixed (none) or own "
        "(all, but none for who comes through a proxy); default: own on a page for this machine "
        "only, else fixed",
        type=_may,
        metavar="WHICH",
    )
    add("max-waiting", "how many runs may wait for the model (default: no limit)", type=int)
    add("idle-minutes", "put an unused model away after so long (default: never)", type=float)
    flags.add_argument("--share", action="store_true", help="a public link by gradio's relay")
    return flags


def _may(name: str) -> May:
    try:
        return May(name)
    except ValueError:
        known = ", ".join(May)
        raise argparse.ArgumentTypeError(f"must be one of {known}, but is {name!r}") from None


def make_host(options: argparse.Namespace) -> ModelHost:
    """Return the owner of the model, which loads in the background."""
    rest = options.idle_minutes
    host = ModelHost(
        FakeModel(delay=0.02) if options.model == FAKE else None,
        max_waiting=options.max_waiting,
        rest_after=None if rest is None else 60.0 * rest,
    )
    if options.model != FAKE:
        names = ("revision", "device", "dtype", "quantization", "attention")
        chosen = {name: getattr(options, name) for name in names}
        host.load_in_background(ModelSpec(options.model, **chosen))
    return host


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    leave_a_core()
    may = options.models or default_may(options.host, options.share)
    build(make_host(options), may).launch(
        server_name=options.host,
        server_port=options.port,
        share=options.share,
        **launch_options() | {"quiet": False},
    )


if __name__ == "__main__":
    main()

"""The page: parse flags, choose the model, build, launch. Also the entry of a Space."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import Any

# Read when gradio is imported: no figures are sent anywhere.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import gradio as gr

from xtc_viz.errors import ModelError, SettingsError
from xtc_viz.models.base import LanguageModel
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local import zerogpu
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel, leave_a_core
from xtc_viz.models.local.spec import ATTENTIONS, QUANTIZATIONS, LocalSpec
from xtc_viz.runs.worker import decode_of
from xtc_viz.ui.app import build, launch_options
from xtc_viz.ui.limits import LIMITS, Limit, Limits
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
    add(
        "max-memory",
        "what each device may hold of a model that is spread over several, such as "
        "0=20GiB,1=20GiB,cpu=60GiB",
        type=_memory,
        metavar="LIMITS",
    )
    add("root-path", "path under which a proxy shows the page, such as /xtc", metavar="PATH")
    ours = Limits.default()
    for limit in LIMITS.values():
        value = getattr(ours, limit.name)
        add(
            limit.flag,
            f"{limit.help}: {limit.bounds} (default: none, on a Space {limit.public:g})",
            None if value is None else str(value),
            type=_limit(limit),
            metavar="N",
        )
    flags.add_argument("--share", action="store_true", help="a public link by gradio's relay")
    return flags


def _may(name: str) -> May:
    try:
        return May(name)
    except ValueError:
        known = ", ".join(May)
        raise argparse.ArgumentTypeError(f"must be one of {known}, but is {name!r}") from None


def _memory(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(device.strip() and size.strip() for device, _, size in pairs):
        words = f"must be such as 0=20GiB,cpu=60GiB, but is {text!r}"
        raise argparse.ArgumentTypeError(words)
    return {device.strip(): size.strip() for device, _, size in pairs}


def _limit(limit: Limit) -> Callable[[str], float | None]:
    def parse(text: str) -> float | None:
        try:
            return limit.parse(text)
        except SettingsError as error:
            words = f"must be {error.bounds}, but is {error.value!r}"
            raise argparse.ArgumentTypeError(words) from None

    return parse


def make_host(options: argparse.Namespace, limits: Limits) -> ModelHost:
    """Return the owner of the model, which loads in the background.

    On ZeroGPU the model is loaded when this returns, and stays: workers are forked with it.
    """
    lent = zerogpu.here()
    model: LanguageModel | None = FakeModel(delay=0.02) if options.model == FAKE else None
    names = ("revision", "device", "dtype", "quantization", "attention", "max_memory")
    spec = LocalSpec(options.model, **{name: getattr(options, name) for name in names})
    if lent and model is None:
        # The platform stands in for CUDA in this thread alone: transformers must use no other.
        os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
        model = LocalModel.load(spec)
    rest = limits.idle_minutes
    host = ModelHost(
        model,
        LocalLoader(),
        max_waiting=limits.max_waiting,
        max_per_visitor=limits.max_per_visitor,
        rest_after=None if rest is None or lent else 60.0 * rest,
    )
    if model is None:
        host.load_in_background(spec)
    return host


def page(options: argparse.Namespace) -> gr.Blocks:
    """Return the page that these flags ask for."""
    limits = Limits(**{name: getattr(options, name) for name in LIMITS})
    host = make_host(options, limits)
    if zerogpu.here():
        with host.turn() as turn:
            turn.wait()
            return build(host, May.FIXED, limits, decode_of(turn.model))
    opened = options.share or bool(options.root_path)
    return build(host, options.models or default_may(options.host, opened), limits)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    leave_a_core()
    try:
        built = page(options)
    except ModelError as error:
        raise SystemExit(str(error)) from error
    built.launch(
        server_name=options.host,
        server_port=options.port,
        root_path=options.root_path,
        share=options.share,
        **launch_options() | {"quiet": False},
    )


if __name__ == "__main__":
    main()

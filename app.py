"""The page: parse flags, choose the model, build, launch. Also the entry of a Space."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

# Read when the libraries are imported: no figures are sent anywhere, and threads that wait sleep,
# without which a busy machine slows decoding many times over.
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.loading import ModelSpec
from xtc_viz.ui.app import build, launch_options

STORY_MODEL = Path(__file__).parent / "assets" / "story-model"
FAKE = "fake"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the command line's values."""
    parser = argparse.ArgumentParser(description="See what XTC does to every single token.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, help="port to listen on (default: the first free)")
    parser.add_argument(
        "--model",
        default=str(STORY_MODEL),
        help="hub id or folder of a causal language model (default: the embedded story model); "
        f"{FAKE} is a word salad that needs no weights",
    )
    parser.add_argument("--revision", help="revision of a hub model")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:1")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--share", action="store_true", help="a public link through gradio's relay")
    return parser.parse_args(arguments)


def make_host(options: argparse.Namespace) -> ModelHost:
    """Return the owner of the model, which loads in the background."""
    if options.model == FAKE:
        return ModelHost(FakeModel(delay=0.02))
    host = ModelHost()
    spec = ModelSpec(options.model, options.revision, options.device, options.dtype)
    host.load_in_background(spec)
    return host


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    page = build(make_host(options))
    page.launch(
        server_name=options.host,
        server_port=options.port,
        share=options.share,
        **launch_options() | {"quiet": False},
    )


if __name__ == "__main__":
    main()

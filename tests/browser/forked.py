"""A page in a process of its own that is there in a moment.

The libraries that a page needs take seconds to import. They are imported once, in a process that
the others are forked from. Our own modules are imported anew by each: what is made at a page's
start, such as the token of its questions, differs from start to start.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.context import ForkServerProcess

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["torch", "transformers.core_model_loading", "gradio", "pandas"])


def forked(port: int, delay: float) -> ForkServerProcess:
    """Start a process that serves a page on the fake model until it is ended."""
    process = FORKS.Process(target=_serve, args=(port, delay), daemon=True)
    process.start()
    return process


def _serve(port: int, delay: float) -> None:
    from xtc_viz.models.fake import FakeModel
    from xtc_viz.models.host import ModelHost
    from xtc_viz.ui.app import build, launch_options

    build(ModelHost(FakeModel(delay=delay))).launch(server_port=port, **launch_options())

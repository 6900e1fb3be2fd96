"""A real page to attack: on the fake model, reached as a page of one's own is."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.ui.access import May
from xtc_viz.ui.app import build, launch_options


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            # Gradio sums up its queue with pandas in a way that pandas is about to drop; and both
            # it and its client leave event loops and sockets to the garbage collector.
            for words in (
                ":ResourceWarning",
                ".*no_silent_downcasting",
                "The copy keyword is deprecated",
            ):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{words}"))


@dataclass(frozen=True)
class Target:
    """A page that is served, and what it stands on."""

    url: str
    port: int
    host: ModelHost
    model: FakeModel


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """A page of one's own, whose owner may load any model."""
    model, port = FakeModel(), free_port()
    host = ModelHost(model, LocalLoader())
    blocks = build(host, May.OWN)
    _, url, _ = blocks.launch(prevent_thread_lock=True, server_port=port, **launch_options())
    yield Target(url.rstrip("/"), port, host, model)
    blocks.close(verbose=False)
    del blocks
    gc.collect()

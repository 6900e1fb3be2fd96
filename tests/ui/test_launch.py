"""From flags to the page: who may choose models on it. A Space's page is tried in `tests.runs`."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from xtc_viz.errors import StoreError
from xtc_viz.models.host import ModelHost
from xtc_viz.ui import launch
from xtc_viz.ui.access import May, OpenTo
from xtc_viz.ui.flags import parser
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.servers import NO_SERVERS, Servers

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("flags", "may"),
    [
        ([], May.OWN),
        (["--host", "0.0.0.0"], May.FIXED),
        (["--host", "0.0.0.0", "--models", "catalog"], May.CATALOG),
        (["--root-path", "/xtc"], May.FIXED),
        (["--share"], May.FIXED),
        (["--models", "fixed"], May.FIXED),
    ],
)
def test_visitors_may_choose_on_a_page_of_ones_own_only(
    monkeypatch: pytest.MonkeyPatch, flags: list[str], may: May
) -> None:
    built: list[Any] = []

    def build(*given: Any, servers: Servers, lab: object, mcp: bool) -> None:
        built.extend(given)
        assert servers == NO_SERVERS

    monkeypatch.setattr(launch, "build", build)
    launch.page(parser().parse_args(["--model", "fake", "--max-tokens", "9", *flags]))
    host, *rest = built
    assert isinstance(host, ModelHost)
    assert rest == [may, Limits(max_tokens=9)]


@pytest.mark.parametrize(
    ("flags", "open_to"),
    [
        ([], OpenTo.OWN),
        (["--host", "0.0.0.0"], None),
        (["--host", "0.0.0.0", "--lab", "all"], OpenTo.ALL),
        (["--root-path", "/xtc"], None),
        (["--share"], None),
        (["--lab", "off"], None),
    ],
)
def test_the_laboratory_is_open_on_a_page_of_ones_own_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flags: list[str], open_to: OpenTo | None
) -> None:
    built: list[Any] = []
    monkeypatch.setattr(launch, "build", lambda *given, lab, servers, mcp: built.append(lab))
    store = tmp_path / "mine.sqlite"
    launch.page(parser().parse_args(["--model", "fake", "--lab-store", str(store), *flags]))
    (lab,) = built
    assert (lab and lab.open_to) is open_to
    assert not lab or lab.path == store


def test_a_store_that_is_none_is_said_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("this is a text, and no database at all")
    with pytest.raises(StoreError, match=r"a\.sqlite cannot be opened"):
        launch.page(parser().parse_args(["--model", "fake", "--lab-store", f"{tmp_path}/a.sqlite"]))


@pytest.mark.slow
def test_a_port_in_use_is_said_in_words() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "app.py", "--model", "fake", "--port", str(port)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert f"cannot listen at 'localhost', port {port}: another program" in done.stderr
    assert "Traceback" not in done.stderr

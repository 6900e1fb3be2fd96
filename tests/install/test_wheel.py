"""The package as pip installs it: its files, its metadata, and its command from an empty folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest
from gradio_client import Client
from packaging.requirements import Requirement

import xtc_viz
from tests.install.conftest import Environment
from tests.process import Served, served
from xtc_viz.records import tracefile

KINDS = {
    ".py", ".typed", ".json", ".jsonl", ".toml", ".html", ".js", ".css", ".gz", ".safetensors",
    ".md",
}  # fmt: skip
"""What is needed at run time; pictures are not."""


@pytest.fixture(scope="module")
def wheel(
    environment: Environment, sources: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    environment.run("pip", "wheel", "--quiet", "--no-deps", sources, "-w", out, folder=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(environment: Environment, wheel: Path) -> Environment:
    """The environment with the wheel, and with what the wheel says that it needs."""
    environment.run("pip", "install", "--quiet", wheel, folder=wheel.parent)
    return environment


@pytest.fixture(scope="module")
def page(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page that the command opens in an empty folder."""
    folder = tmp_path_factory.mktemp("empty")
    with served([str(installed.programs / "xtc-viz")], folder, installed.variables) as running:
        yield running
    assert list(folder.iterdir()) == []


def test_all_that_runs_is_in_it_and_nothing_else(wheel: Path, sources: Path) -> None:
    inside = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    code = [path for path in (sources / "xtc_viz").rglob("*") if path.suffix in KINDS]
    assets = [path for path in (sources / "assets").rglob("*") if path.suffix in KINDS]
    own = {str(path.relative_to(sources)) for path in code}
    assert {"xtc_viz/py.typed", "xtc_viz/models/catalog.json"} <= own
    assert inside == own | {f"xtc_viz/_{path.relative_to(sources)}" for path in assets}


def test_its_metadata_say_what_the_sources_say(wheel: Path, sources: Path) -> None:
    (name,) = (name for name in ZipFile(wheel).namelist() if name.endswith("/METADATA"))
    data = HeaderParser().parsestr(ZipFile(wheel).read(name).decode())
    assert data["Version"] == xtc_viz.__version__
    needed = [Requirement(line) for line in data.get_all("Requires-Dist", [])]
    listed = (sources / "requirements.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^[^#\s].*", listed, re.MULTILINE)
    assert {need for need in needed if need.marker is None} == set(map(Requirement, lines))


def test_what_it_needs_came_with_it(installed: Environment, tmp_path: Path) -> None:
    assert "No broken requirements" in installed.run("pip", "check", folder=tmp_path)
    printed = installed.run("xtc-viz", "--version", folder=tmp_path)
    assert printed == f"xtc_viz {xtc_viz.__version__}\n"


def test_the_command_opens_the_page(page: Served) -> None:
    answer = httpx.get(page.url)
    assert answer.status_code == 200
    assert "module_gradio.startPage" in answer.text


def test_a_run_completes_there(page: Served) -> None:
    client = Client(page.url, verbose=False)
    *_, last = client.submit("Once upon a time", max_new_tokens=20, api_name="/generate")
    trace = tracefile.loads(last["trace"])
    assert [len(lane.steps) for lane in trace.lanes] == [20, 20]
    assert trace.model.name == "story-model"

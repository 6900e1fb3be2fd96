"""What an installation brings: the wheel as pip installs it, with its command from an empty folder,
and the Space as its host builds it, from the repository's files and `app.py`.

Both have one new environment, so they stand in one file: files go to processes of their own. The
wheel comes first, and brings all that it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from urllib.parse import urljoin
from zipfile import ZipFile

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from packaging.requirements import Requirement

import xtc_viz
from tests.install.conftest import Environment
from tests.process import Served, served
from xtc_viz.records import tracefile
from xtc_viz.ui.limits import LIMITS

KINDS = {
    ".py", ".typed", ".json", ".jsonl", ".toml", ".html", ".js", ".css", ".gz", ".safetensors",
    ".md",
}  # fmt: skip
"""What is needed at run time; pictures are not."""


def completes_a_run(url: str) -> None:
    client = Client(url, verbose=False)
    *_, last = client.submit("Once upon a time", max_new_tokens=20, api_name="/generate")
    trace = tracefile.loads(last["trace"])
    assert [len(lane.steps) for lane in trace.lanes] == [20, 20]
    assert trace.model.name == "story-model"


def answers(url: str) -> None:
    page = httpx.get(url)
    assert page.status_code == 200
    (link,) = re.findall("<([^>]+)>", page.headers["link"])
    script = httpx.get(urljoin(url, link))
    assert script.status_code == 200
    assert "module_gradio.startPage" in script.text


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
    answers(page.url)


def test_a_run_completes_there(page: Served) -> None:
    completes_a_run(page.url)


@pytest.fixture(scope="module")
def space(installed: Environment, sources: Path) -> Iterator[Served]:
    """The page of a Space that nobody has configured. Its host adds a package that gradio wants."""
    needs = ("-r", "requirements.txt", "spaces")
    installed.run("pip", "install", "--quiet", *needs, folder=sources)
    # What the host sets, as far as the app or gradio look at it.
    here = {"SYSTEM": "spaces", "SPACE_ID": "someone/xtc_viz", "GRADIO_SERVER_NAME": "0.0.0.0"}
    python = str(installed.programs / "python")
    with served([python, "app.py"], sources, installed.variables | here) as running:
        yield running


def test_the_space_opens_the_page(space: Served) -> None:
    answers(space.url)


def test_a_run_completes_on_the_space(space: Served) -> None:
    completes_a_run(space.url)


def test_the_limits_for_the_public_hold_without_configuration(space: Served) -> None:
    client = Client(space.url, verbose=False)
    most = LIMITS["max_tokens"].public
    with pytest.raises(AppError, match=rf"an integer in \[1, {most}\], but is {most + 1}"):
        client.predict("Once", max_new_tokens=most + 1, api_name="/generate")

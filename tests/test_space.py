"""The Space as its host builds it: the repository's files, an environment of its own, `app.py`.

The host adds its package `spaces`, which gradio wants there. One thing differs: torch is the build
that the other tests run on, by a constraint. The newest one would come with gigabytes of CUDA for
every run of this test. All else is what the ranges of `requirements.txt` bring today.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.process import Served, served
from xtc_viz.records import tracefile
from xtc_viz.ui.limits import LIMITS

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [pytest.mark.space, pytest.mark.story_model]


@pytest.fixture(scope="module")
def space(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page of a Space that nobody has configured."""
    home = tmp_path_factory.mktemp("space")
    folder, environment = home / "app", home / "environment"
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, capture_output=True
    )
    assert listed.returncode == 0, listed.stderr
    for name in filter(None, listed.stdout.decode().split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = str(environment / "bin" / "python")
    constraint = home / "torch.txt"
    constraint.write_text(f"torch=={version('torch')}\n", encoding="utf-8")
    own = ("XTC_VIZ_", "PYTHON", "VIRTUAL_ENV", "GRADIO_", "PYTEST_")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    install = [python, "-m", "pip", "install", "--quiet", "-r", "requirements.txt", "spaces"]
    told = variables | {"PIP_CONSTRAINT": str(constraint)}
    installed = subprocess.run(install, cwd=folder, env=told, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    # What the host sets, as far as the app or gradio look at it.
    here = {"SYSTEM": "spaces", "SPACE_ID": "someone/xtc_viz", "GRADIO_SERVER_NAME": "0.0.0.0"}
    with served(folder, variables | here, python) as found:
        yield found


def test_the_page_answers(space: Served) -> None:
    page = httpx.get(space.url)
    assert page.status_code == 200
    assert "module_gradio.startPage" in page.text


def test_a_run_completes(space: Served) -> None:
    client = Client(space.url, verbose=False)
    *_, last = client.submit("Once upon a time", max_new_tokens=20, api_name="/generate")
    trace = tracefile.loads(last["trace"])
    assert [len(lane.steps) for lane in trace.lanes] == [20, 20]
    assert trace.model.name == "story-model"


def test_the_limits_for_the_public_hold_without_configuration(space: Served) -> None:
    client = Client(space.url, verbose=False)
    most = LIMITS["max_tokens"].public
    with pytest.raises(AppError, match=rf"an integer in \[1, {most}\], but is {most + 1}"):
        client.predict("Once", max_new_tokens=most + 1, api_name="/generate")

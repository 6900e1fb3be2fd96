"""The Space as its host builds it: the repository's files, an environment of its own, `app.py`.

The host adds its package `spaces`, which gradio wants there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.install.conftest import Environment
from tests.process import Served, served
from xtc_viz.records import tracefile
from xtc_viz.ui.limits import LIMITS


@pytest.fixture(scope="module")
def space(environment: Environment, sources: Path) -> Iterator[Served]:
    """The page of a Space that nobody has configured."""
    needs = ("-r", "requirements.txt", "spaces")
    environment.run("pip", "install", "--quiet", *needs, folder=sources)
    # What the host sets, as far as the app or gradio look at it.
    here = {"SYSTEM": "spaces", "SPACE_ID": "someone/xtc_viz", "GRADIO_SERVER_NAME": "0.0.0.0"}
    python = str(environment.programs / "python")
    with served([python, "app.py"], sources, environment.variables | here) as running:
        yield running


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

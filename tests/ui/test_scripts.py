"""The page's scripts: files named by what they hold, and the few lines that import them."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import gradio as gr
import httpx
import pytest
from gradio.state_holder import SessionState

from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.access import OpenTo
from xtc_viz.ui.app import build, launch_options
from xtc_viz.ui.gate.routes import routes_of
from xtc_viz.ui.gate.token import TOKEN
from xtc_viz.ui.lab.questions import Lab
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.playground import script_of
from xtc_viz.ui.refusals import Page
from xtc_viz.ui.scripts import Script, loader

SCRIPT = Script("page", "export const start = () => 1;\n")
# printf 'export const start = () => 1;\n' | sha256sum | cut -c1-32
PATH = "/xtc_viz/script/page.c30c8bf26a19110d2337457f742de569.js"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page with its laboratory, served."""
    host = ModelHost(FakeModel())
    store = tmp_path_factory.mktemp("lab") / "store.db"
    page = build(host, lab=Lab.at(host, store, OpenTo.OWN))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    page.launch(prevent_thread_lock=True, server_port=port, **launch_options())
    yield page
    page.close(verbose=False)


@pytest.fixture(scope="module")
def client(page: Page) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=str(page.local_url)) as client:
        yield client


def test_a_script_is_named_by_what_it_holds() -> None:
    assert SCRIPT.path == PATH
    assert Script("page", SCRIPT.text + " ").path != SCRIPT.path
    assert script_of().path == script_of().path != script_of(Limits(max_tokens=5)).path


def test_the_gate_lets_through_names_with_a_hash_and_no_others() -> None:
    assert routes_of(SCRIPT.path)
    for path in ("/xtc_viz/script/page.js", "/xtc_viz/script/", SCRIPT.path + "/x", PATH[:-4]):
        assert not routes_of(path)


def test_gradio_is_given_a_short_text_with_the_events() -> None:
    text = loader(SCRIPT, ("run", "draw"))
    assert len(text) < 1000
    assert SCRIPT.path in text
    assert TOKEN in text
    # What stands in quotes is an event of the component, by gradio's rule.
    assert re.findall(r"'(\w+)'", text) == ["run", "draw"]


def test_no_script_holds_the_token(page: Page) -> None:
    assert set(page.scripts) == {"", "lab"}
    assert not any(TOKEN in script.text for script in page.scripts.values())


def test_a_session_costs_no_search_of_the_scripts(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradio looks through `js_on_load` for each attribute that a component lacks."""
    searched = []
    look = gr.HTML.__getattr__

    def counted(self: gr.HTML, name: str) -> object:
        searched.append(len(self.js_on_load or ""))
        return look(self, name)

    monkeypatch.setattr(gr.HTML, "__getattr__", counted)
    SessionState(page)
    assert searched
    assert sum(searched) < 20_000


@pytest.mark.parametrize("name", ["", "lab"])
def test_a_script_is_given_for_good_and_announced_by_its_page(
    page: Page, client: httpx.Client, name: str
) -> None:
    script = page.scripts[name]
    for encoding in ("gzip", "identity"):
        answer = client.get(script.path, headers={"accept-encoding": encoding})
        assert answer.text == script.text
        assert answer.headers.get("content-encoding", "identity") == encoding
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["vary"] == "Accept-Encoding"
    told = client.get(f"/{name}")
    assert told.headers["link"].startswith(f"<{script.path[1:]}>; rel=preload")
    assert script.text[:1000] not in told.text


def test_no_other_is_there(page: Page, client: httpx.Client) -> None:
    assert client.get(SCRIPT.path).status_code == 404
    assert client.post(page.scripts[""].path, json={}).status_code == 405
    assert "link" not in client.get("/config").headers
    other = {"sec-fetch-site": "cross-site"}
    assert client.get(page.scripts[""].path, headers=other).status_code == 403

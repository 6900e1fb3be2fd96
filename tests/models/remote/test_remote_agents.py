"""An agent that audits a real server, on a real page."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.ui.agent import Agent
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.remote.key import VARIABLE
from xtc_viz.ui.access import May
from xtc_viz.ui.app import build, launch_options
from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.servers import Servers

pytestmark = [
    pytest.mark.engines,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ADDRESS = "that of the server"


@dataclass
class Page:
    agent: Agent
    host: ModelHost


@pytest.fixture(scope="module", params=[May.OWN, May.FIXED])
def page(request: pytest.FixtureRequest, address: str) -> Iterator[Page]:
    """A page of one's own, and one whose visitors may not choose the model."""
    pytest.importorskip("mcp", reason="needs the package mcp (requirements-dev.txt)")
    host = ModelHost(FakeModel())
    servers, limits = Servers((address,)), Limits(max_spread=2000)
    made = build(host, request.param, limits, servers=servers, mcp=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    options = launch_options(Entrance(), made.agents)
    _, url, _ = made.launch(prevent_thread_lock=True, server_port=port, **options)
    yield Page(Agent(url), host)
    made.close(verbose=False)
    del made
    gc.collect()


@pytest.mark.parametrize("page", [May.OWN], indirect=True)
def test_it_audits_a_server_that_was_named(page: Page, address: str) -> None:
    audit = page.agent.tools()["audit"]
    assert address in audit.inputSchema["properties"]["server"]["description"]
    assert VARIABLE not in audit.description
    found = page.agent.call("audit", server=f"{address}/v1", rho=1.0, tau=0.1).values
    assert (found["as_claimed"], found["known"]) == (True, True)
    assert found["sentence"].startswith("XTC acts with ρ = 1.00")
    other = page.agent.call("audit", server=address, rho=0.0, tau=0.1).values
    assert (other["acts"], other["steps"] <= 2000) == (False, True)


@pytest.mark.parametrize("page", [May.OWN], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"server": "http://127.0.0.1:1"}, "`server` must be one of http://127.0.0.1:"),
        ({"server": "box"}, "but is 'box'"),
        ({"server": ADDRESS, "rho": 2}, "`rho` must be in [0, 1]"),
        ({"server": ADDRESS, "tau": "low"}, "`tau` must be a number, but is 'low'"),
    ],
)
def test_no_other_address_is_called(
    page: Page, address: str, arguments: dict[str, object], words: str
) -> None:
    if arguments["server"] == ADDRESS:
        arguments = arguments | {"server": address}
    said = page.agent.call("audit", **arguments)
    assert said.failed
    assert words in said.text


@pytest.mark.parametrize("page", [May.FIXED], indirect=True)
def test_who_may_not_choose_the_model_may_not_audit(page: Page, address: str) -> None:
    said = page.agent.call("audit", server=address)
    assert said.failed
    assert "Only who may choose the model here" in said.text

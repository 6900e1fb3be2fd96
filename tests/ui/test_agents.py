"""The tools for agents as an agent meets them: a real page, and the client of the `mcp` package."""

from __future__ import annotations

import gc
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.ui.agent import Agent, Said
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.records.trace import Trace
from xtc_viz.runs import presets
from xtc_viz.runs.record import record
from xtc_viz.runs.request import Request
from xtc_viz.sampling.rule import Outcome
from xtc_viz.sampling.whatif import evaluate
from xtc_viz.settings import RunSettings
from xtc_viz.ui.agents.tools import MOST_STEPS
from xtc_viz.ui.app import build, launch_options
from xtc_viz.ui.flags import parser
from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.launch import launch

# The event loops and sockets of gradio and of the client are left to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
PROMPT = "Once upon a time"
LENGTH = 40
FILE = {"path": "http://127.0.0.1:1/x", "meta": {"_type": "gradio.FileData"}}


class Served:
    """A page with tools, on the fake model."""

    def __init__(self, url: str, host: ModelHost, model: FakeModel) -> None:
        self.url, self.host, self.model = url, host, model
        self.agent = Agent(url)

    def ended(self, within: float = 20.0) -> bool:
        """Whether all decodes are closed soon."""
        end = time.monotonic() + within
        while time.monotonic() < end and self.model.open_generations:
            time.sleep(0.02)
        return not self.model.open_generations


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    pytest.importorskip("mcp", reason="needs the package mcp (requirements-dev.txt)")
    model = FakeModel()
    host = ModelHost(model, max_waiting=1)
    page = build(host, mcp=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    options = launch_options(Entrance(), page.agents)
    _, url, _ = page.launch(prevent_thread_lock=True, server_port=port, **options)
    yield Served(url, host, model)
    page.close(verbose=False)
    del page
    gc.collect()


@pytest.fixture(scope="module")
def run(served: Served) -> dict[str, Any]:
    """What `generate` says of a run."""
    said = served.agent.call("generate", prompt=PROMPT, max_new_tokens=LENGTH, seed=3)
    values: dict[str, Any] = said.values
    return values


@pytest.fixture(scope="module")
def trace() -> Trace:
    """The same run, recorded without a page."""
    settings = RunSettings(presets.DEFAULT_LANES, seed=3, max_new_tokens=LENGTH)
    return record(FakeModel(), Request(PROMPT, settings))


def test_the_tools_are_these_and_say_what_they_take(served: Served) -> None:
    tools = served.agent.tools()
    assert list(tools) == ["generate", "what_if"]  # no server was named that could be audited
    for tool in tools.values():
        assert len(tool.description) > 100
        assert all(own["description"] for own in tool.inputSchema["properties"].values())
    generate, what_if = (tool.inputSchema for tool in tools.values())
    assert generate["required"] == ["prompt"]
    assert generate["properties"]["max_new_tokens"]["type"] == "integer"
    assert generate["properties"]["max_new_tokens"]["description"].endswith("in [1, 4096].")
    assert generate["properties"]["lanes"]["default"] == ["Baseline", "XTC"]
    assert what_if["required"] == ["run", "lane", "rho", "tau"]


def test_a_run_is_the_one_that_is_recorded_without_a_page(
    run: dict[str, Any], trace: Trace
) -> None:
    assert run["model"] == "fake"
    for told, lane in zip(run["lanes"], trace.lanes, strict=True):
        assert (told["name"], told["text"]) == (lane.settings.name, lane.text)
        assert (told["tokens"], told["finish"]) == (len(lane.steps), lane.finish)
        own = lane.settings.sampler.xtc
        assert told["xtc"] == {"rho": own.rho, "tau": own.tau, "engine": "paper"}
        assert told["changed"] == sum(step.changed for step in lane.steps)
        fired = [i for i, step in enumerate(lane.steps) if step.outcome is Outcome.FIRED]
        assert [one["step"] for one in told["fired"]] == fired[:MOST_STEPS]
        assert sum(told["outcomes"].values()) == len(lane.steps)
    baseline, xtc = run["lanes"]
    assert baseline["outcomes"] == {"off": LENGTH}
    assert xtc["outcomes"]["fired"] == len(xtc["fired"]) > 0
    assert all(one["removed"] and one["token"] not in one["removed"] for one in xtc["fired"])


def test_what_if_is_exact_along_the_text(served: Served, run: dict[str, Any], trace: Trace) -> None:
    own = trace.lanes[1].settings.sampler.xtc

    def imagined(rho: float, tau: float) -> dict[str, Any]:
        ask = {"run": run["run"], "lane": 2, "rho": rho, "tau": tau}
        values: dict[str, Any] = served.agent.call("what_if", **ask).values
        return values

    same = imagined(own.rho, own.tau)
    assert (same["differs"], same["outcomes"]) == ([], run["lanes"][1]["outcomes"])
    other = imagined(1.0, 0.03)
    settings = replace(own, rho=1.0, tau=0.03)
    expected = evaluate(trace.lanes[1].steps, settings, trace.settings.top_candidates)
    assert other["outcomes"].get("fired", 0) == expected.count(Outcome.FIRED)
    assert other["exact"] is expected.exact
    off = imagined(0.0, 0.1)
    assert off["outcomes"] == {"off": LENGTH}
    fired = [one["step"] for one in run["lanes"][1]["fired"]]
    assert [one["step"] for one in off["differs"]] == fired
    told = {one["step"]: one["removed"] for one in run["lanes"][1]["fired"]}
    assert {one["step"]: one["removed"] for one in off["differs"]} == told
    assert all(one["would_remove"] == [] for one in off["differs"])


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("generate", {}, "`prompt` must be there, but is nothing"),
        ("generate", {"prompt": 5}, "`prompt` must be a text, but is 5"),
        ("generate", {"prompt": ""}, "`prompt` must be"),
        ("generate", {"prompt": "a", "max_new_tokens": 5000},
         "`max_new_tokens` must be an integer in [1, 4096], but is 5000"),
        ("generate", {"prompt": "a", "max_new_tokens": 1.5},
         "`max_new_tokens` must be an integer, but is 1.5"),
        ("generate", {"prompt": "a", "lanes": "XTC"}, "`lanes` must be a list, but is 'XTC'"),
        ("generate", {"prompt": "a", "lanes": ["XTC"] * 7},
         "`lanes` must be 1 to 6 lanes, but is 7"),
        ("generate", {"prompt": "a", "lanes": ["Hot"]}, "`lanes` must be an object or one of "),
        ("generate", {"prompt": "a", "lanes": ["XTC", {"sampler": {"xtc": {"tau": 3}}}]},
         "lane 2: `tau` must be in (0, 1), but is 3"),
        ("generate", {"prompt": "a", "temperature": 2}, "`arguments` must be among prompt, lanes"),
        ("what_if", {"run": "x", "lane": 1, "rho": 0.5, "tau": 0.1}, "no longer kept"),
        ("what_if", {"run": "RUN", "lane": 3, "rho": 0.5, "tau": 0.1},
         "`lane` must be an integer in [1, 2], but is 3"),
        ("what_if", {"run": "RUN", "lane": 1, "rho": 1.5, "tau": 0.1},
         "`rho` must be in [0, 1], but is 1.5"),
        ("what_if", {"run": "RUN", "lane": 1, "rho": "half", "tau": 0.1},
         "`rho` must be a number, but is 'half'"),
        ("generate", {"prompt": "a", "lanes": ["XTC", FILE]}, "No value of a request may be a"),
        ("audit", {"server": "http://127.0.0.1:1"}, "`name` must be one of generate, what_if"),
        ("run", {}, "`name` must be one of generate, what_if"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_by_field_bounds_and_value(
    served: Served, run: dict[str, Any], name: str, arguments: dict[str, Any], words: str
) -> None:
    if arguments.get("run") == "RUN":
        arguments = arguments | {"run": run["run"]}
    said = served.agent.call(name, **arguments)
    assert said.failed
    assert words in said.text


def called(name: str, **arguments: Any) -> dict[str, Any]:
    """Return the body of a call, as a client sends it."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


ACCEPT = {"accept": "application/json, text/event-stream"}


def test_whoever_leaves_ends_the_run(served: Served) -> None:
    served.model.delay = 0.02
    try:
        body = called("generate", prompt=PROMPT, max_new_tokens=4000)
        with httpx.stream("POST", served.agent.url, json=body, headers=ACCEPT, timeout=30.0):
            end = time.monotonic() + 20.0
            while not served.model.open_generations and time.monotonic() < end:
                time.sleep(0.02)
            assert served.model.open_generations == 1
        assert served.ended()
    finally:
        served.model.delay = 0.0


def test_a_full_queue_is_said(served: Served) -> None:
    """One run goes, one waits: another is turned away, and the one that waited is served."""
    said: list[Said] = []

    def ask() -> None:
        said.append(served.agent.call("generate", prompt=PROMPT, max_new_tokens=3))

    asking = [threading.Thread(target=ask) for _ in range(2)]
    with served.host.turn() as turn:
        assert turn.wait(20.0)
        for thread in asking:
            thread.start()
        end = time.monotonic() + 60.0
        while not said and time.monotonic() < end:
            time.sleep(0.02)
    for thread in asking:
        thread.join(60)
    refused, served_later = said
    assert refused.failed
    assert "runs are waiting" in refused.text
    assert not served_later.failed


@pytest.mark.parametrize("method", ["resources/read", "resources/list", "prompts/get"])
def test_nothing_makes_the_page_call_an_address(served: Served, method: str) -> None:
    """gradio would call the one that the request names as its own, which may be any number."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(1.0)
        host = f"127.0.0.1:{listener.getsockname()[1]}"
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"uri": "a:b", "name": "x"}}
        answer = httpx.post(served.agent.url, json=body, headers=ACCEPT | {"host": host})
        assert answer.status_code == 200
        assert '"Method not found"' in answer.text
        with pytest.raises(TimeoutError):
            listener.accept()


def test_only_what_agents_need_is_open(served: Served) -> None:
    url, listing = served.agent.url, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert httpx.post(url, json=listing, headers=ACCEPT).status_code == 200
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert httpx.post(url, json=listing, headers=ACCEPT | headers).status_code == 403
    # A name that was made to point here: DNS rebinding.
    named = ACCEPT | {"host": "evil.example"}
    assert httpx.post(url, json=listing, headers=named).status_code == 421
    text = ACCEPT | {"content-type": "text/plain"}
    assert httpx.post(url, content=json.dumps(listing), headers=text).status_code == 415
    assert httpx.get(url, headers=ACCEPT).status_code == 405
    for path in ("/sse", "/schema", "/messages/", "/http"):
        assert httpx.get(url + path).status_code == 404
        assert httpx.post(url + path, json=listing).status_code == 404


def test_without_the_package_the_flag_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)  # as Python has what cannot be imported
    with pytest.raises(SystemExit, match=r'pip install "xtc_viz\[mcp\]"'):
        launch(parser().parse_args(["--mcp", "--model", "fake"]))

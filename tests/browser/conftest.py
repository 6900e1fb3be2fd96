"""A real Chromium against real servers: one browser and one server of each kind a session."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, Playwright

from tests.conftest import CHROMIUM
from xtc_viz.assets import STORY_MODEL
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.models.local.loader import LocalLoader
from xtc_viz.models.local.model import LocalModel
from xtc_viz.ui.access import May
from xtc_viz.ui.app import HERE, build, launch_options
from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.lab.questions import Lab
from xtc_viz.ui.limits import NO_LIMITS, Limits

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "artifacts"
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)
            # Gradio sums up its queue with pandas in a way that pandas is about to drop.
            for words in (".*no_silent_downcasting", "The copy keyword is deprecated"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{words}"))


@dataclass
class Server:
    """A page that is being served."""

    url: str
    host: ModelHost
    model: Any


def free_port() -> int:
    """A port of our own: gradio's search for one leaves a socket open at every port in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def serve(
    model: Any,
    host: ModelHost | None = None,
    may: May = May.FIXED,
    limits: Limits = NO_LIMITS,
    entrance: Entrance = HERE,
    lab: Lab | None = None,
    **options: Any,
) -> Iterator[Server]:
    host = host or ModelHost(model, LocalLoader())
    blocks = build(host, may, limits, lab=lab)
    options = launch_options(entrance) | {"server_port": free_port()} | options
    _, url, _ = blocks.launch(prevent_thread_lock=True, **options)
    try:
        yield Server(url, host, model)
    finally:
        blocks.close(verbose=False)


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def story() -> Iterator[Server]:
    """The page on the embedded story model."""
    yield from serve(LocalModel.load(str(STORY_MODEL)))


@pytest.fixture(scope="session")
def fake_server() -> Iterator[Server]:
    yield from serve(FakeModel())


@pytest.fixture
def fake(fake_server: Server) -> Iterator[Server]:
    """The page on the fake model, whose `delay` a test may set."""
    fake_server.model.delay = 0.01
    yield fake_server
    fake_server.model.delay = 0.0


@dataclass
class Visit:
    """Pages that were opened, and what went wrong in them."""

    browser: Browser
    problems: list[str] = field(default_factory=list)
    contexts: list[Any] = field(default_factory=list)

    def __call__(
        self,
        server: Server,
        width: int = 1440,
        height: int = 1000,
        *,
        link: str = "",
        ready: str = ".xtc .composer",
        **more: Any,
    ) -> Page:
        """Open the page, or a link to it, and wait until it can be used."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, **more)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))
        page.on("console", self._console)
        page.on("request", lambda request: self._request(request.url, server.url))
        page.goto(server.url + link)
        page.wait_for_selector(ready, state="attached")  # the classroom hides the composer
        return page

    def leave(self) -> None:
        """Close all pages; what a page misses after its server's end is no problem of it."""
        while self.contexts:
            with suppress(Error):
                self.contexts.pop().close()

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console {message.type}: {message.text}")

    def _request(self, url: str, home: str) -> None:
        if not url.startswith((home, "data:", "blob:")):
            self.problems.append(f"a request left the server: {url}")


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open pages; whatever they complain about fails the test."""
    opened = Visit(browser)
    yield opened
    opened.leave()
    assert opened.problems == []


@pytest.fixture
def keep(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Keep a screenshot as an artefact, named after the test."""

    def take(page: Page, name: str, *, full: bool = True) -> None:
        ARTIFACTS.mkdir(exist_ok=True)
        test = request.node.name.removeprefix("test_").split("[")[0]
        page.screenshot(path=ARTIFACTS / f"{test}-{name}.png", full_page=full)

    return take

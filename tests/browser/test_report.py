"""The report of a run in a real browser: it opens offline, runs nobody's script, fits a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_accessibility import violations
from tests.lab.report import hostile
from xtc_viz.figures.theme import DARK, LIGHT
from xtc_viz.lab.report.content import report
from xtc_viz.lab.report.page import html
from xtc_viz.lab.store import Store

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run full of hostile texts, as a file."""
    folder = tmp_path_factory.mktemp("report")
    hostile.write(folder / "a.sqlite")
    with Store(folder / "a.sqlite") as store:
        text = html(report(store, store.runs()[0]))
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


class Opened:
    """A file in a browser without a network, and what went wrong in it."""

    def __init__(self, browser: Browser, path: Path, width: int, scheme: str) -> None:
        self.problems: list[str] = []
        looks = {"color_scheme": scheme, "offline": True, "reduced_motion": "reduce"}
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **looks)  # type: ignore[arg-type]
        self.page: Page = self.context.new_page()
        note = self.problems.append
        self.page.on("pageerror", lambda error: note(f"page error: {error}"))
        self.page.on("dialog", lambda dialog: note(f"dialog: {dialog.message}"))
        self.page.on("console", lambda said: note(f"console {said.type}: {said.text}"))
        self.page.on(
            "request",
            lambda asked: None if asked.url == path.as_uri() else note(f"request: {asked.url}"),
        )
        self.page.goto(path.as_uri())

    def read_on(self) -> None:
        """Go through all of it, so that each figure is drawn."""
        for plot in self.page.locator(".plot").all():
            plot.scroll_into_view_if_needed()
            expect(plot.locator(".main-svg").first).to_be_visible()


@pytest.fixture(params=[(1440, "light"), (390, "dark")], ids=["wide", "phone"])
def opened(browser: Browser, written: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    opened = Opened(browser, written, *request.param)
    yield opened
    opened.context.close()


def test_it_opens_offline_and_runs_nobodys_script(opened: Opened) -> None:
    opened.read_on()
    assert opened.page.locator(".plot.drawn").count() == opened.page.locator(".plot").count() > 1
    opened.page.wait_for_timeout(200)
    assert "owned" not in opened.page.title().split("document")[0]
    assert opened.page.evaluate("document.title") != "owned"
    assert opened.problems == []
    for tag in ("img", "iframe", "object", "embed", "form", "base", "body [href^=javascript]"):
        assert opened.page.locator(tag).count() == 0, tag
    links = opened.page.locator("svg a, .card a").count()
    assert links == 0


def test_it_fits_and_has_its_colours(opened: Opened) -> None:
    page = opened.page
    opened.read_on()
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    theme = DARK if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else LIGHT
    channels = tuple(int(theme.paper[i : i + 2], 16) for i in (1, 3, 5))
    assert paper == f"rgb{channels}"
    # Figures are light on white, whatever the page is.
    card = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    assert card == "rgb(255, 255, 255)"
    assert violations(page) == []


def test_the_policy_stops_what_escaping_would_let_through(browser: Browser, written: Path) -> None:
    """A script that somebody puts into the file does not run: the second line of defence."""
    text = written.read_text(encoding="utf-8")
    path = written.with_name("changed.html")
    bad = f"<script>{hostile.OWNED}</script><img src=x onerror={hostile.OWNED}>"
    path.write_text(text.replace("<main>", f"<main>{bad}"), encoding="utf-8")
    opened = Opened(browser, path, 1440, "light")
    opened.read_on()
    assert opened.page.evaluate("document.title") != "owned"
    assert any("Content Security Policy" in problem for problem in opened.problems)
    opened.context.close()

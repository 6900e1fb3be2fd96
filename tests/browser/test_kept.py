"""What someone typed or generated survives a reload, a server that ends, and a restart."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Server, Visit, free_port
from tests.browser.driver import chips, generate, inspector, run, setting, tokens, writing
from tests.browser.forked import forked
from tests.browser.test_accessibility import violations

BLOCKED = """for (const name of ['indexedDB', 'sessionStorage', 'localStorage'])
  Object.defineProperty(window, name, { get() {
    throw new DOMException('denied', 'SecurityError'); } });"""
BOXES = ".toast-wrap .toast-body, [data-testid=toast-body]"


@dataclass
class Process:
    """A server as a process of its own, at a port that stays."""

    delay: float = 0.03
    port: int = field(default_factory=free_port)
    process: ForkServerProcess | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        self.process = forked(self.port, self.delay)
        for _ in range(300):
            assert self.process.is_alive()
            try:
                with urlopen(f"{self.url}gradio_api/app_id", timeout=2):
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server did not come up")

    def signal(self, number: signal.Signals) -> None:
        assert self.process
        assert self.process.pid
        os.kill(self.process.pid, number)

    def end(self) -> None:
        if self.process:
            self.process.kill()
            self.process.join(20)
            self.process.close()
            self.process = None


@pytest.fixture
def server() -> Iterator[Process]:
    process = Process()
    process.start()
    yield process
    process.end()


@pytest.fixture
def open_page(browser: Browser, server: Process) -> Iterator[Callable[..., Page]]:
    """Open pages, whose scripts must not fail; that requests do is what is tested."""
    errors: list[str] = []
    contexts = []

    def opened(width: int = 1440, height: int = 900, **more: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **more)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(server.url)
        page.wait_for_selector(".xtc .composer", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


def text(page: Page, lane: int = 1) -> str:
    return "".join(token["text"] for token in tokens(page, lane))


def away(page: Page) -> Locator:
    return page.get_by_test_id("away")


def reload(page: Page) -> None:
    page.reload()
    page.wait_for_selector(".xtc .composer", state="attached")


def length(page: Page, lane: int = 1) -> int:
    return chips(page, lane).count()


def test_a_server_that_ends_in_the_middle_and_comes_back(
    server: Process, open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    page.evaluate("window.same = true")
    run(page, "Twice", length=80)
    whole = text(page)
    assert length(page) == 80
    generate(page, "Once upon", length=80)
    writing(page, 12)
    server.end()
    expect(away(page)).to_contain_text("The server is away. This text is kept")
    expect(page.locator(BOXES)).to_have_count(0)
    so_far = text(page)
    assert so_far
    assert page.get_by_role("button", name="Generate", exact=True).is_disabled()
    # What comes after stays in the page, and the page stays the same one.
    page.fill("#prompt", "For later")
    server.start()
    expect(away(page)).to_have_text("", timeout=30_000)
    expect(page.locator(".composer")).to_have_attribute("data-phase", "idle", timeout=60_000)
    assert page.evaluate("window.same") is True
    assert length(page) == 80
    assert text(page).startswith(so_far)
    expect(page.locator("#prompt")).to_have_value("For later")
    inspector(page)
    # The run before it is not on this server, but in the browser.
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("#lane-1 .t")).to_have_count(80)
    page.wait_for_function(
        "t => document.querySelector('#lane-1').textContent.includes(t)", arg=whole
    )
    chips(page, 1).nth(40).click()
    inspector(page)
    page.get_by_role("button", name="Redo", exact=True).click()
    page.wait_for_function(
        "t => document.querySelector('#lane-1').textContent.includes(t)", arg=so_far
    )


def test_while_the_server_is_away_its_steps_can_be_looked_at_and_saved(
    server: Process, open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    run(page, "Once upon", length=150)
    page.wait_for_timeout(2500)  # the steps are loaded meanwhile
    server.end()
    chips(page, 1).nth(0).click()
    for k in (140, 70, 3):
        chips(page, 0).nth(k).click()
        expect(inspector(page).locator("h2")).to_contain_text(f"token {k + 1} ")
    # Something that needs the server finds out that it is away.
    page.get_by_role("button", name="Again with a new seed").click()
    expect(away(page)).to_contain_text("The server is away.")
    expect(page.locator(BOXES)).to_have_count(0)
    assert violations(page) == []
    page.locator(".menu", has=page.get_by_test_id("figure-form")).locator("summary").click()
    with page.expect_download() as coming:
        page.get_by_role("button", name=re.compile("[Tt]race")).first.click()
    path = tmp_path / "run.json.gz"
    coming.value.save_as(path)
    assert path.stat().st_size > 1000
    page.keyboard.press("Escape")
    server.start()
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(away(page)).to_have_text("", timeout=30_000)
    expect(page.locator(".composer")).to_have_attribute("data-phase", "idle", timeout=60_000)


def test_a_server_that_hangs_for_ten_seconds(
    server: Process, open_page: Callable[..., Page]
) -> None:
    page = open_page()
    generate(page, "Once upon", length=120)
    writing(page, 8)
    server.signal(signal.SIGSTOP)
    try:
        expect(away(page)).to_contain_text("does not answer at the moment", timeout=20_000)
        page.wait_for_timeout(2000)
        expect(page.locator(BOXES)).to_have_count(0)
    finally:
        server.signal(signal.SIGCONT)
    expect(away(page)).to_have_text("", timeout=30_000)
    expect(page.locator(".composer")).to_have_attribute("data-phase", "idle", timeout=60_000)
    assert length(page) == 120


def test_a_reload_in_the_middle_of_a_run_goes_on_with_it(
    server: Process, open_page: Callable[..., Page]
) -> None:
    page = open_page()
    generate(page, "Once upon", length=100)
    writing(page, 20)
    so_far = text(page)
    reload(page)
    expect(page.locator("#lane-1 .t")).to_have_count(100, timeout=30_000)
    expect(page.locator(".composer")).to_have_attribute("data-phase", "idle")
    assert text(page).startswith(so_far)
    expect(page.locator("#prompt")).to_have_value("Once upon")
    again = open_page()  # what an undisturbed run writes
    run(again, "Once upon", length=100)
    assert text(again) == text(page)


def test_a_reload_after_a_restart_brings_run_step_and_settings_back(
    server: Process, open_page: Callable[..., Page]
) -> None:
    page = open_page()
    setting(page, "seed", 41)
    run(page, "Once upon", length=60)
    run(page, "Twice", length=60)
    chips(page, 0).nth(33).click()
    expect(inspector(page).locator("h2")).to_contain_text("Baseline · token 34 ")
    before = text(page, 0)
    page.wait_for_timeout(600)
    server.end()
    server.start()
    reload(page)
    expect(inspector(page).locator("h2")).to_contain_text("Baseline · token 34 ")
    assert text(page, 0) == before
    expect(page.locator("#prompt")).to_have_value("Twice")
    expect(page.locator("[data-field=seed]")).to_have_value("41")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("#prompt")).to_have_value("Once upon")


def test_an_unfinished_text_is_there_when_its_server_is_gone(
    server: Process, open_page: Callable[..., Page]
) -> None:
    page = open_page()
    generate(page, "Once upon", length=200)
    writing(page, 40)
    page.wait_for_timeout(1500)
    server.end()
    expect(away(page)).to_contain_text("The server is away")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".composer")).to_have_attribute("data-phase", "idle")
    so_far = text(page)
    page.wait_for_timeout(600)
    server.start()
    reload(page)
    expect(page.get_by_test_id("origin")).to_contain_text("Unfinished")
    assert text(page) == so_far
    expect(page.locator("#prompt")).to_have_value("Once upon")
    page.get_by_role("button", name="Shelf: the runs of before").click()
    shelf = page.get_by_role("dialog", name="Shelf")
    expect(shelf.locator("li")).to_contain_text("unfinished: its text alone")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Generate", exact=True).click()
    writing(page, 60)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".composer")).to_have_attribute("data-phase", "idle")
    assert text(page).startswith(so_far[:100])


def test_redo_is_there_after_undo_and_gone_after_a_new_run(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once", length=10)
    run(page, "Twice", length=10)
    undo = page.get_by_role("button", name="Undo", exact=True)
    redo = page.get_by_role("button", name="Redo", exact=True)
    expect(redo).to_be_hidden()
    undo.click()
    expect(page.locator("#prompt")).to_have_value("Once")
    page.locator("body").press("Shift+Z")
    expect(page.locator("#prompt")).to_have_value("Twice")
    expect(redo).to_be_hidden()
    page.locator("body").press("z")
    expect(page.locator("#prompt")).to_have_value("Once")
    reload(page)
    expect(redo).to_be_visible()
    run(page, "Thrice", length=10)
    expect(redo).to_be_hidden()
    expect(undo).to_be_visible()


def test_one_click_forgets_what_the_browser_keeps(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=10)
    page.fill("#prompt", "Not yet")
    page.get_by_role("button", name="Shelf: the runs of before").click()
    shelf = page.get_by_role("dialog", name="Shelf")
    expect(shelf.locator("li")).to_have_count(1)
    shelf.get_by_role("button", name="Clear all").click()
    expect(shelf.locator("li")).to_have_count(0)
    shelf.get_by_role("button", name="Undo: bring all back").click()
    expect(shelf.locator("li")).to_have_count(1)
    shelf.get_by_role("button", name="Clear all").click()
    expect(shelf.locator("li")).to_have_count(0)
    reload(page)
    expect(page.get_by_test_id("origin")).to_have_text("A recorded run, chosen as an example.")
    expect(page.locator("#prompt")).not_to_have_value("Not yet")
    kept = page.evaluate("Object.values(localStorage).concat(Object.values(sessionStorage)).join()")
    assert "Once upon" not in kept.replace("Once upon a time", "")


def test_without_any_storage_the_page_works(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.add_init_script(BLOCKED)
    reload(page)
    run(page, "Once upon", length=10)
    reload(page)
    expect(page.get_by_test_id("origin")).to_have_text("A recorded run, chosen as an example.")


def test_a_link_that_was_copied_does_not_write_anew_when_the_page_is_loaded_again(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    run(page, "Once upon", length=10)
    page.get_by_role("button", name="Copy a link to this run").click()
    page.wait_for_function("location.hash.startsWith('#run=')")
    chips(page, 0).nth(4).click()
    page.wait_for_timeout(600)
    reload(page)
    expect(inspector(page).locator("h2")).to_contain_text("Baseline · token 5 ")
    assert page.locator(".xtc").get_attribute("data-done") in (None, "0")


def test_two_tabs_that_write_at_once_lose_nothing(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    other = page.context.new_page()
    other.goto(fake.url)
    other.wait_for_selector(".xtc .composer")
    for k in range(3):
        generate(page, f"Mine {k}", length=8)
        generate(other, f"Theirs {k}", length=8)
        for tab in (page, other):
            tab.wait_for_selector(f".xtc[data-done='{k + 1}']")
    page.get_by_role("button", name="Shelf: the runs of before").click()
    expect(page.locator("dialog.shelf li")).to_have_count(6)


def test_a_tab_that_is_loaded_again_shows_its_own_prompt(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Mine", length=8)
    page.wait_for_timeout(600)
    other = page.context.new_page()
    other.goto(fake.url)
    other.wait_for_selector(".xtc .composer")
    other.fill("#prompt", "Theirs")
    other.wait_for_function("localStorage.getItem('xtc_viz-draft')?.includes('Theirs')")
    reload(page)
    expect(page.locator("#prompt")).to_have_value("Mine")
    expect(page.get_by_test_id("origin")).not_to_contain_text("Prompt changed")
    page.fill("#prompt", "Not run yet")
    page.wait_for_timeout(600)
    reload(page)
    expect(page.locator("#prompt")).to_have_value("Not run yet")


def test_a_newer_page_that_takes_the_storage_over_is_named(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=8)
    newer = """() => new Promise((done, failed) => {
      const request = indexedDB.open('xtc_viz', 2);
      request.onsuccess = () => { request.result.close(); done(true); };
      request.onblocked = failed;
    })"""
    assert page.evaluate(newer) is True
    run(page, "Twice", length=8)
    expect(page.get_by_test_id("error")).to_contain_text("a newer version of this page")
    assert text(page)


def test_a_tab_that_is_closed_in_the_middle_of_a_write_leaves_whole_runs(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    for k in range(4):
        tab = page.context.new_page()
        tab.goto(fake.url)
        tab.wait_for_selector(".xtc .composer")
        generate(tab, f"Run {k}", length=60)
        tab.wait_for_selector(".xtc[data-done='1']")
        tab.wait_for_timeout(15 * k)
        tab.close()
    pairs = page.evaluate(
        """() => new Promise((done) => {
          const request = indexedDB.open('xtc_viz', 1);
          request.onsuccess = () => {
            const at = request.result.transaction(['entries', 'files']);
            const keys = ['entries', 'files'].map((name) => at.objectStore(name).getAllKeys());
            at.oncomplete = () => done(keys.map(({ result }) => result));
          };
        })"""
    )
    assert sorted(pairs[0]) == sorted(pairs[1])


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1024, True), (390, False)])
def test_the_page_without_its_server_is_calm(
    width: int,
    dark: bool,
    server: Process,
    open_page: Callable[..., Page],
    keep: Callable[..., None],
) -> None:
    page = open_page(width, 844, color_scheme="dark" if dark else "light")
    run(page, "Once upon", length=20)
    server.end()
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(away(page)).to_contain_text("The server is away.")
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_disabled()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    keep(page, f"away-{width}", full=False)


def test_what_waits_behind_another_run_is_asked_for_again_after_a_reload(
    server: Process, open_page: Callable[..., Page]
) -> None:
    first, second = open_page(), open_page()
    generate(first, "Once upon", length=200)
    writing(first, 4)
    generate(second, "Mine", length=12)
    second.wait_for_selector(".composer[data-phase=waiting]")
    second.wait_for_timeout(600)
    reload(second)
    expect(second.locator("#lane-1 .t")).to_have_count(12, timeout=60_000)
    assert text(second)

"""The page as others host it: under a path prefix behind a proxy, and with limits for visitors."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Server, Visit, serve
from tests.browser.driver import (
    chips,
    counts,
    finished,
    generate,
    inspector,
    run,
    setting,
    writing,
)
from tests.browser.proxy import proxied
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.ui.gate.entrance import Entrance
from xtc_viz.ui.limits import Limits
from xtc_viz.ui.scripts import LOST

Keep = Callable[..., None]
PREFIX = "/tools/xtc"
PROXIED = Entrance.of(proxies=1, environment={})
TIGHT = Limits(max_tokens=30, max_lanes=3, max_prompt=50)


@pytest.fixture(scope="module")
def behind() -> Iterator[Server]:
    """A server that is reached through a proxy, under a prefix."""
    for server in serve(FakeModel(), entrance=PROXIED, root_path=PREFIX):
        with proxied(server.url, PREFIX) as url:
            yield Server(url, server.host, server.model)


@pytest.fixture(scope="module")
def limited() -> Iterator[Server]:
    model = FakeModel()
    yield from serve(model, ModelHost(model, max_per_visitor=1), limits=TIGHT, entrance=PROXIED)


def test_all_of_it_works_under_a_prefix(visit: Visit, behind: Server, keep: Keep) -> None:
    """`visit` fails this test for whatever is asked for beside the prefix."""
    page = visit(behind)
    behind.model.delay = 0.03
    # The style came.
    assert page.locator(".xtc").evaluate("x => getComputedStyle(x).getPropertyValue('--ink')")
    generate(page, "Once upon", length=60)
    writing(page, 3)  # while it is being written: nothing holds the stream back
    assert counts(page)[0] < 60
    finished(page)
    assert counts(page)[0] == 60
    # The page's questions.
    chips(page, 1).nth(5).click()
    expect(inspector(page)).to_contain_text("coin")
    page.get_by_test_id("model").get_by_role("button").click()
    expect(page.get_by_role("dialog", name="The model")).to_contain_text("fake in use")
    page.keyboard.press("Escape")
    keep(page, "prefix")
    # Stop, and a link to come back by.
    generate(page, length=900)
    writing(page, 2)
    page.keyboard.press("Escape")
    finished(page, timeout=5_000)
    behind.model.delay = 0.0
    run(page, length=20)
    page.get_by_role("button", name="Copy a link").click()
    assert page.evaluate("location.pathname") == PREFIX + "/"
    again = visit(behind, link=page.evaluate("location.hash"))
    expect(again.locator(".xtc")).to_have_attribute("data-done", "1", timeout=20_000)
    assert counts(again)[0] == 20


def test_a_script_that_does_not_come_is_told(browser: Browser, limited: Server) -> None:
    page = browser.new_page()
    page.route("**/xtc_viz/script/*", lambda route: route.fulfill(status=404))
    page.goto(limited.url)
    expect(page.locator("#xtc-viz")).to_have_text(LOST)
    page.unroute("**/xtc_viz/script/*")
    page.reload()
    expect(page.locator("#xtc-viz .composer")).to_be_visible(timeout=15_000)
    page.close()


def test_a_script_comes_once(visit: Visit, behind: Server) -> None:
    """It is announced before it is imported, and kept after."""
    page = visit(behind)
    taken = "performance.getEntriesByType('resource').filter(e => e.name.includes('/script/'))"
    assert page.evaluate(f"{taken}.map(e => e.initiatorType)") == ["link"]
    page.reload()
    page.wait_for_selector(".xtc .composer")
    assert page.evaluate(f"{taken}.map(e => e.transferSize)") == [0]


def test_a_page_with_limits_shows_and_keeps_them(visit: Visit, limited: Server, keep: Keep) -> None:
    page = visit(limited)
    slider = page.get_by_role("slider", name="Length, slider", exact=True, include_hidden=True)
    expect(slider).to_have_attribute("max", "30")
    setting(page, "max_new_tokens", 31)
    page.get_by_role("button", name="Generate", exact=True).click()
    expect(page.locator(".knob .wrong:visible")).to_have_text(
        "Length must be an integer in [1, 30], but is 31"
    )
    keep(page, "too-long")
    page.fill("#prompt", "x" * 51)
    setting(page, "max_new_tokens", 20)
    page.get_by_role("button", name="Generate", exact=True).click()
    expect(page.get_by_test_id("error")).to_contain_text("at most 50 characters")
    assert page.input_value("#prompt") == "x" * 51
    # A third lane, and no fourth.
    add = page.get_by_role("combobox", name="Add a lane")
    add.select_option(label="Strong")
    expect(add).to_have_count(0)
    run(page, "Once")
    assert counts(page) == [20, 20, 20]
    onward = page.get_by_role("button", name="Continue", exact=True)
    onward.click()
    page.wait_for_function("document.querySelectorAll('#lane-0 .t').length === 30")
    finished(page)
    expect(onward).to_be_hidden()
    assert counts(page) == [30, 30, 30]


def test_two_visitors_and_the_second_tab_of_one(visit: Visit, limited: Server) -> None:
    """Two people at once: one waits, the greedy one is told, and none is disturbed."""
    limited.model.delay = 0.1
    first, again = visit(limited), visit(limited)
    other = visit(limited, extra_http_headers={"X-Forwarded-For": "192.0.2.7"})
    generate(first, "Once upon a time", length=30)
    writing(first)
    generate(again, "Once", length=5)
    expect(again.get_by_test_id("error")).to_contain_text("One run of yours is going")
    generate(other, "The bear", length=4)
    expect(other.get_by_test_id("status")).to_contain_text("Waiting: one run is ahead")
    finished(first)
    finished(other)
    limited.model.delay = 0.0
    assert (counts(first)[0], counts(other)[0]) == (30, 4)
    for page, prompt in ((first, "Once upon a time"), (other, "The bear")):
        expect(page.locator("#lane-0")).to_contain_text(prompt)
    run(again, "Once", length=5)
    assert counts(again)[0] == 5

"""The shelf: runs are there after a reload, are found, named, pinned, opened, set side by side."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import counts, generate, inspector, run, setting, tokens, writing
from tests.browser.test_accessibility import violations

BLOCKED = """Object.defineProperty(window, 'indexedDB', { get() {
  throw new DOMException('denied', 'SecurityError'); } });"""


def opened(page: Page, entries: int) -> Locator:
    """Open the shelf, once so many runs are on it."""
    shelf = page.get_by_role("dialog", name="Shelf")
    if not shelf.is_visible():
        page.get_by_role("button", name="Shelf: the runs of before").click()
    expect(shelf.locator("li:not(.gone)")).to_have_count(entries)
    return shelf


def titles(shelf: Locator) -> list[str]:
    return [words.strip() for words in shelf.locator(".title").all_inner_texts()]


def reload(page: Page) -> None:
    page.reload()
    page.wait_for_selector(".xtc .composer")


def text(page: Page, lane: int) -> str:
    return "".join(token["text"] for token in tokens(page, lane))


def test_runs_are_there_after_a_reload_and_open_as_they_were(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=20)
    before = [text(page, lane) for lane in (0, 1)]
    run(page, "The bear")
    opened(page, 2)
    reload(page)
    shelf = opened(page, 2)
    assert titles(shelf) == ["The bear", "Once upon"]
    shelf.get_by_role("button", name="Once upon", exact=True).click()
    expect(shelf).not_to_be_visible()
    expect(page.get_by_test_id("origin")).to_have_text("From the shelf: Once upon.")
    assert [text(page, lane) for lane in (0, 1)] == before
    expect(page.locator("#prompt")).to_have_value("Once upon")
    inspector(page)
    # It goes on, and stands on the shelf as long as it is now.
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_selector(".xtc[data-done='1']")
    assert counts(page) == [40, 40]
    shelf = opened(page, 2)
    expect(shelf.locator("li").first).to_contain_text("XTC 40 tokens")


def test_in_another_tab_the_last_run_is_one_click_away(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    back = page.get_by_role("button", name="Back to your last run")
    for prompt in ("Once upon", "The bear"):
        run(page, prompt, length=8)
    before = text(page, 1)
    opened(page, 2)
    expect(back).to_be_hidden()
    other = page.context.new_page()
    other.goto(fake.url)
    back = other.get_by_role("button", name="Back to your last run")
    back.click()
    expect(other.get_by_test_id("origin")).to_have_text("From the shelf: The bear.")
    assert text(other, 1) == before
    expect(back).to_be_hidden()
    # In the same tab nobody has to ask for it.
    reload(page)
    expect(page.locator("#prompt")).to_have_value("The bear")
    assert text(page, 1) == before
    expect(page.get_by_role("button", name="Back to your last run")).to_be_hidden()


def test_names_pins_and_search(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    for prompt in ("Once upon", "The bear", "To Zanzibar"):
        run(page, prompt, length=8)
    shelf = opened(page, 3)
    shelf.get_by_role("button", name="Rename: The bear").click()
    page.keyboard.type("Chapter one")
    page.keyboard.press("Enter")
    shelf.get_by_role("button", name="Pin: Once upon").click()
    expect(shelf.get_by_role("button", name="Pin: Once upon")).to_be_focused()
    reload(page)
    shelf = opened(page, 3)
    assert titles(shelf) == ["Once upon", "To Zanzibar", "Chapter one"]
    search = shelf.get_by_role("searchbox")
    for query, expected in (
        ("chapter", ["Chapter one"]),
        ("ZANZIBAR", ["To Zanzibar"]),
        ("no such words", []),
    ):
        search.fill(query)
        expect(shelf.locator("li")).to_have_count(len(expected))
        assert titles(shelf) == expected
    expect(shelf.get_by_role("status")).to_contain_text("Nothing on the shelf")
    search.fill("")
    page.keyboard.press("Escape")
    expect(shelf).not_to_be_visible()


def test_a_name_that_is_not_wanted_and_a_run_that_was_deleted(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=8)
    shelf = opened(page, 1)
    shelf.get_by_role("button", name="Rename: Once upon").click()
    page.keyboard.type("No")
    page.keyboard.press("Escape")
    assert titles(shelf) == ["Once upon"]
    shelf.get_by_role("button", name="Delete: Once upon").click()
    expect(shelf.locator("li")).to_have_text(re.compile("Deleted: Once upon"))
    shelf.get_by_role("button", name="Undo", exact=True).click()
    opened(page, 1)
    shelf.get_by_role("button", name="Delete: Once upon").click()
    reload(page)
    opened(page, 0)


def test_two_runs_side_by_side(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=30)
    xtc = text(page, 1)
    run(page, "The bear", length=30)
    shelf = opened(page, 2)
    shelf.get_by_role("button", name="Side by side: Once upon").click()
    expect(shelf.get_by_role("status")).to_have_text("Choose the run to set beside “Once upon”.")
    assert violations(page) == []
    shelf.get_by_role("button", name="Side by side: The bear").click()
    pair = page.get_by_role("dialog", name="Two runs side by side")
    columns = pair.get_by_role("region")
    expect(columns).to_have_count(2)
    assert columns.first.text_content() == "Once upon" + xtc
    fired = sum(token["fired"] for token in tokens(page, 1))
    assert columns.last.locator(".t.o3").count() == fired > 0
    pair.get_by_role("combobox", name="Lane of Once upon").select_option("Baseline")
    expect(columns.first.locator(".t.o3")).to_have_count(0)
    assert violations(page) == []
    pair.get_by_role("button", name="Open this run").first.click()
    expect(page.get_by_test_id("origin")).to_have_text("From the shelf: Once upon.")
    assert text(page, 1) == xtc


def test_two_tabs_share_the_shelf(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    other = page.context.new_page()
    other.goto(fake.url)
    other.wait_for_selector(".xtc .composer")
    shelf = opened(other, 0)
    run(page, "Once upon", length=8)
    opened(other, 1)
    shelf.get_by_role("button", name="Pin: Once upon").click()
    mine = opened(page, 1)
    expect(mine.get_by_role("heading", name="Pinned")).to_be_visible()


def test_with_storage_blocked_the_page_works_and_says_so(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.add_init_script(BLOCKED)
    reload(page)
    run(page, "Once upon", length=8)
    shelf = opened(page, 1)
    expect(shelf).to_contain_text("This browser keeps nothing for this page")
    shelf.get_by_role("button", name="Once upon", exact=True).click()
    expect(page.get_by_test_id("origin")).to_have_text("From the shelf: Once upon.")
    reload(page)
    opened(page, 0)


def test_a_stopped_run_is_kept_and_none_opens_while_one_is_written(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    run(page, "Once upon", length=8)
    fake.model.delay = 0.05
    generate(page, "The bear", length=200)
    writing(page, 3)
    shelf = opened(page, 1)
    shelf.get_by_role("button", name="Once upon", exact=True).click()
    expect(shelf.get_by_role("alert")).to_contain_text("A run is being written")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop").click()
    shelf = opened(page, 2)
    assert titles(shelf)[0] == "The bear"


def test_what_was_typed_and_not_run_is_there_after_a_reload(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=8)
    page.fill("#prompt", "A bear, not yet")
    setting(page, "seed", 99)
    reload(page)
    expect(page.locator("#prompt")).to_have_value("A bear, not yet")
    expect(page.locator("[data-field=seed]")).to_have_value("99")
    # Once it is run, it is no draft: another tab begins without it.
    run(page)
    other = page.context.new_page()
    other.goto(fake.url)
    other.wait_for_selector(".xtc .composer")
    expect(other.locator("#prompt")).not_to_have_value("A bear, not yet")


def test_the_shelf_on_a_phone_is_as_wide_as_the_window(visit: Visit, fake: Server) -> None:
    page = visit(fake, width=390, height=844)
    run(page, "Once upon", length=8)
    shelf = opened(page, 1)
    box = shelf.bounding_box()
    assert box
    assert (box["x"], box["width"]) == (0, 390)
    assert violations(page) == []
    page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth") == 390

"""Step by step: one lane is looked at, one button steps, and it can be watched on a phone."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import chips, counts, inspector, run, setting


def step(page: Page) -> None:
    """The composer's Step."""
    page.locator(".actions").get_by_role("button", name="Step").click()


def test_look_draw_look_keeps_to_the_lane(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    setting(page, "max_new_tokens", 6)
    step(page)
    page.wait_for_selector(".xtc[data-done='1']")
    title = page.locator(".inspector h2")
    for token in (1, 2, 3):
        expect(title).to_have_text(f"XTC · token {token} is not drawn yet")
        page.locator(".stepper .half").click()
        expect(title).to_contain_text(f"XTC · token {token} ")
        expect(title).not_to_contain_text("not drawn yet")
        page.locator(".stepper .half").click()
    # The other lane, once chosen, is kept to as well; and so it is when all is shown.
    page.locator("#lane-1").focus()
    page.keyboard.press("ArrowUp")
    expect(title).to_have_text("Baseline · token 4 is not drawn yet")
    page.keyboard.press("s")
    expect(title).to_contain_text("Baseline · token 4 ")
    page.get_by_role("button", name="Show all").click()
    expect(title).to_contain_text("Baseline · token 4 ")


def test_the_composers_step_goes_on_while_one_steps(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    setting(page, "max_new_tokens", 2)
    step(page)
    page.wait_for_selector(".xtc[data-done='1']")
    expect(page.get_by_test_id("note")).to_have_text("Written ahead, shown step by step.")
    expect(page.get_by_role("button", name="Again with a new seed")).to_be_hidden()
    for shown in ([1, 1], [1, 1], [2, 2]):
        step(page)
        assert counts(page) == shown
    # All is drawn; no second run was begun on the way.
    expect(page.locator(".actions").get_by_role("button", name="Step")).to_be_disabled()
    expect(page.locator(".xtc")).to_have_attribute("data-done", "1")
    page.get_by_role("button", name="Show all").click()
    step(page)
    page.wait_for_selector(".xtc[data-done='2']")
    assert counts(page) == [0, 0]


def test_escape_pauses_and_then_leaves(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once", length=30)
    page.locator("#lane-1").focus()
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    chips(page, 1).nth(1).wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    shown = counts(page)
    assert shown[1] < 30
    page.wait_for_timeout(900)  # longer than two half steps
    assert counts(page) == shown
    page.keyboard.press("Escape")
    expect(page.locator(".xtc[data-stepping]")).to_have_count(0)
    assert counts(page) == [30, 30]


def test_on_a_phone_text_dice_and_buttons_are_in_sight(visit: Visit, fake: Server) -> None:
    page = visit(fake, width=390, height=844, has_touch=True, is_mobile=True)
    step(page)
    title = page.locator(".inspector h2")
    expect(title).to_contain_text("XTC · token 1 is not drawn yet")
    page.wait_for_selector(".xtc[data-done='1']")
    inspector(page)
    button = page.locator(".stepper .half")
    for _ in range(5):
        button.click()
    for node in (button, title, page.locator(".coin"), chips(page, 1).nth(2)):
        expect(node).to_be_in_viewport()
    page.locator(".lane-tabs button").nth(0).click()
    expect(title).to_contain_text("Baseline · token 3 ")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".timeline")).to_be_visible()

"""16 seeds: their dots come, are said in words, and open as runs; what was seen and typed stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visit, serve
from tests.browser.driver import counts, finished, run, setting, tokens, unfold
from tests.browser.test_accessibility import LOOKS, Look, look, violations
from xtc_viz.models.fake import FakeModel
from xtc_viz.ui.limits import Limits

__all__ = ["look"]  # a fixture

WAIT = 60_000
INSIDE = """node => { const box = node.getBoundingClientRect();
  return [box.left, box.right, innerWidth, document.scrollingElement.scrollWidth]; }"""


def press(page: Page, length: int | None = None) -> Locator:
    """Press the button beside Generate; returns the dialog."""
    if length is not None:
        setting(page, "max_new_tokens", length)
        page.keyboard.press("Escape")
    page.locator(".composer .many").click()
    dialog = page.get_by_role("dialog", name="Spread")
    expect(dialog).to_be_visible()
    return dialog


def whole(dialog: Locator) -> None:
    """Wait until all seeds are there."""
    expect(dialog.get_by_role("status")).to_contain_text("Seeds ", timeout=WAIT)


def dots(dialog: Locator, quantity: str = "tokens") -> Locator:
    return dialog.locator(f"[data-quantity={quantity}] .dot")


def seeds(dialog: Locator) -> Locator:
    return dialog.get_by_role("group", name="The texts of seed").get_by_role("radio")


def test_sixteen_seeds_on_the_story_model(story: Server, visit: Visit) -> None:
    page = visit(story)
    before = tokens(page, 1)
    page.fill("#prompt", "Once upon a time, typed")
    dialog = press(page, 24)
    whole(dialog)
    for quantity in ("activation", "changed", "distinct_2", "tokens", "tail_after"):
        expect(dots(dialog, quantity)).to_have_count(32)
        expect(dialog.locator(f"[data-quantity={quantity}] .mean")).to_have_count(2)
    expect(dialog.locator(".said")).to_contain_text("This is one prompt only")
    expect(seeds(dialog)).to_have_count(16)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert tokens(page, 1) == before, "the run on show stays"
    expect(page.locator("#prompt")).to_have_value("Once upon a time, typed")
    dialog = press(page)  # nothing has changed: nothing is written
    expect(dialog).to_have_attribute("data-phase", "idle")
    expect(dots(dialog)).to_have_count(32)


def test_a_seed_opens_as_the_run_that_generate_writes(fake: Server, visit: Visit) -> None:
    page = visit(fake)
    run(page, "Once upon", length=20)
    former = tokens(page, 1)
    dialog = press(page)
    whole(dialog)
    seed = int(page.locator("[data-field=seed]").input_value())
    expect(dialog.locator(".strips .dot.shown")).to_have_count(10)
    expect(seeds(dialog).first).to_be_checked()
    seeds(dialog).first.focus()
    page.keyboard.press("ArrowRight")
    expect(seeds(dialog).nth(1)).to_be_checked()
    expect(seeds(dialog).nth(1)).to_be_focused()
    said = dialog.get_by_role("region", name=f"XTC, seed {seed + 1}").locator(".body")
    text = (said.text_content() or "").removesuffix(" ■")
    dialog.get_by_role("button", name="Open in the inspector").click()
    expect(dialog).to_be_hidden()
    opened = tokens(page, 1)
    assert text == "Once upon" + "".join(one["text"] for one in opened)
    expect(page.locator("[data-field=seed]")).to_have_value(str(seed + 1))
    run(page)
    assert tokens(page, 1) == opened
    for _ in (1, 2):  # to the opened seed, and to what was on show before
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Redo")).to_be_visible()
        page.wait_for_timeout(300)
    assert tokens(page, 1) == former
    dialog = press(page)
    expect(dots(dialog)).to_have_count(32)


def test_a_click_on_a_dot_shows_its_texts(fake: Server, visit: Visit) -> None:
    page = visit(fake)
    dialog = press(page, 20)
    whole(dialog)
    dot = dots(dialog, "tail_after").nth(3)
    seed = (dot.locator("title").text_content() or "").split(":")[0].removeprefix("Seed ")
    dot.dispatch_event("click")
    expect(dialog.get_by_role("radio", checked=True)).to_have_value(seed)
    expect(dialog.get_by_role("region", name=f"Baseline, seed {seed}")).to_be_visible()


def test_stop_keeps_what_is_there(fake: Server, visit: Visit) -> None:
    fake.model.delay = 0.03
    page = visit(fake)
    dialog = press(page, 30)
    expect(dots(dialog).first).to_be_attached(timeout=WAIT)
    dialog.get_by_role("button", name="Stop").click()
    expect(dialog).to_have_attribute("data-phase", "idle", timeout=WAIT)
    there = seeds(dialog).count()
    assert 0 < there < 16
    expect(dialog.get_by_role("status")).to_have_text(f"Stopped: {there} of 16 seeds are there.")
    expect(dialog.locator(".mean")).to_have_count(0)
    page.keyboard.press("Escape")
    fake.model.delay = 0.0
    run(page, length=10)
    assert counts(page)[0] <= 10


def test_while_it_is_written_no_run_begins_and_esc_stops_it(fake: Server, visit: Visit) -> None:
    fake.model.delay = 0.03
    page = visit(fake)
    dialog = press(page, 200)
    expect(dialog).to_have_attribute("data-phase", "writing", timeout=WAIT)
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Generate", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Again with a new seed")).to_be_disabled()
    page.locator("body").press("Escape")
    expect(page.locator(".composer")).to_have_attribute("data-seeds", "idle", timeout=WAIT)
    expect(page.get_by_role("button", name="Generate", exact=True)).to_be_enabled()


def test_it_is_here_again_after_a_reload_and_a_new_run(fake: Server, visit: Visit) -> None:
    page = visit(fake)
    dialog = press(page, 20)
    whole(dialog)
    told = dialog.locator(".said").inner_text()
    page.keyboard.press("Escape")
    run(page)
    page.reload()
    page.wait_for_selector(".xtc .composer")
    dialog = press(page)
    expect(dialog).to_have_attribute("data-phase", "idle")
    expect(dots(dialog)).to_have_count(32)
    assert dialog.locator(".said").inner_text() == told


def test_other_settings_are_written_anew_and_the_one_before_comes_back(
    fake: Server, visit: Visit
) -> None:
    page = visit(fake)
    dialog = press(page, 12)
    dialog.get_by_label("Seeds", exact=True).fill("5")
    dialog.get_by_role("button", name="Write").click()
    whole(dialog)
    page.keyboard.press("Escape")
    expect(page.locator(".composer .many")).to_have_text("5 seeds")
    dialog = press(page, 14)
    expect(dialog.locator("[data-quantity=tokens]")).to_be_visible()
    whole(dialog)
    expect(dialog.get_by_role("status")).to_contain_text("up to 14 tokens")
    expect(dialog.locator(".said")).to_contain_text("Fewer than 8 seeds")
    dialog.get_by_role("button", name="The one before").click()
    expect(dialog.get_by_role("status")).to_contain_text("up to 12 tokens")


def test_a_seed_that_the_server_keeps_no_more_is_written_anew(fake: Server, visit: Visit) -> None:
    page = visit(fake)
    dialog = press(page, 12)
    whole(dialog)
    seeds(dialog).nth(4).check(force=True)
    shown = dialog.locator("section .body").nth(1)
    text = (shown.text_content() or "").removesuffix(" ■")
    gone = '{"error": {"message": "This run is no longer kept.", "gone": true}}'

    def answer(route: object) -> None:
        asked = route.request.post_data or ""  # type: ignore[attr-defined]
        if '"fn_name":"open"' in asked:
            route.fulfill(json=gone)  # type: ignore[attr-defined]
        else:
            route.continue_()  # type: ignore[attr-defined]

    page.route("**/component_server/", answer)
    dialog.get_by_role("button", name="Open in the inspector").click()
    page.wait_for_selector(".xtc[data-done='1']")
    finished(page)
    assert text.endswith("".join(one["text"] for one in tokens(page, 1)))


@pytest.fixture(scope="module")
def small() -> Iterator[Server]:
    """A page for the public, on which a spread has little room."""
    yield from serve(FakeModel(), limits=Limits(max_spread=200, max_tokens=30))


def test_what_is_too_much_is_said_at_its_field(small: Server, visit: Visit) -> None:
    page = visit(small)
    dialog = press(page, 10)
    wrong = dialog.get_by_role("alert").filter(has_text="Seeds must be at most 10")
    expect(wrong).to_be_visible()
    dialog.get_by_label("Seeds", exact=True).fill("10")
    dialog.get_by_role("button", name="Write").click()
    whole(dialog)
    expect(wrong).to_have_count(0)
    page.keyboard.press("Escape")
    setting(page, "tau", 3)
    page.locator(".composer .many").click()
    expect(page.get_by_text("τ floor must be in (0, 1), but is 3")).to_be_visible()
    expect(page.locator("dialog.spread")).to_be_hidden()


@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_all_of_it_is_within_the_window(fake: Server, visit: Visit, width: int, count: int) -> None:
    page = visit(fake, width, 844, has_touch=width == 390)
    for name in ("Generate", "16 seeds", "Step by step", "Stop"):
        box = page.locator(".composer").get_by_role("button", name=name, exact=True)
        left, right, window, page_width = box.evaluate(INSIDE)
        assert 0 <= left < right <= window
        assert page_width <= window
    room = "node => [node.scrollWidth, node.clientWidth]"
    needed, there = page.locator(".composer .actions").evaluate(room)
    assert needed <= there
    unfold(page)
    adding = page.get_by_role("combobox", name="Add a lane")
    for k in range(2, count):
        adding.select_option(index=k)
    if count == 1:
        page.locator(".lane-chips .chip").first.click()
        page.get_by_role("button", name="Remove").click()
    dialog = press(page, 12)
    whole(dialog)
    expect(dots(dialog)).to_have_count(16 * count)
    for part in dialog.locator("figure, .said p, section, fieldset, button:visible").all():
        left, right, window, _ = part.evaluate(INSIDE)
        assert 0 <= left < right <= window + 1


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_axe_finds_nothing(look: Look, fake: Server, dark: bool, width: int) -> None:
    page = look(fake, dark, width)
    fake.model.delay = 0.03
    dialog = press(page, 25)
    assert violations(page) == []  # empty
    expect(dots(dialog).first).to_be_attached(timeout=WAIT)
    assert violations(page) == []  # growing
    fake.model.delay = 0.0
    whole(dialog)
    dialog.get_by_text("The numbers as a table").click()
    assert violations(page) == []
    dialog.get_by_label("Seeds", exact=True).fill("2")
    dialog.get_by_role("button", name="Write").click()
    expect(dialog.get_by_text("Seeds must be an integer in [4, 64], but is 2")).to_be_visible()
    assert violations(page) == []

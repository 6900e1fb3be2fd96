"""The lesson: why and at what cost, two games, the tour, and what opens them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import run, setting
from tests.browser.test_accessibility import LOOKS, violations

Look = Callable[[Server, bool, int], Page]


@pytest.fixture
def look(visit: Visit) -> Look:
    """Open a page in light or dark, wide or narrow."""

    def open_page(server: Server, dark: bool, width: int) -> Page:
        scheme = "dark" if dark else "light"
        page = visit(server, width=width, height=844, color_scheme=scheme, reduced_motion="reduce")
        page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
        inspector_ready(page)
        return page

    return open_page


def inspector_ready(page: Page) -> None:
    """Wait for the recorded run and the step that it points at."""
    expect(page.locator(".inspector .content:not([data-loading])")).to_be_attached()


def learn(page: Page, name: str) -> None:
    """Open one of the parts from the help."""
    page.get_by_role("button", name="Help").click()
    page.get_by_role("dialog", name="Help").get_by_role("button", name=name).click()


def guessing(page: Page) -> Locator:
    dialog = page.get_by_role("dialog", name="Guess what survives")
    expect(dialog.get_by_role("checkbox").first).to_be_focused()
    return dialog


def within(page: Page, part: Locator) -> bool:
    box, size = part.bounding_box(), page.viewport_size
    assert box
    assert size
    return (
        box["x"] >= 0
        and box["y"] >= 0
        and box["x"] + box["width"] <= size["width"]
        and box["y"] + box["height"] <= size["height"]
    )


def test_the_head_opens_what_xtc_is_and_the_words_stand_there(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    opener = page.get_by_role("button", name="What is XTC?")
    opener.click()
    dialog = page.get_by_role("dialog", name="What is XTC?")
    expect(dialog.get_by_role("heading", name="What the paper found")).to_be_visible()
    dialog.get_by_role("button", name="Words").click()
    expect(dialog.get_by_role("heading", name="The words of this page")).to_be_focused()
    expect(dialog.locator("dt", has_text="underdog")).to_be_visible()
    for link in dialog.get_by_role("link").all():
        assert re.match("https://", link.get_attribute("href") or "")
        assert "noopener" in (link.get_attribute("rel") or "")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(opener).to_be_focused()


def test_a_guess_is_judged_counted_and_remembered(visit: Visit, story: Server) -> None:
    page = visit(story)
    inspector_ready(page)
    page.get_by_role("button", name="Guess", exact=True).click()
    dialog = guessing(page)
    score, result = page.get_by_test_id("score"), page.get_by_test_id("result")
    expect(score).to_contain_text("Level 1 of 5")
    # Nothing is marked, and words below τ always survive.
    dialog.get_by_role("button", name="Toss the coin").click()
    expect(result).to_contain_text("right")
    expect(score).to_contain_text("0 of 1 question right")
    onward = dialog.get_by_role("button", name="Next")
    expect(onward).to_be_focused()
    page.keyboard.press("Enter")
    guessing(page)
    expect(score).to_contain_text("Level 1 of 5")
    # Two words clear τ: the first one is the only one that goes.
    for box in dialog.get_by_role("checkbox").all()[1:]:
        box.focus()
        page.keyboard.press("Space")
    expect(dialog.locator(".bars")).to_contain_text("still possible")
    dialog.get_by_role("button", name="Toss the coin").click()
    expect(result).to_contain_text("All right.")
    expect(score).to_contain_text("1 of 2 questions right")
    onward.click()
    guessing(page)
    expect(score).to_contain_text("Level 2 of 5")
    page.reload()
    inspector_ready(page)
    page.get_by_role("button", name="Guess", exact=True).click()
    guessing(page)
    expect(score).to_contain_text("1 of 2 questions right")
    expect(score).to_contain_text("Level 2 of 5")


def test_a_click_on_a_bar_marks_its_word(visit: Visit, story: Server) -> None:
    page = visit(story)
    inspector_ready(page)
    page.get_by_role("button", name="Guess", exact=True).click()
    dialog = guessing(page)
    box = dialog.get_by_role("checkbox").nth(1)
    dialog.locator(".bars .row").nth(1).click()
    expect(box).to_be_checked()
    # Each box stands in the line of its bar.
    for number in range(dialog.get_by_role("checkbox").count()):
        at = dialog.get_by_role("checkbox").nth(number).bounding_box()
        row = dialog.locator(".bars .row .hit").nth(number).bounding_box()
        assert at
        assert row
        assert abs(at["y"] + at["height"] / 2 - row["y"] - row["height"] / 2) < 3
    dialog.locator(".bars .row").nth(1).click()
    expect(box).not_to_be_checked()
    dialog.get_by_role("button", name="What are τ and ρ?").click()
    words = page.get_by_role("dialog", name="What is XTC?")
    expect(words.locator("dt", has_text="τ, the floor")).to_be_focused()
    page.keyboard.press("Escape")
    expect(words).to_be_hidden()
    expect(dialog).to_be_visible()
    # The page's own bars are another picture: nothing was forced there.
    expect(page.locator(".lane")).to_have_count(2)


def test_levels_bring_protected_words_and_steps_with_nothing_to_do(
    visit: Visit, story: Server
) -> None:
    page = visit(story)
    inspector_ready(page)
    level = "(n) => localStorage.setItem('xtc_viz.lesson.guess', JSON.stringify(n))"
    said = {}
    for number in (2, 3):
        page.evaluate(level, {"level": number, "asked": 1, "right": 1})
        page.reload()
        inspector_ready(page)
        page.get_by_role("button", name="Guess", exact=True).click()
        dialog = guessing(page)
        said[number] = dialog.locator(".given").text_content()
        for box in dialog.get_by_role("checkbox").all():
            box.check()
        dialog.get_by_role("button", name="Toss the coin").click()
        expect(page.get_by_test_id("result")).to_contain_text("All right.")
    assert "Protected here" in (said[2] or "")


def test_which_lane_is_xtc_is_revealed_and_asked_again(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    inspector_ready(page)
    learn(page, "Which lane is XTC?")
    dialog = page.get_by_role("dialog", name="Which lane is XTC?")
    expect(dialog.get_by_role("button", name="A is XTC")).to_be_focused()
    assert dialog.locator(".fired, .changed").count() == 0
    assert "Baseline" not in (dialog.text_content() or "")
    dialog.get_by_role("button", name="A is XTC").click()
    expect(page.get_by_test_id("which-result")).to_contain_text(re.compile("XTC wrote [AB]: it"))
    assert dialog.locator("[data-xtc] .changed").count() > 0
    assert dialog.locator("section:not([data-xtc]) .changed").count() == 0
    expect(page.get_by_test_id("which-score")).to_have_text(re.compile("[01] of 1 question right"))
    again = dialog.get_by_role("button", name="Another pair")
    expect(again).to_be_focused()
    seed = page.input_value(".composer [data-field=seed]")
    again.click()
    # A new run with another seed, written by the page itself.
    expect(dialog.get_by_role("button", name="B is XTC")).to_be_visible(timeout=60_000)
    assert page.input_value(".composer [data-field=seed]") != seed
    assert dialog.locator(".fired, .changed").count() == 0


def test_the_tour_goes_through_a_real_step_by_keyboard(visit: Visit, story: Server) -> None:
    page = visit(story)
    inspector_ready(page)
    offer = page.get_by_test_id("offer")
    offer.get_by_role("button", name="See it in a minute").click()
    expect(offer).to_be_hidden()
    tour, bars = page.get_by_test_id("tour"), page.locator(".inspector .bars")
    expect(tour).to_contain_text("1 of 8")
    expect(tour.get_by_role("button", name="Next")).to_be_focused()
    selected = page.locator(".t.sel").get_attribute("id")
    # What comes later is not told before.
    expect(page.get_by_test_id("sentence")).to_be_hidden()
    assert bars.locator(".bar.removed, .bar.eligible, .tau").count() == 0
    for key in ("ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(tour).to_contain_text("3 of 8")
    assert bars.locator(".bar.eligible").count() >= 2
    page.keyboard.press("ArrowLeft")
    expect(tour).to_contain_text("2 of 8")
    for place in range(3, 8):
        page.keyboard.press("ArrowRight")
        expect(tour).to_contain_text(f"{place} of 8")
        assert within(page, tour)
        expect(page.locator("[data-tour]")).to_have_count(1)
    expect(page.get_by_test_id("sentence")).to_be_visible()
    assert bars.locator(".bar.removed").count() >= 1
    # The keys were the tour's: the page still looks at the same step.
    assert page.locator(".t.sel").get_attribute("id") == selected
    page.keyboard.press("ArrowRight")
    setting(page, "rho", "0.9")
    expect(page.get_by_test_id("what-if")).to_be_visible()
    expect(tour).to_contain_text("8 of 8")
    tour.get_by_role("button", name="Done").click()
    expect(tour).to_be_hidden()
    expect(page.locator("[data-tour], [data-stop]")).to_have_count(0)


def test_the_tour_is_left_and_taken_up_again(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    inspector_ready(page)
    learn(page, "See it in a minute")
    tour = page.get_by_test_id("tour")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(tour).to_contain_text("4 of 8")
    page.keyboard.press("Escape")
    expect(tour).to_be_hidden()
    expect(page.locator(".lane .tokens:focus")).to_have_count(1)
    page.reload()
    inspector_ready(page)
    learn(page, "See it in a minute")
    expect(tour).to_contain_text("4 of 8")
    # Another word is another step: the tour is over there.
    page.locator("#lane-0 .t").nth(1).click()
    expect(tour).to_be_hidden()


def test_the_offer_is_dismissed_for_good(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    offer = page.get_by_test_id("offer")
    expect(offer).to_be_visible()
    offer.get_by_role("button", name="Do not offer the tour again").click()
    expect(offer).to_be_hidden()
    page.reload()
    inspector_ready(page)
    expect(offer).to_be_hidden()


def test_a_run_without_a_firing_has_no_tour_and_says_so(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    setting(page, "rho", "0")
    run(page, "Once upon")
    learn(page, "See it in a minute")
    tour = page.get_by_test_id("tour")
    expect(tour).to_contain_text("XTC has not fired in this run")
    tour.get_by_role("button", name="Close").click()
    expect(tour).to_be_hidden()


def test_the_tour_on_a_phone_opens_what_it_speaks_of(visit: Visit, story: Server) -> None:
    page = visit(story, width=390, height=844, has_touch=True)
    inspector_ready(page)
    learn(page, "See it in a minute")
    tour = page.get_by_test_id("tour")
    for place in range(1, 8):
        expect(tour).to_contain_text(f"{place} of 8")
        expect(page.locator("[data-tour]")).to_be_visible()
        assert within(page, tour)
        tour.get_by_role("button", name="Next").click()
    expect(page.locator("[data-tour] [data-field=rho]")).to_be_visible()
    assert within(page, page.locator("[data-tour] [data-field=rho]"))
    tour.get_by_role("button", name="Back").click()
    expect(page.get_by_test_id("sentence")).to_be_visible()
    # Back again before the sheet is all the way down.
    tour.evaluate("""(card) => {
      const press = (words) =>
        [...card.querySelectorAll("button")].find((one) => one.textContent === words).click();
      press("Next");
      press("Back");
    }""")
    expect(tour).to_contain_text("7 of 8")
    expect(page.get_by_test_id("sentence")).to_be_visible()


def test_a_replay_has_all_of_it_but_what_needs_a_server(
    visit: Visit, story: Server, tmp_path: Path
) -> None:
    page = visit(story)
    inspector_ready(page)
    page.locator(".menu summary", has_text="Save").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Replay to open offline").click()
    file = tmp_path / "replay.html"
    download.value.save_as(file)
    alone = page.context.new_page()
    problems: list[str] = []
    alone.on("pageerror", lambda error: problems.append(str(error)))
    alone.goto(f"file://{file}")
    inspector_ready(alone)
    learn(alone, "Guess what survives")
    guessing(alone).get_by_role("button", name="Toss the coin").click()
    expect(alone.get_by_test_id("result")).to_contain_text("right")
    alone.keyboard.press("Escape")
    learn(alone, "Which lane is XTC?")
    alone.get_by_role("button", name="A is XTC").click()
    expect(alone.get_by_test_id("which-result")).to_contain_text("XTC wrote")
    expect(alone.get_by_role("button", name="Another pair")).to_be_hidden()
    alone.keyboard.press("Escape")
    learn(alone, "See it in a minute")
    # Without a composer there is no ρ to move.
    expect(alone.get_by_test_id("tour")).to_contain_text("1 of 7")
    alone.keyboard.press("Escape")
    learn(alone, "What is XTC?")
    expect(alone.get_by_role("dialog", name="What is XTC?")).to_be_visible()
    assert problems == []


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_axe_finds_nothing_in_the_lesson(look: Look, story: Server, dark: bool, width: int) -> None:
    page = look(story, dark, width)
    assert violations(page) == []
    learn(page, "What is XTC?")
    assert violations(page) == []
    page.keyboard.press("Escape")
    learn(page, "Guess what survives")
    dialog = guessing(page)
    dialog.get_by_role("checkbox").nth(1).check()
    assert violations(page) == []
    dialog.get_by_role("button", name="Toss the coin").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    learn(page, "Which lane is XTC?")
    assert violations(page) == []
    page.get_by_role("button", name="B is XTC").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    learn(page, "See it in a minute")
    tour = page.get_by_test_id("tour")
    for place in range(1, 9):
        expect(tour).to_contain_text(f"{place} of 8")
        if place in (1, 5, 8):
            assert violations(page) == []
        tour.locator(".primary").click()

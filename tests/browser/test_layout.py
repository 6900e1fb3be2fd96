"""Text and decision are in the window together: boxes, held to the window."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import chips, finished, inspector, plain, run, setting

WINDOWS = [(1440, 900), (1920, 1080), (1024, 768)]
LINES = 6
BARS = 10

BOXES = """() => {
  const box = node => {
    const { top, bottom, left, right, width, height } = node.getBoundingClientRect();
    return { top, bottom, left, right, width, height };
  };
  const one = selector => box(document.querySelector(selector));
  return {
    window: { width: innerWidth, height: innerHeight, scroll: document.scrollingElement.scrollTop,
              long: document.scrollingElement.scrollHeight },
    decision: one('.decision'),
    parts: {
      prompt: one('#prompt'), rho: one('[data-field=rho]'), tau: one('[data-field=tau]'),
      said: one('.inspector .said'), coin: one('.inspector .coin'),
    },
    texts: [...document.querySelectorAll('.lane .text')].map(box),
    line: parseFloat(getComputedStyle(document.querySelector('.lane .text')).lineHeight),
    bars: [...document.querySelectorAll('.bars .row')].map(box),
  };
}"""

SPLITS = """() => [...document.querySelectorAll('.split')].map(mark => {
  const words = getComputedStyle(mark, '::after');
  const left = mark.offsetLeft + parseFloat(words.left);
  return [left, left + parseFloat(words.width), mark.closest('.text').clientWidth];
})"""


def boxes(page: Page) -> dict[str, Any]:
    inspector(page)
    measured: dict[str, Any] = page.evaluate(BOXES)
    return measured


def within(box: dict[str, float], window: dict[str, float]) -> bool:
    """Whether a box is on the page and in its window, whole."""
    across = 0 <= box["left"] < box["right"] <= window["width"]
    return across and 0 <= box["top"] < box["bottom"] <= window["height"]


def hold(page: Page, lines: int = LINES, bars: int = BARS) -> None:
    """Hold everything that belongs together to the window, without scrolling; at least `bars` bars
    (min-p may leave less than ten)."""
    seen = boxes(page)
    window, decision = seen["window"], seen["decision"]
    assert window["scroll"] == 0
    assert window["long"] <= window["height"], "the page itself does not scroll"
    for name, box in seen["parts"].items():
        assert within(box, window), (name, box)
    for box in seen["texts"]:
        assert box["bottom"] <= window["height"]
        assert box["right"] <= decision["left"], "no text under the decision"
        assert box["height"] >= lines * seen["line"], (box["height"], seen["line"])
    assert len(seen["bars"]) >= bars
    for box in seen["bars"][:BARS]:
        assert box["bottom"] <= window["height"], box


@pytest.mark.parametrize(("width", "height"), WINDOWS)
def test_text_and_decision_are_in_the_window_together(
    story: Server, visit: Visit, width: int, height: int
) -> None:
    page = visit(story, width, height)
    hold(page, bars=2)  # at first sight
    plain(page)
    run(page)
    hold(page)
    fired = page.locator("#lane-1 .t.o3")
    for k in (0, fired.count() // 2, fired.count() - 1):
        fired.nth(k).click()
        hold(page)
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "End", "Home", "]"):
        page.keyboard.press(key)
        hold(page)
    page.get_by_role("button", name="Copy a link to this run").click()
    other = visit(story, width, height, link=page.evaluate("location.hash"))
    other.wait_for_selector(".xtc[data-done='1']", timeout=60_000)
    hold(other)


@pytest.mark.parametrize("count", [3, 4, 6])
def test_with_more_lanes_too(story: Server, visit: Visit, count: int) -> None:
    page = visit(story, 1920 if count > 4 else 1440, 1080 if count > 4 else 900)
    adding = page.get_by_role("combobox", name="Add a lane")
    for k in range(2, count):
        adding.select_option(index=k)
    plain(page)
    run(page, length=60)
    expect(page.locator(".lane")).to_have_count(count)
    chips(page, 1).nth(4).click()
    hold(page, lines=4)


def test_at_most_so_many_lanes_says_so(story: Server, visit: Visit) -> None:
    page = visit(story)
    adding = page.get_by_role("combobox", name="Add a lane")
    for k in range(2, 6):
        adding.select_option(index=k)
    expect(adding).to_have_count(0)
    expect(page.get_by_text("6 lanes at most")).to_be_visible()


def test_the_sentence_is_in_sight_at_every_step_of_a_small_window(
    story: Server, visit: Visit
) -> None:
    page = visit(story, 1024, 768)
    count = chips(page, 1).count()
    chips(page, 1).first.click()
    for _ in range(count - 1):
        page.keyboard.press("ArrowRight")
        hold(page, bars=2)


def test_a_window_of_middle_width_docks_the_decision_below(story: Server, visit: Visit) -> None:
    page = visit(story, 820, 1180)
    seen = boxes(page)
    assert seen["window"]["long"] <= seen["window"]["height"]
    for box in seen["texts"]:
        assert box["bottom"] <= seen["decision"]["top"]
        assert box["height"] >= LINES * seen["line"]
    for box in (seen["parts"]["said"], seen["parts"]["coin"], *seen["bars"][:BARS]):
        assert box["bottom"] <= seen["window"]["height"]


def test_a_tap_opens_a_sheet_below_the_word(story: Server, visit: Visit) -> None:
    page = visit(story, 390, 844, has_touch=True)
    sheet = page.locator(".decision")
    expect(sheet).to_be_hidden()
    word = chips(page, 1).nth(20)
    for close in ("Escape", "button", "swipe"):
        word.tap()
        expect(sheet).to_be_in_viewport()
        page.wait_for_timeout(250)  # it glides in
        top = sheet.bounding_box()["y"]  # type: ignore[index]
        box = word.bounding_box()
        assert box
        assert 0 <= box["y"] <= top - box["height"]
        expect(sheet.locator(".said")).to_be_in_viewport()
        expect(sheet.locator(".bars .row").first).to_be_in_viewport()
        if close == "Escape":
            page.keyboard.press("Escape")
        elif close == "button":
            sheet.get_by_role("button", name="Close").tap()
        else:
            page.mouse.move(120, top + 12)
            page.mouse.down()
            page.mouse.move(120, top + 60, steps=3)
            page.mouse.move(120, top + 160, steps=3)
            page.mouse.up()
        expect(sheet).to_be_hidden()


def test_a_link_to_a_step_opens_the_sheet_on_it(story: Server, visit: Visit) -> None:
    page = visit(story)
    run(page, "Once upon a time", length=80)
    chips(page, 1).nth(60).click()
    page.get_by_role("button", name="Copy a link to this run").click()
    page.wait_for_function("location.hash.startsWith('#run=')")
    phone = visit(story, 390, 844, link=page.evaluate("location.hash"), has_touch=True)
    sheet = phone.locator(".decision")
    expect(sheet).to_be_in_viewport(timeout=30_000)
    finished(phone)
    expect(sheet.locator("h2")).to_contain_text("XTC · token 61 ")
    expect(sheet.locator(".said")).to_be_in_viewport()
    phone.wait_for_timeout(400)  # it glides in
    word = chips(phone, 1).nth(60).bounding_box()
    top = sheet.bounding_box()["y"]  # type: ignore[index]
    assert word
    assert 0 <= word["x"] <= 390
    assert 0 <= word["y"] <= top - word["height"]


def test_on_a_tablet_the_prompt_has_a_line_of_its_own(story: Server, visit: Visit) -> None:
    page = visit(story, 768, 1024)
    width = page.locator("#prompt").evaluate("box => box.clientWidth")
    assert width > 0.9 * page.locator(".ask").evaluate("box => box.clientWidth")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_the_what_if_cuts_no_line_in_half(
    story: Server, visit: Visit, width: int, height: int
) -> None:
    page = visit(story, width, height)
    setting(page, "tau", "0.001")
    expect(page.get_by_test_id("what-if")).to_contain_text("Exact, though")
    seen, line, long = page.locator(".what-if > div").first.evaluate(
        "box => [box.clientHeight, parseFloat(getComputedStyle(box).lineHeight), box.scrollHeight]"
    )
    assert seen % line == 0
    assert width < 1440 or long <= seen


@pytest.mark.parametrize("width", [1440, 1024, 700, 390])
def test_the_words_where_the_texts_part_keep_within_the_lane(
    story: Server, visit: Visit, width: int
) -> None:
    page = visit(story, width, 900)
    page.wait_for_selector(".split")
    for narrower in (0, 60):
        page.set_viewport_size({"width": width - narrower, "height": 900})
        page.wait_for_timeout(200)
        for left, right, room in page.evaluate(SPLITS):
            assert 0 <= left < right <= room


def test_stage_by_stage_all_columns_are_in_sight(story: Server, visit: Visit) -> None:
    page = visit(story, 1440, 900)
    page.locator(".stage-by-stage summary").click()
    box = page.locator(".stage-by-stage .scroll")
    expect(box.locator(".head")).to_have_count(3)
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_the_classroom(story: Server, visit: Visit) -> None:
    page = visit(story, 1280, 720)
    page.get_by_role("button", name="Classroom").click()
    expect(page.locator(".composer")).to_be_hidden()
    seen = boxes(page)
    large = "node => parseFloat(getComputedStyle(node).fontSize)"
    assert page.locator(".lane .text").first.evaluate(large) >= 24
    assert seen["bars"][0]["height"] >= 24
    for box in (*seen["parts"].values(), *seen["bars"][:BARS]):
        assert box["bottom"] <= seen["window"]["height"]
    before = page.locator(".inspector .where").text_content()
    page.keyboard.press("ArrowRight")  # one step a key
    expect(page.locator(".inspector .where")).not_to_have_text(before or "")
    page.get_by_role("button", name="Copy a link to this run").click()
    other = visit(story, 1280, 720, link=page.evaluate("location.hash"))
    expect(other.locator(".composer")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".composer")).to_be_visible()

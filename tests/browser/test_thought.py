"""Models that think before they answer: the thought is folded, and nothing is counted in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Server, Visit, serve
from tests.browser.driver import (
    chips,
    counts,
    finished,
    generate,
    inspector,
    keep_file,
    run,
    tokens,
)
from tests.browser.test_accessibility import violations
from tests.ui.factories import thinker

Keep = Callable[..., None]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield from serve(thinker(40))


@pytest.fixture
def thinking(server: Server) -> Iterator[Server]:
    server.model.delay = 0.0
    yield server
    server.model.delay = 0.0


def fold(page: Page, lane: int = 1) -> Locator:
    return page.locator(f".lane[data-lane='{lane}'] .think")


def chat(page: Page) -> None:
    page.locator(".extras summary").click()
    page.get_by_label("Chat template").check()


@pytest.mark.parametrize(("dark", "width"), [(False, 1440), (True, 390)])
def test_it_is_in_sight_while_it_is_written_and_folded_then(
    visit: Visit, thinking: Server, keep: Keep, dark: bool, width: int
) -> None:
    page = visit(thinking, width=width, reduced_motion="reduce")
    page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
    thinking.model.delay = 0.05
    generate(page, "Once", length=100)
    expect(fold(page)).to_have_text(re.compile(r"Thinking … \d+ tokens"))
    expect(fold(page)).to_have_attribute("aria-expanded", "true")
    page.wait_for_function("document.querySelectorAll('#lane-1 .t').length > 20")
    expect(page.get_by_test_id("numbers-1")).to_contain_text("no answer yet")
    assert violations(page) == []
    keep(page, f"thinking-{width}")
    finished(page)
    assert counts(page) == [100, 100]
    expect(fold(page)).to_have_text(re.compile(r"Thought for 5\d tokens · fired \d+ · changed \d+"))
    expect(fold(page)).to_have_attribute("aria-expanded", "false")
    expect(chips(page, 1).first).to_be_hidden()
    expect(chips(page, 1).last).to_be_visible()
    assert violations(page) == []
    keep(page, f"folded-{width}")


def test_the_numbers_are_those_of_the_answer(visit: Visit, thinking: Server) -> None:
    page = visit(thinking)
    run(page, "Once", length=110)
    written = tokens(page, 1)
    label = fold(page).inner_text()
    thought = int(re.findall(r"\d+", label)[0])
    assert "".join(token["text"] for token in written[:thought]).rstrip().endswith("</think>")
    inside = sum(token["fired"] for token in written[:thought])
    answer = sum(token["fired"] for token in written[thought:])
    assert f"fired {inside} " in label
    expect(page.get_by_test_id("numbers-1")).to_contain_text(f"in the answer: fired {answer} ")
    expect(page.locator(".lane .more").nth(1)).to_contain_text("Answer only:")
    # The step that is looked at first is one of the answer.
    assert int(page.locator("#lane-1 .t.sel").get_attribute("data-i") or 0) >= thought
    page.fill(".composer [data-field=rho]", "1")
    expect(page.get_by_test_id("what-if")).to_contain_text(f"in its answer (it fired {answer})")


def test_a_step_within_it_unfolds_it_and_a_press_folds_it(visit: Visit, thinking: Server) -> None:
    page = visit(thinking)
    run(page, "Once", length=80)
    button = fold(page)
    page.locator("#lane-1").focus()
    page.keyboard.press("Home")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(chips(page, 1).first).to_be_visible()
    expect(page.locator(".inspector h2")).to_contain_text("token 1 ")
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "false")
    button.press("Space")
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    # From the timeline: the other lane is still folded.
    expect(fold(page, 0)).to_have_attribute("aria-expanded", "false")
    box = page.locator(".timeline").bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    expect(fold(page, 0)).to_have_attribute("aria-expanded", "false")
    page.mouse.down()
    page.mouse.up()
    expect(fold(page, 0)).to_have_attribute("aria-expanded", "true")


def test_step_by_step_through_it(visit: Visit, thinking: Server) -> None:
    page = visit(thinking)
    run(page, "Once", length=70)
    page.locator("#lane-1").focus()
    page.keyboard.press("Home")
    page.keyboard.press("s")
    page.keyboard.press("s")
    assert counts(page) == [1, 1]
    expect(fold(page)).to_have_text(re.compile(r"Thought: 1 of \d+ tokens"))
    page.keyboard.press("s")
    page.keyboard.press("s")
    expect(chips(page, 1).nth(1)).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    assert counts(page) == [70, 70]


def test_a_thought_without_an_end_stays_in_sight(visit: Visit, thinking: Server) -> None:
    page = visit(thinking)
    run(page, "Once", length=20)
    expect(fold(page)).to_have_text(re.compile("Thought for 20 tokens, and came to no answer"))
    expect(fold(page)).to_have_attribute("aria-expanded", "true")
    expect(chips(page, 1).first).to_be_visible()
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_selector(".xtc[data-done='2']")
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_selector(".xtc[data-done='3']")
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_selector(".xtc[data-done='4']")
    # The answer has begun, but what is looked at is in the thought still.
    expect(fold(page)).to_have_attribute("aria-expanded", "true")
    chips(page, 1).last.click()
    fold(page).click()
    expect(fold(page)).to_have_attribute("aria-expanded", "false")
    expect(chips(page, 1).first).to_be_hidden()


def test_a_chat_with_thoughts_and_without(visit: Visit, thinking: Server) -> None:
    page = visit(thinking)
    page.locator(".extras summary").click()
    switch = page.get_by_label("Let it think first")
    expect(switch).to_be_hidden()
    page.get_by_label("Chat template").check()
    expect(switch).to_be_checked()
    run(page, "Once", length=80)
    expect(fold(page)).to_be_visible()
    page.locator(".extras summary").click()
    switch.uncheck()
    run(page, "Once", length=30)
    expect(page.locator(".think")).to_have_count(0)
    expect(page.get_by_test_id("numbers-1")).not_to_contain_text("answer")
    expect(chips(page, 1).first).to_be_visible()


def test_a_template_that_opens_the_thought(visit: Visit) -> None:
    for server in serve(thinker(30, opened=True)):
        page = visit(server)
        chat(page)
        run(page, "Once", length=70)
        expect(fold(page)).to_have_text(re.compile("Thought for 3[89] tokens|Thought for 4"))
        inspector(page)
        assert violations(page) == []


def test_a_replay_of_it_folds_too(
    visit: Visit, thinking: Server, browser: Browser, tmp_path: Path
) -> None:
    page = visit(thinking)
    run(page, "Once", length=80)
    path = keep_file(page, "Replay to open offline", tmp_path)
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 900})
    alone = context.new_page()
    problems: list[str] = []
    alone.on("pageerror", lambda error: problems.append(str(error)))
    alone.goto(f"file://{path}")
    assert fold(alone).inner_text() == fold(page).inner_text()
    expect(chips(alone, 1).first).to_be_hidden()
    fold(alone).click()
    expect(chips(alone, 1).first).to_be_visible()
    assert problems == []
    context.close()

"""The story of the foundation, in a real browser on the embedded model."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import (
    chips,
    counts,
    finished,
    generate,
    inspector,
    run,
    setting,
    tokens,
    writing,
)

Keep = Callable[..., None]


@pytest.mark.story_model
def test_two_live_streams_and_the_decision_behind_a_token(
    visit: Visit, story: Server, keep: Keep
) -> None:
    page = visit(story)
    generate(page, "Once upon a time", length=200)
    writing(page)
    seen = []
    while page.locator(".composer[data-phase=writing]").count():
        seen.append(counts(page))
        if len(seen) == 3:
            keep(page, "streaming")
    finished(page)
    # Both columns grew while the run went on, side by side.
    assert seen[0][0] < seen[-1][0]
    assert all(after[1] >= before[1] for before, after in pairwise(seen))
    assert all(abs(baseline - xtc) <= 1 for baseline, xtc in seen[:3])

    baseline, xtc = tokens(page, 0), tokens(page, 1)
    part = next(i for i, (a, b) in enumerate(zip(baseline, xtc, strict=False)) if a != b)
    differs = next(
        i for i, (a, b) in enumerate(zip(baseline, xtc, strict=False)) if a["text"] != b["text"]
    )
    assert part <= differs
    assert xtc[differs]["fired"], "the columns part where XTC fired"
    assert xtc[differs]["changed"]
    assert not any(token["fired"] for token in baseline)
    expect(page.locator(".lane").nth(1).locator(".split")).to_have_count(1)
    expect(page.get_by_test_id("numbers-1")).to_contain_text("tokens/s")
    fired = sum(token["fired"] for token in xtc)
    expect(page.get_by_test_id("numbers-1")).to_contain_text(f"fired {fired}")

    chips(page, 1).nth(differs).click()
    shown = inspector(page)
    expect(page.get_by_test_id("sentence")).to_contain_text("XTC fires, removes")
    expect(shown.locator(".verdict")).to_have_text("XTC fired and changed the word")
    assert shown.locator(".bars .row.removed").count() >= 1
    assert shown.locator(".bars .row.kept").count() == 1
    assert shown.locator(".bars .row.rest").count() == 1
    expect(shown.locator(".bars .tau")).to_be_attached()
    expect(shown.locator(".bars .tau-text")).to_contain_text("τ 0.10")
    expect(shown.locator(".bars .row.drawn .sign")).to_have_text("▲")
    expect(shown.locator(".coin .drop.under")).to_be_visible()
    expect(shown.locator(".coin")).to_contain_text("ρ 0.50")
    keep(page, "inspector")
    page.emulate_media(color_scheme="dark")
    page.evaluate("document.body.classList.add('dark')")
    keep(page, "dark")

    # A step that XTC left alone shows its eligible tokens instead.
    quiet = next(i for i, token in enumerate(baseline) if i > 2 and not token["fired"])
    chips(page, 0).nth(quiet).click()
    expect(shown.locator(".bars .row.removed")).to_have_count(0)


def texts(page: Page, lane: int) -> str:
    return "".join(token["text"] for token in tokens(page, lane))


@pytest.mark.story_model
def test_the_same_seed_writes_the_same_and_rho_zero_writes_the_baseline(
    visit: Visit, story: Server
) -> None:
    page = visit(story)
    run(page, "Once upon a time", length=40)
    first = (texts(page, 0), texts(page, 1))
    run(page)
    assert (texts(page, 0), texts(page, 1)) == first
    page.fill(".composer [data-field=rho]", "0")
    run(page)
    assert texts(page, 0) == texts(page, 1) == first[0]


def test_stop_answers_within_one_step(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    fake.model.delay = 0.4
    generate(page, "Once upon", length=200)
    writing(page, 3)
    before = chips(page, 0).count()
    page.get_by_role("button", name="Stop").click()
    finished(page, timeout=2_000)
    assert chips(page, 0).count() <= before + 2
    expect(page.get_by_test_id("status")).to_have_text("Stopped.")
    assert fake.model.open_generations == 0
    # What was written stays, and can be looked at.
    chips(page, 1).nth(1).click()
    inspector(page)


def test_a_second_run_waits_says_so_and_starts_by_itself(
    visit: Visit, fake: Server, keep: Keep
) -> None:
    fake.model.delay = 0.1
    first, second = visit(fake), visit(fake)
    generate(first, "Once", length=300)
    writing(first)
    generate(second, "Once", length=5)
    status = second.get_by_test_id("status")
    expect(status).to_contain_text("Waiting: one run is ahead of yours")
    keep(second, "waiting")
    expect(second.get_by_test_id("origin")).to_contain_text("A recorded run")
    first.keyboard.press("Escape")
    finished(second)
    assert chips(second, 0).count() == 5


def test_a_waiting_run_can_be_stopped(visit: Visit, fake: Server) -> None:
    fake.model.delay = 0.1
    first, second = visit(fake), visit(fake)
    generate(first, "Once", length=300)
    writing(first)
    generate(second, "Once", length=5)
    expect(second.get_by_test_id("status")).to_contain_text("Waiting")
    second.get_by_role("button", name="Stop").click()
    finished(second, timeout=3_000)
    first.get_by_role("button", name="Stop").click()
    finished(first, timeout=3_000)


def test_closing_the_tab_ends_the_run(visit: Visit, fake: Server) -> None:
    fake.model.delay = 0.05
    leaving, staying = visit(fake), visit(fake)
    generate(leaving, "Once", length=1000)
    writing(leaving)
    generate(staying, "Once", length=4)
    expect(staying.get_by_test_id("status")).to_contain_text("Waiting")
    leaving.close()
    finished(staying, timeout=10_000)
    assert chips(staying, 0).count() == 4
    assert fake.model.open_generations == 0


HOSTILE = "<img src=x onerror=alert(1)>${20+22}{{value}}</script><script>alert(2)</script>"


def test_token_text_is_only_ever_text(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    before = page.locator("img, script").count()
    run(page, HOSTILE, length=400)
    expect(page.locator(".lane .prompt").first).to_have_text(HOSTILE)
    written = texts(page, 0) + texts(page, 1)
    for text in (" <img src=x onerror=alert(1)>", "${20+22}", "{{text}}", "</script><b>"):
        assert text in written
        hit = next(i for i, token in enumerate(tokens(page, 1)) if token["text"] == text)
        chips(page, 1).nth(hit).click()
        inspector(page)
    expect(page.locator(".inspector h2")).to_contain_text("</script><b>")
    assert page.locator("img, script").count() == before
    keep(page, "hostile")


def test_an_error_names_the_field_and_loses_nothing(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    run(page, "Once upon", length=12)
    written = texts(page, 1)
    page.fill(".composer [data-field=tau]", "3")
    generate(page, "Something else")
    wrong = page.get_by_text("τ floor must be in (0, 1), but is 3")
    expect(wrong).to_be_visible()
    keep(page, "error")
    expect(page.locator("#prompt")).to_have_value("Something else")
    expect(page.locator(".composer [data-field=tau]")).to_have_value("3")
    assert texts(page, 1) == written
    page.fill(".composer [data-field=tau]", "0.2")
    expect(wrong).to_have_count(0)
    page.fill("#prompt", "")
    generate(page)
    expect(page.get_by_test_id("error")).to_have_text("Type a beginning first.")


def test_a_prompt_longer_than_the_context_is_refused_with_the_numbers(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    generate(page, "Once upon a time " * 2000)
    expect(page.get_by_test_id("error")).to_contain_text("4096")


def test_the_keyboard_alone_suffices(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    setting(page, "max_new_tokens", 30)
    page.focus("#prompt")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".xtc[data-done='1']")
    chips(page, 1).first.click()
    page.focus("#lane-1")
    title = page.locator(".inspector h2")
    expect(title).to_contain_text("XTC · token 1 ")
    page.keyboard.press("ArrowRight")
    expect(title).to_contain_text("XTC · token 2 ")
    page.keyboard.press("ArrowUp")
    expect(title).to_contain_text("Baseline · token 2 ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    expect(title).to_contain_text("token 30 ")
    page.keyboard.press("Home")
    page.keyboard.press("]")
    expect(page.locator(".verdict")).to_contain_text("XTC fired")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Help")).to_be_hidden()


def test_a_phone_swipes_between_the_lanes(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake, width=390, height=844, has_touch=True, is_mobile=True)
    # The settings are folded away, so that the text is in sight at once.
    fold = page.get_by_role("button", name="Settings")
    expect(fold).to_contain_text("2 lanes · ρ 0.50 · τ 0.10")
    expect(page.locator(".composer .panel")).to_be_hidden()
    expect(chips(page, 1).first).to_be_in_viewport()
    run(page, "Once", length=40)
    expect(page.locator(".composer .panel")).to_be_visible()
    lanes = page.locator(".lanes")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tabs = page.locator(".lane-tabs button")
    tabs.nth(0).click()
    expect(tabs.nth(0)).to_have_attribute("aria-pressed", "true")
    tabs.nth(1).click()
    expect(tabs.nth(1)).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("box => box.scrollLeft > 200", arg=lanes.element_handle())
    chips(page, 1).nth(3).tap()
    inspector(page).scroll_into_view_if_needed()
    keep(page, "phone")

"""Another word at a step: by a click, by the keyboard, or typed; and back again."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import chips, inspector, plain, run, tokens

# Every frame from now on: what the inspector shows, and where it stands.
WATCH = """() => {
  const seen = (window.seen = []);
  const box = document.querySelector('.inspector');
  const look = () => {
    const content = box.querySelector('.content');
    seen.push({hidden: content.hidden, said: box.querySelector('.said').textContent.length,
      bars: box.querySelectorAll('.bars .row').length,
      top: Math.round(box.getBoundingClientRect().top), scroll: scrollY});
    requestAnimationFrame(look);
  };
  look();
}"""


def open_step(page: Page, length: int = 40, at: int = 5) -> None:
    plain(page)
    run(page, "Once upon", length=length)
    chips(page, 1).nth(at).click()
    inspector(page)


def branched(page: Page, number: int = 2) -> None:
    page.wait_for_selector(f".xtc[data-done='{number}']")
    inspector(page)


def test_a_click_on_a_word_begins_the_branch_and_undo_is_at_hand(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    open_step(page)
    before = tokens(page, 1)
    row = page.locator(".inspector .row[role=button]").nth(1)
    name = row.get_attribute("aria-label") or ""
    word = page.locator(".inspector .words").nth(
        page.locator(".inspector .row").evaluate_all(
            "(rows, name) => rows.findIndex((r) => r.ariaLabel === name)", name
        )
    )
    label = word.locator(".label").text_content() or ""
    assert name in (f"Continue with {label} instead", f"Restore {label} and continue with it")
    row.click()
    branched(page)
    expect(page.locator(".lane")).to_have_count(3)
    expect(page.locator(".inspector h2")).to_have_text(re.compile("^XTC ↳1 · token 6 "))
    expect(page.locator(".inspector h2 .tk")).to_have_text(label)
    expect(page.locator(".verdict")).to_have_text("You chose this token")
    fork = page.get_by_test_id("fork")
    expect(fork).to_contain_text("A branch begins with your word.")
    fork.get_by_role("button", name="Undo the branch").click()
    expect(page.locator(".lane")).to_have_count(2)
    expect(page.locator(".inspector h2")).to_have_text(re.compile("^XTC · token 6 "))
    expect(fork.get_by_role("button", name="Undo the branch")).to_be_hidden()
    assert tokens(page, 1) == before


def test_the_words_are_one_stop_of_the_keyboard(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    open_step(page)
    rows = page.locator(".inspector .row[role=button]")
    assert rows.count() == 9, "ten words, one of which the text has"
    expect(page.locator(".inspector .row[tabindex='0']")).to_have_count(1)
    expect(page.locator(".inspector .row.rest")).not_to_have_attribute("role", "button")
    expect(page.locator(".inspector .row.drawn")).not_to_have_attribute("role", "button")
    page.locator(".inspector .row[tabindex='0']").focus()
    said = page.locator(".fork .hint")
    for key, at in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("End", -1), ("Home", 0)):
        page.keyboard.press(key)
        expect(rows.nth(at)).to_be_focused()
        expect(said).to_have_text(rows.nth(at).get_attribute("aria-label") or "?")
    expect(page.locator(".inspector h2")).to_contain_text("XTC · token 6 ")
    # The other keys of the page go on: the next step, with the same row in hand.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".inspector h2")).to_contain_text("XTC · token 7 ")
    inspector(page)
    page.keyboard.press("ArrowLeft")
    inspector(page)
    for number, key in enumerate(("Enter", " "), 2):
        page.locator(".inspector .row[tabindex='0']").focus()
        page.keyboard.press(key)
        branched(page, number)
        expect(page.locator(".lane")).to_have_count(number + 1)
        expect(page.locator(".verdict")).to_have_text("You chose this token")


def test_a_typed_word_is_shown_as_its_tokens_and_forced(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    open_step(page)
    word = page.get_by_label("Your own word to continue with")
    shown = page.get_by_test_id("becomes").locator(".tk")
    word.fill("dragons")
    # The fake model's own words begin with a space.
    expect(shown).to_have_text(["·dragon", "s"])
    page.get_by_role("button", name="without the space").click()
    expect(shown).to_have_text(list("dragons"))
    page.get_by_role("button", name="with a space").click()
    expect(shown).to_have_text(["·dragon", "s"])
    word.press("Enter")
    branched(page)
    expect(page.locator(".inspector h2 .tk")).to_have_text("·dragon")
    expect(page.locator("#lane-2 .t.forced")).to_have_text([" dragon", "s"])
    expect(word).to_have_value("")
    expect(shown).to_have_count(0)
    assert tokens(page, 2)[:5] == tokens(page, 1)[:5]


def test_what_cannot_be_forced_is_said_and_stays(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    open_step(page)
    word = page.get_by_label("Your own word to continue with")
    word.fill("z" * 600)
    wrong = page.locator(".fork .wrong")
    expect(wrong).to_have_text(re.compile("must be 1 to 512 tokens, but is 601 tokens"))
    expect(word).to_have_attribute("aria-invalid", "true")
    word.press("Enter")
    expect(page.locator(".composer")).to_have_attribute("data-phase", "idle")
    expect(word).to_have_value("z" * 600)
    word.fill("")
    expect(wrong).to_have_count(0)


def test_the_inspector_stays_while_a_branch_is_written(visit: Visit, fake: Server) -> None:
    page = visit(fake, 1024, 768)
    open_step(page, length=200, at=20)
    fake.model.delay = 0.03
    page.evaluate(WATCH)
    page.locator(".inspector .row[role=button]").nth(1).click()
    page.wait_for_selector(".composer[data-phase=writing]")
    # It shows the branch's step long before the end.
    expect(page.locator(".inspector h2")).to_have_text(re.compile("^XTC ↳1 · token 21 "))
    inspector(page)
    expect(page.locator(".composer")).to_have_attribute("data-phase", "writing")
    branched(page)
    seen = page.evaluate("window.seen")
    assert len(seen) > 20
    assert not any(frame["hidden"] for frame in seen)
    assert all(frame["said"] and frame["bars"] >= 10 for frame in seen)
    assert len({frame["scroll"] for frame in seen}) == 1
    # The text went on below; the word that it branched with stays in view.
    word = page.locator("#lane-2 .t.sel").bounding_box()
    lane = page.locator(".lane").nth(2).locator(".text").bounding_box()
    assert word
    assert lane
    assert lane["y"] <= word["y"] < lane["y"] + lane["height"] - word["height"]


def test_who_cannot_go_on_is_told_why_and_offered_nothing(visit: Visit, fake: Server) -> None:
    """The recorded run is the story model's, and this server has another one."""
    page = visit(fake)
    inspector(page)
    said = page.locator(".fork .hint")
    expect(said).to_have_text("Only story-model, which wrote this, can continue it.")
    expect(page.get_by_test_id("own-word")).to_be_hidden()
    expect(page.locator(".inspector .bars [role=button]")).to_have_count(0)
    expect(page.locator(".inspector .bars [tabindex]")).to_have_count(0)
    expect(page.locator(".inspector .bars")).to_have_attribute("role", "img")
    page.get_by_text("The same as a table").click()
    expect(page.locator(".as-table button")).to_have_count(0)
    run(page, "Once", length=10)
    inspector(page)
    expect(said).to_have_text("Click a word to continue the text with it.")
    expect(page.locator(".inspector .bars")).to_have_attribute("role", "group")

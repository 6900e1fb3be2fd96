"""What a writer does with one lane: go on with it alone, edit it, keep it, take its text away."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import chips, counts, generate, inspector, run, tokens, writing
from tests.browser.test_accessibility import violations

COPIED = """() => { window.copied = []; navigator.clipboard.writeText =
  async (text) => { window.copied.push(text); }; }"""


def menu(page: Page, lane: int) -> Locator:
    """Open the menu of a lane."""
    found = page.locator(".lane .menu").nth(lane)
    found.locator("summary").click()
    return found


def choose(page: Page, lane: int, words: str) -> None:
    menu(page, lane).get_by_role("button", name=words, exact=True).click()


def text(page: Page, lane: int) -> str:
    return "".join(token["text"] for token in tokens(page, lane))


def done(page: Page, number: int) -> None:
    page.wait_for_selector(f".xtc[data-done='{number}']")


def test_one_lane_goes_on_and_undo_takes_it_back(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=10)
    before = [text(page, lane) for lane in (0, 1)]
    choose(page, 1, "Continue this lane")
    done(page, 2)
    assert counts(page) == [10, 20]
    assert text(page, 0) == before[0]
    assert text(page, 1).startswith(before[1])
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(chips(page, 1)).to_have_count(10)


def test_an_edited_text_is_gone_on_from_in_its_place(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=20)
    before = [text(page, lane) for lane in (0, 1)]
    choose(page, 1, "Edit the text …")
    area = page.get_by_role("textbox", name="The text of XTC")
    expect(area).to_be_focused()
    expect(area).to_have_value(before[1])
    assert violations(page) == []
    go = page.get_by_role("button", name="Go on from here")
    area.fill(before[1][:12])
    expect(go).to_be_disabled()  # the same dice would write the same words
    edited = before[1][:12] + " dragon, and"
    area.fill(edited + " ")
    # What was typed outlives the editor.
    page.keyboard.press("Escape")
    expect(area).not_to_be_visible()
    choose(page, 1, "Edit the text …")
    expect(area).to_have_value(edited + " ")
    page.keyboard.press("Control+Enter")
    done(page, 2)
    expect(area).not_to_be_visible()
    assert text(page, 0) == before[0]
    grown = text(page, 1)
    assert grown.startswith(edited)
    assert len(grown) > len(edited)
    assert "".join(page.locator("#lane-1 .t.forced").all_text_contents()).endswith("dragon, and")
    forced = page.locator("#lane-1 .t.forced")
    assert forced.count() > 0
    forced.last.click()
    expect(inspector(page)).to_contain_text("chosen")
    expect(page.locator(".lane")).to_have_count(2)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator("#lane-1 .t.forced")).to_have_count(0)
    assert [text(page, lane) for lane in (0, 1)] == before
    # Both are on the shelf.
    page.get_by_role("button", name="Shelf: the runs of before").click()
    expect(page.get_by_role("dialog", name="Shelf").locator("li")).to_have_count(2)


def test_a_lane_is_kept_as_the_prompt_and_what_was_typed_comes_back(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    run(page, "Once upon", length=12)
    whole = "Once upon" + text(page, 1)
    page.fill("#prompt", "Something else")
    choose(page, 1, "Keep as prompt")
    prompt = page.locator("#prompt")
    expect(prompt).to_have_value(whole)
    expect(prompt).to_be_focused()
    page.keyboard.press("Control+z")
    expect(prompt).to_have_value("Something else")
    page.keyboard.press("Control+Shift+z")
    run(page)
    assert page.locator("#lane-1 .prompt").text_content() == whole


def test_a_text_is_copied_and_saved(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.evaluate(COPIED)
    run(page, "Once upon", length=12)
    whole = "Once upon" + text(page, 1)
    choose(page, 1, "Copy text")
    expect(page.locator(".lane .menu summary").nth(1)).to_have_text("copied")
    choose(page, 1, "Copy as Markdown")
    plain, marked = page.evaluate("window.copied")
    assert plain == whole
    assert marked.startswith("## XTC\n\nOnce upon")
    for words, ending, expected in (
        ("Save as text", "txt", plain),
        ("Save as Markdown", "md", marked),
    ):
        with page.expect_download() as download:
            choose(page, 1, words)
        assert download.value.suggested_filename == f"once-upon-xtc.{ending}"
        assert Path(download.value.path()).read_text(encoding="utf-8") == expected


def test_while_a_run_is_written_no_lane_can_be(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    fake.model.delay = 0.05
    generate(page, "Once upon", length=200)
    writing(page, 3)
    opened = menu(page, 1)
    for words in ("Continue this lane", "Edit the text …"):
        expect(opened.get_by_role("button", name=words)).to_be_disabled()
    expect(opened.get_by_role("button", name="Copy text")).to_be_enabled()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(opened.get_by_role("button", name="Copy text")).not_to_be_visible()
    page.get_by_role("button", name="Stop").click()

"""The run on show and what the composer asks for next: they may differ, and nothing is lost."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import chips, counts, generate, inspector, run, setting, tokens, writing


def text(page: Page, lane: int) -> str:
    return "".join(token["text"] for token in tokens(page, lane))


def copy_link(page: Page) -> str:
    page.get_by_role("button", name="Copy a link to this run").click()
    page.wait_for_function("location.hash.startsWith('#run=')")
    return str(page.evaluate("location.hash"))


def test_a_link_holds_the_run_on_show_and_not_the_draft(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    setting(page, "seed", 11)
    page.locator(".extras summary").click()
    page.get_by_label("Stop at").fill("unheard of")
    page.get_by_label("Protect line breaks").select_option("none")
    run(page, "Once upon", length=25)
    chips(page, 1).nth(7).click()
    page.fill("#prompt", "Something else")
    setting(page, "seed", 12)
    setting(page, "rho", 0.9)
    page.select_option("select.chip", label="Min-p + XTC")
    other = visit(fake, link=copy_link(page))
    other.wait_for_selector(".xtc[data-done='1']")
    assert [text(other, lane) for lane in (0, 1)] == [text(page, lane) for lane in (0, 1)]
    expect(other.locator("#prompt")).to_have_value("Once upon")
    expect(other.locator("[data-field=seed]")).to_have_value("11")
    expect(other.locator(".inspector h2")).to_contain_text("XTC · token 8 ")
    other.locator(".extras summary").click()
    expect(other.get_by_label("Stop at")).to_have_value("unheard of")
    expect(other.get_by_label("Protect line breaks")).to_have_value("none")
    # What was typed for the next run is still there.
    expect(page.locator("#prompt")).to_have_value("Something else")


def test_a_link_leaves_a_branch_out_and_says_so(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once", length=20)
    chips(page, 1).nth(5).click()
    inspector(page)
    page.locator(".bars .row[role=button]").first.click()
    page.wait_for_selector(".xtc[data-done='2']")
    expect(page.locator(".lane")).to_have_count(3)
    link = copy_link(page)
    expect(page.get_by_role("button", name="Copy a link")).to_contain_text("without the branch")
    other = visit(fake, link=link)
    other.wait_for_selector(".xtc[data-done='1']")
    expect(other.locator(".lane")).to_have_count(2)
    expect(other.locator(".inspector h2")).to_contain_text("XTC · token 6 ")


def test_undo_brings_the_settings_back_unless_others_wait(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    seed, note = page.locator("[data-field=seed]"), page.get_by_test_id("note")
    setting(page, "seed", 7)
    run(page, "Once", length=10)
    before = text(page, 1)
    page.get_by_role("button", name="Again with a new seed").click()
    page.wait_for_selector(".xtc[data-done='2']")
    expect(seed).not_to_have_value("7")
    expect(note).to_have_text("")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(seed).to_have_value("7")
    assert text(page, 1) == before
    expect(note).to_have_text("")
    # Settings that were not run yet are not lost.
    setting(page, "seed", 8)
    run(page, "Twice")
    setting(page, "seed", 9)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(note).to_have_text("Shown: seed 7. Settings changed: press Generate.")
    assert text(page, 1) == before
    expect(seed).to_have_value("9")
    expect(page.locator("#prompt")).to_have_value("Twice")


def test_what_awaits_generate_is_marked(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    note = page.get_by_test_id("note")
    run(page, "Once", length=10)
    expect(note).to_have_text("")
    setting(page, "rho", 0.7)  # a what-if shows it
    expect(page.get_by_test_id("what-if")).to_be_visible()
    expect(note).to_have_text("")
    page.get_by_role("button", name="Put back").click()
    page.fill("#prompt", "Once upon")
    expect(note).to_have_text("Prompt changed: press Generate.")
    page.fill("#prompt", "Once")
    expect(note).to_have_text("")
    page.select_option("select.chip", label="Min-p + XTC")
    expect(note).to_have_text("Settings changed: press Generate.")
    run(page)
    expect(note).to_have_text("")
    # More tokens than were asked for are no change of the settings.
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_selector(".xtc[data-done='3']")
    assert counts(page) == [20, 20, 20]
    expect(note).to_have_text("")


def test_a_run_moves_nothing_and_continue_keeps_the_place(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once", length=60)
    inspector(page)
    fake.model.delay = 0.05
    tops = """() => ['.lanes', '.inspector'].map(
        (name) => document.querySelector(name).getBoundingClientRect().top + scrollY)"""
    before, height = page.evaluate(tops), page.evaluate("document.body.scrollHeight")
    generate(page)
    writing(page, 2)
    assert page.evaluate(tops) == before
    assert page.evaluate("document.body.scrollHeight") == height
    page.wait_for_selector(".xtc[data-done='2']")
    chips(page, 0).nth(11).click()
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_selector(".xtc[data-done='3']")
    expect(page.locator(".inspector h2")).to_contain_text("Baseline · token 12 ")

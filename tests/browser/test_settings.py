"""The settings in front: what they say of a wrong value, and whose they are."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import counts, generate, plain, run, setting


def test_what_is_no_number_is_named_at_once_and_stays(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    field, chip = (
        page.locator(".composer [data-field=tau]"),
        page.locator(".lane-chips .chip").nth(1),
    )
    for text, shown in (("abc", "“abc”"), ("nan", "“nan”"), ("", "empty"), ("3", "3")):
        setting(page, "tau", text)
        expect(chip).to_have_text(f"XTC ρ 0.50 · τ {text if text == '3' else '?'}")
        field.blur()
        wrong = page.locator(".composer .knob .wrong:visible")
        expect(wrong).to_have_text(f"τ floor must be in (0, 1), but is {shown}")
        expect(field).to_have_value(text)
        # An error says enough: the hint for a τ that never acts would be a second voice.
        expect(page.locator(".warnings")).to_be_empty()
    setting(page, "rho", "x")
    expect(chip).to_have_text("XTC ρ ? · τ 3")
    setting(page, "rho", "0,75")
    setting(page, "tau", "0,2")
    field.blur()
    expect(page.locator(".composer .knob .wrong:visible")).to_have_count(0)
    expect(chip).to_have_text("XTC ρ 0.75 · τ 0.20")
    # In a whole number a comma is none.
    setting(page, "max_new_tokens", "1,000")
    page.locator("#prompt").focus()
    expect(page.locator(".composer .knob .wrong:visible")).to_have_text(
        "Length must be an integer in [1, 4096], but is “1,000”"
    )
    setting(page, "max_new_tokens", "5")
    generate(page, "  \n")
    expect(page.get_by_test_id("error")).to_have_text("Type a beginning first.")
    expect(page.locator("#prompt")).to_have_value("  \n")
    run(page, " Once ")
    assert counts(page) == [5, 5]


def test_the_controls_in_front_say_whose_they_are(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    names, whose = page.locator(".lane-chips .chip b"), page.locator(".composer .front > .whose")
    buttons = page.locator(".lane-chips button.chip")
    rho = page.locator(".composer .knob").filter(has=page.locator("[data-field=rho]"))
    expect(rho).to_contain_text("ρ how often it acts")
    page.select_option("select.chip", label="T 1.3")
    page.select_option("select.chip", label="Strong")
    # A lane with a temperature of its own keeps it, even one that the slider meets on its way.
    for value in ("1.3", "0.7"):
        setting(page, "temperature", value)
    expect(buttons).to_have_text(
        [
            "Baseline T 0.70",
            "XTC ρ 0.50 · τ 0.10 · T 0.70",
            "T 1.3 T 1.30",
            "Strong ρ 1 · τ 0.10 · T 0.70",
        ]
    )
    expect(whose).to_have_text("XTC")
    # Opening a lane on which XTC acts brings the sliders to it.
    buttons.nth(3).click()
    page.keyboard.press("Escape")
    expect(whose).to_have_text("Strong")
    setting(page, "rho", "0.8")
    expect(names).to_have_text(["Baseline", "XTC", "T 1.3", "XTC 2"])
    expect(whose).to_have_text("XTC 2")
    for _ in range(3):
        buttons.first.click()
        page.get_by_role("button", name="Remove this lane").click()
    expect(names).to_have_text(["XTC 2"])


def test_a_baseline_on_which_xtc_acts_is_none(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.locator(".lane-chips button.chip").nth(1).click()
    page.get_by_role("button", name="Remove this lane").click()
    run(page, "Once", length=40)
    setting(page, "rho", "0.5")
    expect(page.locator(".lane-chips button.chip")).to_have_text(["XTC ρ 0.50 · τ 0.10"])
    # It is still the lane that was written, so the what-if follows.
    expect(page.get_by_test_id("what-if")).to_contain_text("Baseline at ρ 0.50, τ 0.10")
    page.get_by_role("button", name="Medium").click()
    expect(page.get_by_role("button", name="Medium")).to_have_attribute("aria-pressed", "true")


def test_the_stages_of_a_lane_are_put_in_another_order_by_the_keyboard(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    plain(page)
    setting(page, "temperature", "1.3")
    page.locator(".lane-chips button.chip").nth(1).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Order of the stages", exact=True).click()
    stages = dialog.get_by_role("list", name="Order of the stages").get_by_role("listitem")
    usual = stages.evaluate_all("all => all.map((stage) => stage.dataset.stage)")
    expect(stages.locator("xpath=self::*[@data-on]")).to_have_count(2)
    # XTC acts last: it cannot go down, and goes up to the top with one key.
    expect(dialog.get_by_role("button", name="Move XTC down")).to_be_disabled()
    reset = dialog.get_by_role("button", name="Default order")
    expect(reset).to_be_disabled()
    up = dialog.get_by_role("button", name="Move XTC up")
    up.focus()
    for _ in range(len(usual) - 1):
        expect(up).to_be_focused()
        page.keyboard.press("Enter")
    expect(up).to_be_disabled()
    expect(dialog.get_by_role("button", name="Move XTC down")).to_be_focused()
    expect(dialog.get_by_role("status").last).to_have_text(f"XTC is now stage 1 of {len(usual)}.")
    assert stages.first.get_attribute("data-stage") == "xtc"
    chip = page.locator(".lane-chips button.chip").nth(1)
    expect(chip).to_have_text("XTC ρ 0.50 · τ 0.10 · T 1.30 · XTC before T")
    dialog.get_by_role("button", name="Done").click()
    run(page, "Once", length=12)
    expect(page.locator(".lane .tag").nth(1)).to_have_text(
        "ρ 0.50 · τ 0.10 · T 1.30 · XTC before T"
    )
    page.locator("#lane-1 .t").nth(3).click()
    page.get_by_text("Stage by stage").click()
    expect(page.locator(".stages .head")).to_have_text(["model", "XTC", "Temperature"])
    chip.click()
    reset.click()
    assert stages.evaluate_all("all => all.map((stage) => stage.dataset.stage)") == usual
    expect(chip).to_have_text("XTC ρ 0.50 · τ 0.10 · T 1.30")


def test_one_choice_changes_the_base_of_all_lanes(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.select_option("select.chip", label="Top-p .95")
    base = page.get_by_role("combobox", name="Base for all lanes")
    expect(base.locator("option:checked")).to_have_text("Min-p 0.05")
    chips = page.locator(".lane-chips button.chip")
    expect(chips).to_have_text(["Baseline", "XTC ρ 0.50 · τ 0.10", "Top-p .95 Top-p 0.95"])
    base.select_option(label="plain sampling")
    expect(page.get_by_test_id("note")).to_contain_text("press Generate")
    run(page, "Once", length=5)
    tags = page.locator(".lane .name > .tag")
    expect(tags).to_have_text(["plain sampling", "ρ 0.50 · τ 0.10", "Top-p 0.95"])
    # A link holds it, and so does the run.
    expect(base.locator("option:checked")).to_have_text("plain sampling")


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768)])
def test_what_is_said_of_a_setting_moves_nothing(
    visit: Visit, fake: Server, width: int, height: int
) -> None:
    page = visit(fake, width, height)
    top = "document.querySelector('.lane .text').getBoundingClientRect().top"
    start = page.evaluate(top)
    for name, value, words in (
        ("tau", "0.6", "XTC can never act"),
        ("tau", "0", "must be in (0, 1)"),
        ("rho", "7", "must be in [0, 1]"),
    ):
        field = page.locator(f".composer [data-field={name}]")
        field.fill(value)
        field.dispatch_event("change")
        said = page.locator(".composer :is(.note, .wrong)", has_text=words)
        expect(said).to_be_in_viewport()
        assert page.evaluate(top) == start


def test_enter_in_the_prompt_writes_and_with_shift_begins_a_line(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    setting(page, "max_new_tokens", 5)
    prompt = page.locator("#prompt")
    prompt.fill("Once")
    prompt.press("Shift+Enter")
    prompt.press_sequentially("upon")
    prompt.press("Enter")
    page.wait_for_selector(".xtc[data-done='1']")
    expect(prompt).to_have_value("Once\nupon")
    assert counts(page) == [5, 5]


def test_the_sliders_stay_with_their_lane_and_in_their_place(visit: Visit, fake: Server) -> None:
    """Dragging renames a lane that was a preset, and Undo takes the draft of before."""
    page = visit(fake)
    page.select_option("select.chip", label="Medium")
    page.locator(".lane-chips button.chip").nth(2).click()
    page.get_by_role("button", name="Done").click()
    whose, slider = (
        page.locator(".composer .front > .whose"),
        page.locator(".composer .front [type=range]").first,
    )
    expect(whose).to_have_text("Medium")
    before = slider.bounding_box()
    setting(page, "rho", "0.8")
    expect(whose).to_have_text("XTC 2")
    assert slider.bounding_box() == before
    run(page, "Once", length=5)
    page.get_by_role("button", name="Again with a new seed").click()
    page.wait_for_selector(".xtc[data-done='2']")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(whose).to_have_text("XTC 2")

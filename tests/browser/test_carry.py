"""Settings are taken to another program and brought from one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import run
from tests.browser.test_accessibility import LOOKS, violations
from tests.browser.test_lane_menu import COPIED, choose

FLAGS = "llama-server -m m.gguf --temp 1.1 --min-p 0.02 --top-k 0 --xtc-probability 1 --mirostat 2"


def paste(page: Page, text: str) -> Locator:
    """Open the dialog and put a text into it."""
    menu = page.get_by_role("combobox", name="Add a lane")
    if not menu.is_visible():
        page.locator(".fold").click()  # a phone
    menu.select_option(label="Paste settings …")
    dialog = page.get_by_role("dialog", name="Settings from another program")
    area = dialog.get_by_role("textbox", name="Settings of another program")
    expect(area).to_be_focused()
    area.fill(text)
    return dialog


def test_a_lane_of_a_run_is_taken_to_another_program(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.evaluate(COPIED)
    run(page, "Once upon", length=10)
    choose(page, 1, "Use in another program …")
    dialog = page.get_by_role("dialog", name="“XTC” in another program")
    text = dialog.locator("pre")
    expect(text).to_contain_text("--xtc-probability 0.5 --xtc-threshold 0.1")
    expect(dialog.get_by_role("listitem").filter(has_text="protects no tokens")).to_be_visible()
    dialog.get_by_role("combobox", name="Program").select_option(label="mlx-lm: Python")
    expect(text).to_contain_text("xtc_special_tokens=[")  # those of the run
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_role("status")).to_have_text("Copied.")
    assert page.evaluate("window.copied") == [text.text_content()]
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save as a file").click()
    assert download.value.suggested_filename == "sampler.py"
    assert Path(download.value.path()).read_text(encoding="utf-8") == text.text_content()
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()


def test_a_lane_of_the_next_run_is_taken_there_from_its_settings(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    page.locator(".chip", has_text="XTC").first.click()
    page.get_by_role("button", name="Use in another program …").click()
    dialog = page.get_by_role("dialog", name="“XTC” in another program")
    expect(dialog.locator("pre")).to_contain_text("--min-p 0.05")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Settings of XTC")).to_be_visible()


def test_flags_become_a_lane_and_what_was_not_understood_is_named(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    dialog = paste(page, FLAGS)
    expect(dialog.get_by_role("status")).to_contain_text("the rule and the order of llama.cpp")
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    expect(dialog.get_by_role("listitem")).to_contain_text("--mirostat")
    row = dialog.get_by_role("table", name="Understood").get_by_role("row")
    expect(row.filter(has_text="--min-p")).to_contain_text("Min-p 0.02")
    unsaid = dialog.get_by_role("table", name="Not said in the text, and on there")
    expect(unsaid.get_by_role("row")).to_have_count(2)  # with its head: top-p
    dialog.get_by_role("button", name="Take it over").click()
    expect(dialog).not_to_be_visible()
    chip = page.locator(".chip", has_text="llama.cpp")
    expect(chip).to_contain_text("ρ 1 ·")
    run(page, "Once upon", length=10)
    expect(page.locator(".lane")).to_have_count(3)
    expect(page.locator(".lane h2").nth(2)).to_have_text("llama.cpp")


def test_a_dropped_file_takes_the_place_of_a_lane(
    visit: Visit, fake: Server, tmp_path: Path
) -> None:
    page = visit(fake)
    preset = {"temp": 1.5, "rep_pen": 1, "min_p": 0.1, "xtc_probability": 0.25, "dynatemp": False}
    dialog = paste(page, "")
    expect(dialog.get_by_role("button", name="Take it over")).to_be_disabled()
    page.evaluate(
        """(text) => { const data = new DataTransfer();
        data.items.add(new File([text], "preset.json"));
        document.querySelector(".bring-here").dispatchEvent(
          new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true})); }""",
        json.dumps(preset),
    )
    expect(dialog.get_by_role("status")).to_contain_text("SillyTavern: preset")
    dialog.get_by_role("combobox", name="Put it into").select_option(label="XTC, in its place")
    dialog.get_by_role("button", name="Take it over").click()
    expect(page.locator("button.chip")).to_have_count(2)
    expect(page.locator("button.chip").nth(1)).to_contain_text("T 1.50")


def test_names_of_several_programs_wait_for_a_choice(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    dialog = paste(page, '{"temperature": 1, "xtc_probability": 0.5, "xtc_threshold": 0.1}')
    expect(dialog.get_by_role("status")).to_contain_text("This may be of llama.cpp, koboldcpp")
    expect(dialog.get_by_role("table", name="Not said in the text")).not_to_be_visible()
    program = dialog.get_by_role("combobox", name="Program")
    program.select_option(label="koboldcpp: request (JSON)")
    expect(dialog.get_by_role("status")).to_contain_text("the order of koboldcpp")
    program.select_option(label="mlx-lm: Python")
    expect(dialog.get_by_role("alert")).to_contain_text("This text is JSON")
    expect(dialog.get_by_role("button", name="Take it over")).to_be_disabled()


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_axe_has_nothing_to_say(visit: Visit, fake: Server, dark: bool, width: int) -> None:
    scheme = "dark" if dark else "light"
    page = visit(fake, width=width, height=800, color_scheme=scheme, reduced_motion="reduce")
    page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
    dialog = paste(page, FLAGS)
    expect(dialog.get_by_role("table", name="Understood")).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("textbox").fill('{"temp": ')
    expect(dialog.get_by_role("alert")).to_contain_text("no JSON")
    assert violations(page) == []
    wide = page.evaluate("document.querySelector('.bring-here').scrollWidth > innerWidth")
    assert not wide
    page.keyboard.press("Escape")
    choose(page, 0, "Use in another program …")
    expect(page.locator(".take-home pre")).to_be_visible()
    assert violations(page) == []

"""What a person does with the page, and what they see there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

READ = """lane => [...document.querySelectorAll(`#lane-${lane} .t`)].map(span => ({
  text: span.textContent, fired: span.classList.contains('o3'),
  changed: span.classList.contains('changed')}))"""


def tokens(page: Page, lane: int) -> list[dict[str, Any]]:
    """The chips of a lane as they stand in the document."""
    found: list[dict[str, Any]] = page.evaluate(READ, lane)
    return found


def counts(page: Page) -> list[int]:
    """How many chips each lane has, at one moment."""
    lanes = "[...document.querySelectorAll('.tokens')]"
    found: list[int] = page.evaluate(f"{lanes}.map(lane => lane.querySelectorAll('.t').length)")
    return found


def chips(page: Page, lane: int) -> Locator:
    return page.locator(f"#lane-{lane} .t")


def unfold(page: Page) -> None:
    """Open the settings, which a phone folds away."""
    fold = page.locator(".composer .fold")
    if fold.is_visible() and fold.get_attribute("aria-expanded") == "false":
        fold.click()


def setting(page: Page, name: str, value: object) -> None:
    """Type a value into one of the settings in front, or under More."""
    unfold(page)
    field = page.locator(f".composer [data-field={name}]")
    if not field.is_visible():
        more(page)
    field.fill(str(value))


def plain(page: Page) -> None:
    """Let no lane cut anything before XTC acts, so that every step has many candidates."""
    unfold(page)
    page.get_by_label("Base for all lanes").select_option(label="plain sampling")


def more(page: Page) -> None:
    """Open what is seldom needed; a press anywhere else closes it."""
    if page.locator(".extras").get_attribute("open") is None:
        page.locator(".extras summary").click()


def generate(page: Page, prompt: str | None = None, length: int | None = None) -> None:
    """Type a prompt and a length, and press Generate."""
    if prompt is not None:
        page.fill("#prompt", prompt)
    if length is not None:
        setting(page, "max_new_tokens", length)
    page.get_by_role("button", name="Generate", exact=True).click()


def writing(page: Page, tokens_at_least: int = 1, lane: int = 0) -> None:
    """Wait until a run of this page has written something."""
    page.wait_for_selector(".composer[data-phase=writing]")
    page.wait_for_function(
        "([lane, n]) => document.querySelectorAll(`#lane-${lane} .t`).length >= n",
        arg=[lane, tokens_at_least],
    )


def finished(page: Page, timeout: float = 60_000) -> None:
    """Wait for the end of the run."""
    page.wait_for_selector(".composer[data-phase=idle]", timeout=timeout)


def run(page: Page, prompt: str | None = None, length: int | None = None) -> None:
    """A whole run."""
    done = int(page.locator(".xtc").get_attribute("data-done") or 0)
    generate(page, prompt, length)
    page.wait_for_selector(f".xtc[data-done='{done + 1}']", timeout=60_000)


def open_save_menu(page: Page) -> None:
    menu = page.locator(".menu", has=page.get_by_test_id("figure-form"))
    if menu.get_attribute("open") is None:
        menu.locator("summary").click()


def keep_file(page: Page, name: str, folder: Path) -> Path:
    """Choose an entry of the Save menu; returns the file that came."""
    open_save_menu(page)
    with page.expect_download() as coming:
        page.get_by_role("button", name=name).click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def save_figure(page: Page, view: str, format: str, folder: Path) -> Path:
    """Save a view as a figure; `view` is how its entry begins. Returns the file that came."""
    open_save_menu(page)
    form = page.get_by_test_id("figure-form")
    form.get_by_label("View").select_option(
        form.locator("option", has_text=view).first.get_attribute("value")
    )
    form.get_by_label("Format").select_option(format)
    with page.expect_download() as coming:
        form.get_by_role("button", name="Save figure").click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    expect(form.get_by_role("status")).to_contain_text(path.name)
    return path


def inspector(page: Page) -> Locator:
    """The inspector with a step in it; on a phone the sheet is opened by the chosen word."""
    if not page.locator(".decision").is_visible():
        page.locator(".t.sel").dispatch_event("click")
    found = page.get_by_test_id("inspector")
    expect(found.locator(".content:not([data-loading])")).to_be_visible()
    return found

"""Every view leaves the page as a figure in each format, and each file can be opened."""

from __future__ import annotations

import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import chips, inspector, run, save_figure
from tests.browser.test_accessibility import LOOKS, violations
from xtc_viz.figures.theme import DARK, LIGHT
from xtc_viz.knobs import KNOBS

VIEWS = {
    "Bars": "bars",
    "Two lanes": "pair",
    "Stages": "stages",
    "Engines": "engines",
    "Marked text: XTC": "text",
    "Timeline": "timeline",
    "Map": "map",
}
WIDTH = 640
SVG = "{http://www.w3.org/2000/svg}"


def size(png: Path) -> tuple[int, int]:
    """Width and height of a PNG, from its head."""
    data = png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    wide, tall = struct.unpack(">II", data[16:24])
    return int(wide), int(tall)


def fired(page: Page) -> None:
    """Look at a step at which XTC fired."""
    chips(page, 1).locator("xpath=self::*[contains(@class, 'o3')]").first.click()
    inspector(page)


@pytest.fixture
def written(visit: Visit, fake: Server) -> Page:
    """A page in dark colours with a run and a step at which XTC fired."""
    page = visit(fake, color_scheme="dark")
    page.evaluate("document.body.classList.add('dark')")
    run(page, "Once upon <b> & 中")
    fired(page)
    return page


def complaints(page: Page, own: str) -> list[str]:
    """What a page at `own` complains about, and what it asks of others, as it comes."""
    problems: list[str] = []

    def said(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(f"console: {message.text}")

    def asked(request: Request) -> None:
        if not request.url.startswith((own, "data:", "blob:")):
            problems.append(f"asked: {request.url}")

    page.on("pageerror", lambda error: problems.append(f"page error: {error}"))
    page.on("console", said)
    page.on("request", asked)
    return problems


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_saved_in_each_format(
    written: Page, browser: Browser, view: str, tmp_path: Path
) -> None:
    page = written
    save_figure(page, view, "svg", tmp_path)  # opens the menu
    page.get_by_test_id("figure-form").get_by_label("Width", exact=True).fill(str(WIDTH))
    svg = save_figure(page, view, "svg", tmp_path)
    assert svg.name.startswith(f"xtc-{VIEWS[view]}-")
    root = ElementTree.parse(svg).getroot()
    assert (root.tag, root.get("width")) == (f"{SVG}svg", str(WIDTH))
    words = [text for node in root.iter(f"{SVG}text") for text in node.itertext()]
    assert any("Once upon <b> & 中" in text for text in words)
    assert any("XTC: ρ 0.50 · τ 0.10" in text for text in words)
    assert any(text.startswith("Model fake · seed ") for text in words)
    paint = svg.read_text().lower()
    assert LIGHT.paper in paint
    for dark in (DARK.paper, DARK.ink, DARK.removed):
        red, green, blue = (int(dark[i : i + 2], 16) for i in (1, 3, 5))
        assert dark not in paint
        assert f"rgb({red}, {green}, {blue})" not in paint

    png = save_figure(page, view, "png", tmp_path)
    wide, tall = size(png)
    assert wide == WIDTH * 300 / 96
    assert tall == pytest.approx(float(str(root.get("height"))) * 300 / 96, abs=1)

    html = save_figure(page, view, "html", tmp_path)
    assert html.stat().st_size < 6_000_000
    context = browser.new_context(offline=True, viewport={"width": 900, "height": 700})
    alone = context.new_page()
    problems = complaints(alone, f"file://{html}")
    alone.goto(f"file://{html}")
    alone.wait_for_selector(".main-svg")
    expect(alone.locator("figcaption")).to_contain_text("Once upon <b> & 中")
    expect(alone.locator("figcaption")).to_contain_text("XTC: ρ 0.50 · τ 0.10")
    drawn = alone.locator(".main-svg").first.evaluate(
        "svg => svg.querySelectorAll('.point, .textpoint, .hm, image').length"
    )
    assert drawn > 0
    assert problems == []
    context.close()


def test_only_what_there_is_is_offered(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon")
    menu = page.locator(".menu", has=page.get_by_test_id("figure-form"))
    menu.locator("summary").click()
    form = page.get_by_test_id("figure-form")
    expect(form.get_by_label("View").locator("option")).not_to_have_count(0)
    labels = form.get_by_label("View").locator("option").all_text_contents()
    assert [any(label.startswith(view) for label in labels) for view in VIEWS] == [True] * len(
        VIEWS
    )
    assert form.get_by_label("View").input_value() == "bars/"


def test_a_wrong_width_is_said_and_keeps_the_keyboard(written: Page, tmp_path: Path) -> None:
    page, knob = written, KNOBS["figure_width"]
    menu = page.locator(".menu", has=page.get_by_test_id("figure-form"))
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    form = page.get_by_test_id("figure-form")
    width = form.get_by_label("Width", exact=True)
    width.fill("20")
    form.get_by_role("button", name="Save figure").press("Enter")
    expect(width).to_be_focused()
    expect(width).to_have_attribute("aria-invalid", "true")
    expect(form.get_by_role("alert")).to_have_text(
        f"Figure width must be {knob.interval}, but is 20"
    )
    width.fill(str(int(knob.low)))
    save = form.get_by_role("button", name="Save figure")
    with page.expect_download():
        save.press("Enter")
    expect(save).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(menu.locator("summary")).to_be_focused()


def test_the_table_of_a_step_says_what_wrote_it(written: Page) -> None:
    page = written
    inspector(page).locator(".as-table summary").click()
    caption = page.locator(".as-table caption")
    expect(caption).to_contain_text("Once upon <b> & 中")
    expect(caption).to_contain_text("XTC: ρ 0.50 · τ 0.10")
    expect(caption).to_contain_text("Model fake · seed ")
    chips(page, 0).first.click()
    expect(caption).to_contain_text("XTC off")


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_the_open_menu_has_nothing_that_axe_minds(
    visit: Visit, fake: Server, dark: bool, width: int
) -> None:
    page = visit(fake, width=width, reduced_motion="reduce")
    page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
    run(page, "Once upon")
    page.locator(".menu", has=page.get_by_test_id("figure-form")).locator("summary").click()
    form = page.get_by_test_id("figure-form")
    form.get_by_label("Width", exact=True).fill("20")
    form.get_by_role("button", name="Save figure").click()
    box = form.bounding_box()
    assert box
    assert (box["x"] >= 0, box["x"] + box["width"] <= width) == (True, True)
    assert violations(page) == []

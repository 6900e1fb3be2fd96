"""An engine for a lane, all engines on a step and along a run, and on numbers typed in."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import chips, finished, generate
from tests.browser.test_accessibility import violations

WIDTHS = [1440, 1024, 390]


def opened(page: Page, i: int = 28) -> Locator:
    """The engines on a step of the recorded run's lane with XTC."""
    tabs = page.locator(".lane-tabs button")
    if tabs.first.is_visible():
        tabs.last.click()
    chips(page, 1).nth(i).click()
    engines = page.get_by_test_id("engines")
    engines.locator("summary").click()
    expect(engines.locator(".engine-group").first).to_be_in_viewport()
    expect(engines.get_by_test_id("engines-along").locator("li").first).to_be_attached()
    return engines


def group(engines: Locator, name: str) -> Locator:
    return engines.locator(f".engine-group[data-engines~='{name}']")


def test_a_lane_takes_an_engine_its_order_and_its_name(visit: Visit, story: Server) -> None:
    page = visit(story)
    page.locator(".composer .chip", has_text="XTC").first.click()
    dialog = page.get_by_role("dialog", name="Settings of XTC")
    engine = dialog.get_by_label("Engine", exact=True)
    expect(engine).to_have_value("paper")
    engine.select_option("llama.cpp")
    expect(dialog.locator(".engine-words")).to_contain_text("protects no words")
    expect(dialog.locator(".lane-name")).to_have_value("llama.cpp")
    dialog.get_by_text("Order of the stages", exact=True).click()
    stages = dialog.get_by_role("list", name="Order of the stages").get_by_role("listitem")
    last = "all => all.map((stage) => stage.dataset.stage).filter((s) => s !== 'xtc').at(-1)"
    assert stages.evaluate_all(last) == "temperature"
    dialog.get_by_role("button", name=re.compile("put mine back")).click()
    assert stages.evaluate_all(last) != "temperature"
    dialog.get_by_role("button", name="Take its order of stages too").click()
    assert stages.evaluate_all(last) == "temperature"
    dialog.get_by_role("button", name="Done").click()
    # Along the recorded text it is a what-if by that rule; then a run of its own.
    expect(page.get_by_test_id("what-if")).to_contain_text("by the rule of llama.cpp")
    generate(page, length=12)
    finished(page)
    lane = page.locator(".lane[data-lane='1']")
    expect(lane.locator("h2")).to_have_text("llama.cpp")
    expect(lane.locator(".tag")).to_have_text("ρ 0.50 · τ 0.10")
    engines = opened(page, 3)
    assert "llama.cpp" in (engines.locator(".engine-group b").text_content() or "")


def test_engines_on_a_step_say_why_they_differ(
    visit: Visit, story: Server, keep: Callable[..., None]
) -> None:
    page = visit(story)
    engines = opened(page)
    names = engines.locator(".engine-group[data-engines]")
    everyone = names.evaluate_all("all => all.flatMap((one) => one.dataset.engines.split(' '))")
    assert len(everyone) == len(set(everyone)) >= 10
    # The line break is protected: the paper leaves the step alone, llama.cpp removes it.
    expect(group(engines, "paper")).to_have_attribute("data-effect", "protected")
    llama = group(engines, "llama.cpp")
    expect(llama).to_have_attribute("data-effect", "fired")
    expect(llama.locator(".reason")).to_contain_text("llama.cpp removes")
    expect(llama.locator(".bar.removed")).to_have_count(2)
    expect(llama.get_by_role("img")).to_have_attribute("aria-label", re.compile("He removed"))
    keep(page, "step", full=False)
    engines.get_by_role("button", name="As the coin fell").click()
    expect(group(engines, "llama.cpp")).to_have_attribute("data-effect", "skipped")
    engines.get_by_role("button", name="In its own order").click()
    expect(engines.locator(".engine-group").first).to_contain_text("What the model gives")
    engines.get_by_label("Show the stages of").select_option("mlx-lm")
    expect(engines.locator(".stages .head").first).to_have_text("model")
    page.get_by_role("button", name="Next step").click()
    expect(engines.locator(".engine-group .word.drawn").first).to_have_text("·went")


def test_over_the_run_a_click_goes_to_the_first_difference(visit: Visit, story: Server) -> None:
    page = visit(story)
    engines = opened(page, 3)
    row = engines.locator(".engine-along li[data-engines~='llama.cpp']")
    first = row.get_by_role("button", name=re.compile("first: token"))
    number = int(re.findall(r"token (\d+)", first.text_content() or "")[0])
    first.click()
    expect(page.locator(".inspector .where")).to_contain_text(f"token {number}")
    expect(group(engines, "llama.cpp").locator(".reason")).to_be_visible()
    assert "llama.cpp" not in (group(engines, "paper").get_attribute("data-engines") or "").split()
    ticks = row.locator(".ticks")
    box = ticks.bounding_box()
    assert box
    ticks.click(position={"x": box["width"] - 1, "y": 4})
    expect(page.locator(".inspector .where")).not_to_contain_text(f"token {number} ")


def test_an_engine_marks_its_steps_on_the_timeline(
    visit: Visit, story: Server, keep: Callable[..., None]
) -> None:
    page = visit(story)
    timeline, key = page.locator(".timeline"), page.get_by_test_id("mark-key")
    where = page.locator(".inspector .where")
    plain = timeline.bounding_box()
    engines = opened(page, 3)
    expect(timeline.locator("svg")).to_have_count(0)
    expect(key).to_be_hidden()
    row = engines.locator(".engine-along li[data-engines~='llama.cpp']")
    button = row.get_by_role("button", name=re.compile("^llama.cpp"))
    button.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(button).to_be_focused()
    number = int(row.locator("b").text_content() or "")
    signs = timeline.locator(".marks g")
    expect(signs).to_have_count(number)
    expect(key).to_contain_text(
        f"llama.cpp would decide otherwise than the paper, had the coin said yes: {number}"
    )
    # The last sign leads to its step, which its title names; from there the keys lead back.
    title = signs.last.locator("title").text_content() or ""
    last = int(re.findall(r"Token (\d+): llama.cpp", title)[0])
    signs.last.hover()
    expect(where).to_contain_text(f"token {last} ")
    signs.last.click()
    page.mouse.move(5, 5)
    expect(where).to_contain_text(f"token {last} ")
    expect(group(engines, "llama.cpp").locator(".reason")).to_be_visible()
    expect(key.get_by_role("button", name="Next marked step")).to_be_disabled()
    key.get_by_role("button", name="Previous marked step").click()
    expect(where).not_to_contain_text(f"token {last} ")
    assert violations(page) == []
    keep(page, "marks", full=False)
    # The other lane has marks of its own.
    chips(page, 0).nth(3).click()
    expect(signs.last.locator("title")).not_to_have_text(title)
    key.get_by_role("button", name="Take the marks away").click()
    expect(timeline.locator("svg")).to_have_count(0)
    assert timeline.bounding_box() == plain
    button.click()
    expect(key).to_be_visible()
    engines.locator("summary").click()
    expect(key).to_be_hidden()
    expect(timeline.locator("svg")).to_have_count(0)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_help_opens_the_engines_in_every_window(
    visit: Visit, story: Server, width: int
) -> None:
    page = visit(story, width=width)
    page.get_by_role("button", name="Help").click()
    page.get_by_role("button", name=re.compile("would mine do the same")).click()
    expect(page.locator("dialog.help")).to_be_hidden()
    expect(page.locator("dialog.engines .engine-group").first).to_be_visible()


def test_numbers_of_ones_own(visit: Visit, story: Server, keep: Callable[..., None]) -> None:
    page = visit(story)
    page.locator(".ways-in").get_by_role("button", name="Engines").click()
    dialog = page.locator("dialog.engines")
    paper, mlx = group(dialog, "paper"), group(dialog, "mlx-lm")
    expect(paper.locator(".bar.kept")).to_have_count(1)
    expect(mlx.locator(".bar.kept")).to_have_count(2)
    numbers = dialog.get_by_label("Words and numbers")
    numbers.fill("a 0.5\nb 0.3 *\nc 0.2")
    expect(paper).to_have_attribute("data-effect", "protected")
    expect(mlx.locator(".reason").first).to_contain_text("b")
    keep(page, "numbers", full=False)
    numbers.fill("a 0.5\nb")
    expect(dialog.get_by_role("alert").filter(has_text="no number")).to_be_visible()
    numbers.fill("2, 1, 0, -1")
    expect(dialog.get_by_role("alert").filter(has_text="logits")).to_be_visible()
    dialog.get_by_label("These are").select_option("logits")
    dialog.locator("[data-field=tau]").fill("0.09")
    expect(paper).to_have_attribute("data-effect", "fired")
    expect(dialog.locator(".before .value").first).to_have_text("64 %")
    dialog.locator("[data-field=tau]").fill("7")
    expect(dialog.get_by_role("alert").filter(has_text="7")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_engines_fit_every_window(
    visit: Visit, story: Server, keep: Callable[..., None], width: int, dark: bool
) -> None:
    page = visit(story, width=width, height=900, color_scheme="dark" if dark else "light")
    page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
    engines = opened(page)
    engines.get_by_role("button", name="In its own order").click()
    engines.get_by_label("Show the stages of").select_option("koboldcpp")
    expect(engines.locator(".stages .bar").first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width > 640:
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert violations(page) == []
    engines.get_by_role("button", name="Try your own numbers").click()
    dialog = page.locator("dialog.engines")
    expect(dialog.locator(".engine-group").first).to_be_visible()
    assert dialog.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert violations(page) == []
    keep(page, f"{width}-{dark}", full=False)

"""Two lanes side by side in the inspector."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import (
    chips,
    counts,
    inspector,
    keep_file,
    plain,
    run,
    save_figure,
    tokens,
)

Keep = Callable[..., None]

PART = re.compile("Here they part")


def parting(page: Page, a: int = 0, b: int = 1) -> int:
    """Where the texts of two lanes begin to differ."""
    pairs = zip(tokens(page, a), tokens(page, b), strict=False)
    return next(i for i, (x, y) in enumerate(pairs) if x["text"] != y["text"])


def beside(page: Page, name: str = "Beside Baseline") -> None:
    page.get_by_role("button", name=name).click()
    expect(page.get_by_test_id("pair")).to_be_visible()
    inspector(page)


def test_two_lanes_side_by_side(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    run(page, "Once upon", length=60)
    at = parting(page)
    chips(page, 1).nth(at).click()
    shown = inspector(page)
    switch = page.get_by_role("button", name="Beside Baseline")
    expect(switch).to_have_attribute("aria-pressed", "false")
    beside(page)
    expect(switch).to_have_attribute("aria-pressed", "true")
    heads, tags = page.locator(".bars .head"), page.locator(".bars .head-tag")
    expect(heads).to_have_text(["Baseline", "XTC"])
    expect(tags).to_have_text(["Min-p 0.05", "ρ 0.50 · τ 0.10"])
    expect(page.locator(".bars .tau-text")).to_have_text(["τ 0.10", "τ 0.10"])
    expect(page.locator(".bars .head.own")).to_have_text("XTC")
    same = page.get_by_test_id("same")
    expect(same).to_have_text(re.compile("the same text so far.* Here they part"))
    for number, lane in enumerate(("Baseline", "XTC")):
        side = page.get_by_test_id(f"side-{number}")
        expect(side.get_by_role("button", name=lane)).to_be_visible()
        expect(side.locator(".said")).to_contain_text("clear τ = 0.10")
    expect(page.locator(".side .verdict")).to_have_text(
        ["XTC is off", "XTC fired and changed the word"]
    )
    # Where they part each lane has drawn another token, of the same probabilities before.
    expect(page.locator(".bars .sign").get_by_text("▲")).to_have_count(2)
    expect(page.locator(".bars .row.drawn")).to_have_count(2)
    assert page.locator(".bars .bar.removed").count() >= 1
    expect(page.locator(".bars .bar.kept")).to_have_count(1)
    expect(page.locator(".coin-box figcaption")).to_have_text("The coin: one draw for both")
    expect(page.locator(".coin")).to_have_count(2)
    keep(page, "parting")
    page.get_by_text("The same as a table").click()
    expect(page.locator(".as-table thead th")).to_have_text(
        ["token", "Baseline", "XTC", "branch", *["before", "after", "state"] * 2]
    )
    cells = page.evaluate(
        "[...document.querySelectorAll('.as-table tbody tr')]"
        ".map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent))"
    )
    assert [row[0] for row in cells] == [row[3] for row in cells], "before XTC both are the same"
    assert any(row[5].startswith("removed") and row[2].startswith("eligible") for row in cells)
    assert len(cells) == page.locator(".bars .row").count()

    # Walking with the keys the view stays, and says that the texts differ now.
    page.focus("#lane-1")
    page.keyboard.press("ArrowRight")
    expect(same).to_have_text(
        f"The texts differ since token {at + 1}, so these are two different distributions."
    )
    page.keyboard.press("ArrowUp")
    expect(page.locator(".inspector h2")).to_contain_text(f"Baseline · token {at + 2} ")
    expect(page.get_by_role("button", name="Beside XTC")).to_have_attribute("aria-pressed", "true")
    expect(heads).to_have_text(["Baseline", "XTC"])
    expect(page.locator(".bars .head.own")).to_have_text("Baseline")
    keep(page, "swapped")
    page.get_by_test_id("side-1").get_by_role("button", name="XTC").click()
    expect(page.locator(".inspector h2")).to_contain_text(f"XTC · token {at + 2} ")
    page.keyboard.press("Home")
    expect(same).to_contain_text("begin at the same prompt")
    # One key for there and back.
    page.focus("#lane-1")
    page.keyboard.press("b")
    expect(heads).to_have_text(["before XTC", "after XTC"])
    expect(shown.locator(".side")).to_have_count(0)
    page.keyboard.press("b")
    expect(heads).to_have_text(["Baseline", "XTC"])


def test_which_lane_stands_beside_can_be_chosen(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    page.select_option("select.chip", label="T 1.3")
    run(page, "Once", length=20)
    chips(page, 1).nth(0).click()
    inspector(page)
    heads = page.locator(".bars .head")
    page.get_by_label("Lane to compare with").select_option(label="T 1.3")
    expect(heads).to_have_text(["XTC", "T 1.3"])
    expect(page.get_by_test_id("same")).to_contain_text("differs by their settings (temperature)")
    page.focus("#lane-1")
    page.keyboard.press("ArrowRight")
    expect(heads).to_have_text(["XTC", "T 1.3"])
    # The other lane becomes the selected one, and the one it was compared with stays.
    page.keyboard.press("ArrowDown")
    expect(page.locator(".bars .head.own")).to_have_text("T 1.3")
    expect(heads).to_have_text(["XTC", "T 1.3"])
    page.keyboard.press("ArrowDown")
    expect(page.locator(".bars .head.own")).to_have_text("Baseline")
    expect(heads).to_have_text(["Baseline", "XTC"])
    keep(page, "three")
    page.get_by_role("button", name="Beside", exact=True).click()
    expect(heads).to_have_text(["before XTC", "after XTC"])


def test_where_the_other_lane_has_ended_the_page_says_so(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.locator(".extras summary").click()
    page.get_by_label("Stop at").fill("the")
    run(page, "Tell me", length=300)
    lengths = counts(page)
    longer, shorter = (0, 1) if lengths[0] > lengths[1] else (1, 0)
    assert lengths[longer] > lengths[shorter]
    names = ("Baseline", "XTC")
    chips(page, longer).nth(lengths[shorter] - 1).click()
    beside(page, f"Beside {names[shorter]}")
    page.focus(f"#lane-{longer}")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".bars .head")).to_have_text(["before XTC", "after XTC"])
    expect(page.get_by_test_id("others")).to_have_text(
        f"Nothing beside it: {names[shorter]} ended after {lengths[shorter]} tokens."
    )
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".bars .head")).to_have_text(list(names))


def test_two_lanes_step_by_step_and_in_a_what_if(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    run(page, "Once", length=30)
    chips(page, 1).nth(0).click()
    beside(page)
    page.focus("#lane-1")
    page.keyboard.press("s")
    expect(page.locator(".inspector h2")).to_contain_text("token 1 is not drawn yet")
    inspector(page)
    drawn = page.locator(".bars .sign").get_by_text("▲")
    expect(page.locator(".coin .drop")).to_have_count(2)
    expect(drawn).to_have_count(0)
    expect(page.locator(".facts-of-two")).to_be_hidden()
    keep(page, "before")
    page.keyboard.press("s")
    expect(drawn).to_have_count(2)
    page.get_by_role("button", name="Show all").click()
    page.fill(".composer [data-field=rho]", "1")
    page.locator("#lane-1 .t.o3.imagined").first.click()
    expect(page.locator(".bars .head-tag")).to_have_text(["Min-p 0.05", "what if ρ 1 · τ 0.10"])
    expect(page.locator(".side .verdict").nth(1)).to_have_text("What if: XTC would fire")
    keep(page, "what-if")


def test_either_of_two_lanes_can_be_continued(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    plain(page)
    run(page, "Once upon", length=30)
    at = parting(page)
    chips(page, 1).nth(at).click()
    beside(page)
    # A word is one for the selected lane, a bar for the lane in whose column it stands.
    row, fork = page.locator(".inspector .row[role=button]").nth(2), page.get_by_test_id("fork")
    box = row.bounding_box()
    assert box
    y = box["height"] * 0.7
    bars = ((box["width"] * 0.3, y, "Baseline"), (box["width"] * 0.9, y, "XTC"))
    for x, y, name in ((20, 5, "XTC"), *bars):
        row.hover(position={"x": x, "y": y})
        expect(fork.locator(".hint")).to_have_text(re.compile(f"(instead|with it) in {name}$"))
    row.click(position={"x": box["width"] * 0.3, "y": y})
    page.wait_for_selector(".xtc[data-done='2']")
    expect(page.locator(".lane").nth(2)).to_contain_text(f"from Baseline, token {at + 1}")
    # The branch stands beside what it was compared with before.
    expect(page.locator(".side .verdict").nth(1)).to_have_text("You chose this token")


def test_two_lanes_are_kept_as_they_are_on_show_and_work_offline(
    visit: Visit, fake: Server, browser: Browser, tmp_path: Path
) -> None:
    page = visit(fake)
    run(page, "Once upon", length=80)
    at = parting(page)
    chips(page, 1).nth(at).click()
    beside(page)

    figure = save_figure(page, "Two lanes", "svg", tmp_path).read_text()
    assert all(words in figure for words in (">Baseline<", ">XTC<", ">τ 0.10<", "XTC off"))
    page.keyboard.press("Escape")
    replay = keep_file(page, "Replay to open offline", tmp_path)
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 900})
    alone = context.new_page()
    problems: list[str] = []
    alone.on("pageerror", lambda error: problems.append(str(error)))
    alone.goto(f"file://{replay}")
    chips(alone, 1).nth(at).click()
    beside(alone)
    expect(alone.get_by_test_id("same")).to_have_text(PART)
    alone.focus("#lane-1")
    alone.keyboard.press("End")
    expect(alone.get_by_test_id("same")).to_contain_text("The texts differ")
    expect(alone.locator(".inspector .bars .head")).to_have_text(["Baseline", "XTC"])
    assert problems == []
    context.close()


def test_two_lanes_on_a_phone(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake, width=390, height=844, has_touch=True, is_mobile=True)
    inspector(page)
    page.get_by_role("button", name="Beside Baseline").tap()
    expect(page.get_by_test_id("pair")).to_be_attached()
    expect(page.locator(".bars .head")).to_have_text(["Baseline", "XTC"])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    # The bars stand behind what is said of both lanes, and before the coins.
    tops = [
        page.locator(selector).last.bounding_box() for selector in (".side", ".bars", ".coin-box")
    ]
    heights = [box["y"] for box in tops if box]
    assert heights == sorted(heights)
    assert len(heights) == 3
    keep(page, "phone")

"""Two lanes side by side in the inspector: the rows as data, and the stories in a real browser."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Server, Visit
from tests.browser.driver import chips, counts, inspector, run, tokens
from xtc_viz.settings import SamplerSettings, XTCSettings
from xtc_viz.ui import controls, web

Keep = Callable[..., None]
Step = dict[str, Any]

PART = re.compile("Here they part")


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    """An empty page that knows the pure modules."""
    page = browser.new_page()
    for name in ("distribution", "words"):
        page.add_script_tag(content=f"{web.script(name)};window.{name} = module_{name};")
    yield page
    page.close()


def viewed(probs: dict[int, float], token: int, *, depth: int, tau: float, fired: bool) -> Step:
    """One step as the page gets it, of a whole distribution."""
    ids = sorted(probs, key=lambda v: (-probs[v], v))
    eligible = sum(p >= tau for p in probs.values())
    fires = fired and eligible > 1
    removed = ids[: eligible - 1] if fires else []
    keep = [v for i, v in enumerate(ids) if i < max(depth, eligible) or v == token]
    return {
        "token": token,
        "instead": token,
        "outcome": "fired" if fires else "skipped",
        "eligible": eligible,
        "removed": removed,
        "kept": [v for v in ids[:eligible] if v not in removed],
        "power": 1.0,
        "log_z": math.log(1.0 - math.fsum(probs[v] for v in removed)),
        "greedy": False,
        "ids": keep,
        "probs": [probs[v] for v in keep],
        "rest": max(0.0, 1.0 - math.fsum(probs[v] for v in keep)),
    }


def together(page: Page, steps: list[Step], limit: int, own: int) -> list[Any]:
    texts: list[dict[str, str]] = [{str(v): f"t{v}" for v in step["ids"]} for step in steps]
    arguments = [steps, texts, limit, own]
    found: list[Any] = page.evaluate("(given) => distribution.together(...given)", arguments)
    return found


def test_the_rows_of_two_lanes_worked_by_hand(blank: Page) -> None:
    left = viewed({1: 0.5, 2: 0.3, 3: 0.15, 4: 0.05}, 1, depth=3, tau=0.2, fired=False)
    right = viewed({1: 0.5, 2: 0.3, 4: 0.12, 5: 0.08}, 2, depth=3, tau=0.2, fired=True)
    rows = together(blank, [left, right], 10, 0)
    # In the order of the left lane, then what only the right one has.
    assert [row["text"] for row in rows] == ["t1", "t2", "t3", "t4", "everything else"]
    cells = [[(c["kind"], round(c["p"], 6), round(c["q"], 6)) for c in r["cells"]] for r in rows]
    assert cells[0] == [("eligible", 0.5, 0.5), ("removed", 0.5, 0.0)]
    assert cells[1] == [("eligible", 0.3, 0.3), ("kept", 0.3, 0.6)]
    drawn = [[cell["drawn"] for cell in row["cells"]] for row in rows[:2]]
    assert drawn == [[True, False], [False, True]]
    # Not recorded in that lane: at most what is least there, and no more than what is left.
    assert [(c["known"], round(c["p"], 6)) for c in rows[2]["cells"]] == [
        (True, 0.15),
        (False, 0.08),
    ]
    assert [(c["known"], round(c["p"], 6)) for c in rows[3]["cells"]] == [
        (False, 0.05),
        (True, 0.12),
    ]
    assert cells[4] == [("rest", 0.05, 0.05), ("rest", 0.08, 0.16)]
    # From the other lane's side the rest of the order changes.
    swapped = together(blank, [left, right], 10, 1)
    assert [row["text"] for row in swapped[:4]] == ["t1", "t2", "t4", "t3"]


@st.composite
def distributions(draw: st.DrawFn) -> tuple[dict[int, float], Step]:
    ids = draw(st.lists(st.integers(0, 40), min_size=2, max_size=30, unique=True))
    weights = draw(st.lists(st.floats(0.01, 100), min_size=len(ids), max_size=len(ids)))
    probs = {v: w / math.fsum(weights) for v, w in zip(ids, weights, strict=True)}
    step = viewed(
        probs,
        draw(st.sampled_from(ids)),
        depth=draw(st.integers(1, 12)),
        tau=draw(st.floats(0.02, 0.4)),
        fired=draw(st.booleans()),
    )
    return probs, step


@settings(max_examples=60, deadline=None)
@given(st.tuples(distributions(), distributions()), st.integers(1, 12), st.integers(0, 1))
def test_each_of_two_columns_sums_to_one_and_no_bound_is_too_low(
    blank: Page, two: tuple[tuple[dict[int, float], Step], ...], limit: int, own: int
) -> None:
    rows = together(blank, [step for _, step in two], limit, own)
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids)
    for k, (probs, step) in enumerate(two):
        cells = [row["cells"][k] for row in rows]
        known = [cell for cell in cells if cell["known"]]
        assert math.fsum(cell["p"] for cell in known) == pytest.approx(1.0)
        assert math.fsum(cell["q"] for cell in known) == pytest.approx(1.0)
        assert {*step["ids"][: step["eligible"]], step["token"]} <= set(ids)
        for cell in cells[:-1]:
            true = probs.get(cell["id"], 0.0)
            if cell["known"]:
                assert cell["p"] == pytest.approx(true)
            else:
                assert cell["p"] >= true - 1e-9
    order = [row["cells"][own] for row in rows[:-1] if row["cells"][own]["known"]]
    assert [cell["p"] for cell in order] == sorted((cell["p"] for cell in order), reverse=True)


def test_one_lane_is_the_same_rows_as_before(blank: Page) -> None:
    step = viewed({1: 0.5, 2: 0.3, 3: 0.15, 4: 0.05}, 4, depth=4, tau=0.2, fired=True)
    rows = blank.evaluate("(s) => distribution.rows(s, {1: 'a', 2: 'b', 4: 'd'}, 2)", step)
    found = [(row["text"], row["kind"], round(row["p"], 6), round(row["q"], 6)) for row in rows]
    assert found == [
        ("a", "removed", 0.5, 0.0),
        ("b", "kept", 0.3, 0.6),
        ("d", "tail", 0.05, 0.1),
        ("everything else", "rest", 0.15, 0.3),
    ]


def test_the_page_says_whether_two_distributions_are_the_same(blank: Page) -> None:
    knobs = controls.specification()["knobs"]

    def said(a: SamplerSettings, b: SamplerSettings, parted: int, i: int) -> str:
        given = [[a.to_dict(), b.to_dict()], parted, i, knobs]
        words: str = blank.evaluate("(given) => words.sameness(...given)", given)
        return words

    plain, warm = SamplerSettings(), SamplerSettings(temperature=1.3, top_p=0.9)
    xtc = SamplerSettings(xtc=XTCSettings(rho=0.5))
    begin = "Both lanes begin at the same prompt, so the model gives both the same probabilities"
    assert said(plain, xtc, -1, 0) == f"{begin}; only the settings of XTC differ."
    same = "Both lanes have written the same text so far, so the model gives both the same "
    assert said(plain, plain, -1, 4) == f"{same}probabilities, and their settings are the same too."
    assert said(plain, xtc, 4, 4) == (
        f"{same}probabilities; only the settings of XTC differ. Here they part."
    )
    assert said(warm, xtc, 9, 4) == (
        f"{same}probabilities; what reaches XTC differs by their settings (temperature, top-p)."
    )
    differ = "The texts differ since token 5, so these are two different distributions."
    assert said(plain, xtc, 4, 5) == said(warm, xtc, 4, 90) == differ


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
    expect(page.get_by_role("button", name="This lane")).to_have_attribute("aria-pressed", "true")
    beside(page)
    heads, tags = page.locator(".bars .head"), page.locator(".bars .head-tag")
    expect(heads).to_have_text(["Baseline", "XTC"])
    expect(tags).to_have_text(["plain sampling", "ρ 0.50 · τ 0.10"])
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
    page.get_by_role("button", name="This lane").click()
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
    expect(page.locator(".bars .head-tag")).to_have_text(["plain sampling", "what if ρ 1 · τ 0.10"])
    expect(page.locator(".side .verdict").nth(1)).to_have_text("What if: XTC would fire")
    keep(page, "what-if")


def test_either_of_two_lanes_can_be_continued(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once upon", length=30)
    at = parting(page)
    chips(page, 1).nth(at).click()
    beside(page)
    page.locator(".bars .row").nth(1).click()
    forks = page.locator(".fork button")
    expect(forks).to_have_count(2)
    expect(page.get_by_test_id("fork")).to_have_text(re.compile("Continue with .* in ?BaselineXTC"))
    expect(forks.first).to_have_attribute("aria-label", re.compile("^Continue Baseline with "))
    forks.first.click()
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

    def kept(name: str) -> Path:
        page.locator(".menu summary").click()
        with page.expect_download() as coming:
            page.get_by_role("button", name=name).click()
        path = tmp_path / coming.value.suggested_filename
        coming.value.save_as(path)
        return path

    figure = kept("The bars as SVG").read_text()
    assert all(words in figure for words in (">Baseline<", ">XTC<", ">plain sampling<", ">τ 0.10<"))
    assert kept("The bars as PNG").read_bytes()[:4] == b"\x89PNG"
    replay = kept("Replay to open offline")
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
    expect(alone.locator(".bars .head")).to_have_text(["Baseline", "XTC"])
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

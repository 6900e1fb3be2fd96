"""The stories of the playground, each in a real browser."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
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
    setting,
    tokens,
)
from tests.ui.factories import decode
from xtc_viz.records import tracefile
from xtc_viz.ui import controls

Keep = Callable[..., None]


def text(page: Page, lane: int) -> str:
    return "".join(token["text"] for token in tokens(page, lane))


def test_at_first_sight_a_recorded_run_explains_itself(
    visit: Visit, fake: Server, keep: Keep
) -> None:
    page = visit(fake)
    expect(page.get_by_test_id("origin")).to_contain_text("chosen as an example")
    expect(page.locator(".lane")).to_have_count(2)
    shown = inspector(page)
    expect(shown.locator(".verdict")).to_have_text("XTC fired and changed the word")
    expect(page.get_by_test_id("sentence")).to_contain_text("Without XTC the same dice would")
    expect(page.get_by_test_id("model")).to_contain_text("fake")
    assert fake.model.open_generations == 0
    keep(page, "light")
    page.get_by_role("button", name="Light or dark").click()
    keep(page, "dark")
    run(page, "Once", length=8)
    expect(page.get_by_test_id("origin")).to_be_hidden()
    assert counts(page) == [8, 8]


def test_lanes_are_added_changed_and_removed(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    page.select_option("select.chip", label="Min-p + XTC")
    page.select_option("select.chip", label="T 1.3")
    page.locator(".lane-chips").get_by_role("button", name="Baseline").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the lane").fill("Greedy")
    dialog.locator("[data-field=temperature]").fill("0")
    keep(page, "editor")
    dialog.get_by_role("button", name="Done").click()
    run(page, "Once", length=20)
    names = page.locator(".lane h2")
    expect(names).to_have_text(["Greedy", "XTC", "Min-p + XTC", "T 1.3"])
    assert counts(page) == [20, 20, 20, 20]
    keep(page, "four")
    page.locator(".lane-chips .chip").nth(3).click()
    dialog.get_by_role("button", name="Remove this lane").click()
    run(page)
    expect(names).to_have_text(["Greedy", "XTC", "Min-p + XTC"])


def test_the_other_lane_at_the_same_place_and_the_prompts_tokens(
    visit: Visit, fake: Server
) -> None:
    page = visit(fake)
    run(page, "Once upon", length=10)
    chips(page, 1).nth(4).click()
    inspector(page)
    page.get_by_test_id("others").get_by_role("button", name="Baseline").click()
    expect(page.locator(".inspector h2")).to_contain_text("Baseline · token 5 ")
    page.get_by_label("Prompt as tokens").check()
    expect(page.locator(".lane").first.locator(".prompt .tk")).to_have_text(["Once", "·upon"])


def test_a_wrong_setting_of_a_lane_names_the_lane(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.select_option("select.chip", label="Strong")
    page.locator(".lane-chips .chip").nth(2).click()
    page.get_by_role("dialog").get_by_label("Top-p", exact=True).fill("7")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Generate", exact=True).click()
    expect(page.get_by_test_id("error")).to_have_text("Strong: Top-p must be in (0, 1], but is 7")


def test_colours_cycle_with_a_legend_and_never_by_colour_alone(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.locator("#lane-1").focus()
    legends = set()
    for _ in range(6):
        page.keyboard.press("c")
        legends.add(page.locator(".legend").inner_text())
    assert len(legends) == 6
    # A firing has a sign of its own, a changed word a dotted line.
    sign = "span => getComputedStyle(span.querySelector('.w')).backgroundImage"
    assert "gradient" in page.locator(".t.o3").first.evaluate(sign)
    assert page.locator(".lane:not(.off) .t.o0").first.evaluate(sign) == "none"
    dotted = "span => getComputedStyle(span.querySelector('.w')).textDecorationStyle"
    assert page.locator(".t.o3.changed").first.evaluate(dotted) == "dotted"


def test_step_by_step_shows_the_dice_before_the_pick(
    visit: Visit, fake: Server, keep: Keep
) -> None:
    page = visit(fake)
    setting(page, "max_new_tokens", 6)
    page.locator(".actions").get_by_role("button", name="Step").click()
    title = page.locator(".inspector h2")
    expect(title).to_contain_text("XTC · token 1 is not drawn yet")
    inspector(page)
    expect(page.locator(".coin .drop")).to_be_visible()
    expect(page.locator(".bars .row.drawn")).to_have_count(0)
    assert counts(page) == [0, 0]
    keep(page, "before")
    step = page.locator(".stepper button").first
    expect(step).to_have_text("Step: draw")
    step.click()
    assert counts(page) == [1, 1]
    expect(page.locator(".bars .row.drawn")).to_have_count(1)
    page.keyboard.press("s")
    expect(title).to_contain_text("token 2 is not drawn yet")
    page.get_by_label("Pace", exact=True).select_option("quickly")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelectorAll('#lane-1 .t').length === 6")
    # At the end all is shown, and one can begin anew from the selected step.
    expect(page.get_by_role("button", name="Show all")).to_be_hidden()
    chips(page, 1).nth(2).click()
    step.click()
    assert counts(page) == [2, 2]
    # The numbers are those of the tokens on show, not of what is still hidden.
    fired = sum(token["fired"] for token in tokens(page, 1))
    numbers = page.get_by_test_id("numbers-1")
    expect(numbers).to_contain_text("2 of 6 tokens")
    expect(numbers).to_contain_text(f"fired {fired} ")
    skipped = page.locator("#lane-1 .t.o1").count()
    expect(page.locator(".lane .more").nth(1)).to_contain_text(f"{skipped} skipped by the coin")
    page.get_by_role("button", name="Show all").click()
    assert counts(page) == [6, 6]


def test_what_if_follows_the_sliders_along_the_same_text(
    visit: Visit, fake: Server, keep: Keep
) -> None:
    page = visit(fake)
    run(page, "Once", length=60)
    before, fired = text(page, 1), page.locator("#lane-1 .t.o3").count()
    setting(page, "rho", "1")
    panel = page.get_by_test_id("what-if")
    expect(panel).to_contain_text("along this text")
    expect(panel).to_contain_text(f"it fired {fired}")
    page.wait_for_function(f"document.querySelectorAll('#lane-1 .t.o3').length > {fired}")
    assert text(page, 1) == before
    would = page.locator("#lane-1 .t.o3").count()
    lane = page.locator(".lane").nth(1)
    expect(lane.locator(".numbers")).to_contain_text(f"fired {fired} → {would} (what if)")
    expect(lane.locator(".tag").first).to_have_text("what if ρ 1 · τ 0.10")
    expect(lane.locator(".more")).to_contain_text("What if: 0 skipped by the coin")
    expect(panel.locator("b")).to_have_text(str(would))
    expect(panel).not_to_contain_text("over all coins")
    removed = page.locator("#lane-1 .t.o3")
    takes = re.compile("The text has .*, which this would have removed")
    for i in range(would):
        removed.nth(i).click()
        inspector(page)
        if takes.search(page.get_by_test_id("sentence").text_content() or ""):
            break
    expect(page.get_by_test_id("sentence")).to_have_text(takes)
    page.locator("#lane-1 .t.o3").first.click()
    expect(page.locator(".verdict")).to_have_text("What if: XTC would fire")
    # Nothing was drawn here, and nothing was removed that could be restored.
    expect(page.locator(".bar-key")).to_contain_text("▲ the text's word")
    expect(page.locator(".bars .restore").get_by_text("restore")).to_have_count(0)
    page.get_by_text("Map: how strongly").click()
    expect(page.locator(".strength .cell").first).to_be_visible()
    keep(page, "map")
    # The sentence is of the very point, the cell's own numbers are those of a hover.
    words = page.get_by_test_id("map-words")
    setting(page, "tau", "0,12")
    expect(lane.locator(".tag").first).to_have_text("what if ρ 1 · τ 0.12")
    exact = 100 * int(panel.locator("b").text_content() or "") / 60
    expect(words).to_have_text(re.compile(rf"Now, at ρ 1 and τ 0\.12: {exact:.1f} interventions"))
    page.locator(".strength .cell").nth(7).hover()
    expect(words).to_have_text(re.compile(r"There, at ρ 0 and τ 0\.10: 0\.0 interventions"))
    page.locator(".map summary").hover()
    expect(words).to_have_text(re.compile(r"Now, at ρ 1 and τ 0\.12"))
    setting(page, "tau", "0.003")
    expect(words).to_contain_text("The map begins at τ 0.01")
    expect(words).to_contain_text(re.compile("Exact, though|May be off"))
    expect(panel).to_contain_text(re.compile("Exact, though|May be off"))
    setting(page, "tau", "0.6")
    expect(words).to_contain_text("The map ends at τ 0.50")
    expect(panel).to_contain_text("XTC can never fire")
    expect(page.locator(".warnings")).to_contain_text("above τ = 0.5 XTC can never act")
    page.get_by_role("button", name="Put back").click()
    expect(panel).to_be_hidden()
    expect(page.locator("#lane-1 .t.o3")).to_have_count(fired)


def test_what_if_other_tokens_were_protected(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    run(page, "Once", length=60)
    before = text(page, 1)
    fired = page.locator("#lane-1 .t.o3").count()
    page.locator("#lane-1 .t.o3").first.click()
    inspector(page)
    word = page.locator(".bars .words.removed .label").first.text_content() or ""
    page.locator(".extras summary").click()
    page.get_by_label("Protect these too").fill(word.replace("·", " "))
    panel = page.get_by_test_id("what-if")
    expect(panel).to_contain_text("and other protected tokens would fire")
    expect(page.locator(".verdict")).to_have_text(re.compile("What if: .*protected"))
    assert page.locator("#lane-1 .t.o2").count() > 0
    assert page.locator("#lane-1 .t.o3").count() < fired
    assert text(page, 1) == before
    expect(page.get_by_test_id("protected")).to_contain_text("1 of your own")
    page.get_by_text("Map: how strongly").click()
    expect(page.locator(".strength .cell").first).to_be_visible()
    keep(page, "guarded")
    page.get_by_role("button", name="Put back").click()
    expect(panel).to_be_hidden()
    expect(page.locator("#lane-1 .t.o3")).to_have_count(fired)
    page.locator(".extras summary").click()
    expect(page.get_by_label("Protect these too")).to_have_value("")
    page.get_by_label("Protect line breaks").select_option("token")
    expect(panel).to_be_visible()


def test_stage_by_stage(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    page.select_option("select.chip", label="Min-p + XTC")
    run(page, "Once", length=20)
    chips(page, 2).nth(3).click()
    page.get_by_text("Stage by stage").click()
    heads = page.locator(".stages .head")
    expect(heads).to_have_text(["model", "Min-p", "XTC"])
    expect(page.locator(".stages .tau-text")).to_have_text([re.compile("cut"), "τ 0.10"])
    keep(page, "stages")


COLOURED = ("eligible", "removed", "kept")


def test_the_stages_have_the_colours_of_the_bars(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.select_option("select.chip", label="Min-p + XTC")
    run(page, "Once", length=40)
    kinds = """() => [...document.querySelectorAll('.stages .bar')]
      .map((bar) => bar.className.baseVal.slice(4))"""
    page.locator("#lane-2 .t.o3").first.click()
    inspector(page)
    page.get_by_text("Stage by stage").click()
    expect(page.locator(".stages .head")).to_have_text(["model", "Min-p", "XTC"])
    found = page.evaluate(kinds)
    third = len(found) // 3
    # What comes before what XTC received has no colours yet.
    assert set(found[:third]) == {""}
    rows = [
        row.strip()
        for row in page.locator(".bars .bar").evaluate_all(
            "all => all.filter((_, i) => i % 2 === 0).map((bar) => bar.className.baseVal.slice(4))"
        )
    ]
    for column in (found[third : 2 * third], found[2 * third :]):
        assert [kind for kind in column if kind] == [row for row in rows if row in COLOURED]
    assert {"removed", "kept"} <= set(rows)
    # A step at which it did not fire.
    page.locator("#lane-2 .t.o1").first.click()
    inspector(page)
    expect(page.locator(".stages .bar.eligible").first).to_be_attached()
    expect(page.locator(".stages .bar.removed")).to_have_count(0)
    page.get_by_role("button", name="Beside").click()
    expect(page.locator(".stage-by-stage summary")).to_have_text(
        re.compile("Stage by stage: Min-p")
    )


def test_the_table_shows_all_rows_and_restores(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    plain(page)
    run(page, "Once", length=60)
    page.locator("#lane-1 .t.o3").first.click()
    inspector(page)
    page.get_by_text("The same as a table").click()
    box = page.locator(".as-table .scroll")
    hidden = "box => box.scrollHeight - box.clientHeight"
    assert box.evaluate(hidden) <= 1
    restore = page.locator(".as-table").get_by_role("button", name="Restore and continue")
    expect(restore).to_have_count(page.locator(".bars .row.removed").count())
    expect(restore.first).to_have_text("restore")
    page.get_by_label("How many candidates").select_option("100")
    expect(page.locator(".as-table tbody tr")).to_have_count(101)
    assert box.evaluate(hidden) > 0
    keep(page, "table")
    restore.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".xtc[data-done='2']")
    expect(page.locator(".verdict")).to_have_text("You chose this token")


def test_a_branch_from_any_candidate_and_back(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    run(page, "Once", length=20)
    before = [text(page, lane) for lane in (0, 1)]
    chips(page, 1).nth(5).click()
    inspector(page)
    page.locator(".bars .row[role=button]").first.click()
    page.wait_for_selector(".xtc[data-done='2']")
    expect(page.locator(".lane")).to_have_count(3)
    expect(page.locator(".lane").nth(2)).to_contain_text("from XTC, token 6")
    expect(page.locator(".verdict")).to_have_text("You chose this token")
    assert text(page, 2)[:3] == before[1][:3]
    assert [text(page, lane) for lane in (0, 1)] == before
    keep(page, "branch")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator(".lane")).to_have_count(2)
    assert [text(page, lane) for lane in (0, 1)] == before


def test_what_xtc_removed_is_restored_with_one_click(
    visit: Visit, fake: Server, keep: Keep
) -> None:
    page = visit(fake)
    run(page, "Once", length=60)
    firing = page.locator("#lane-1 .t.o3").first
    at = int(firing.get_attribute("data-i") or 0)
    firing.click()
    inspector(page)
    # Something says that words can be clicked and what a click does, and nothing moves.
    said = page.locator(".fork .hint")
    expect(said).to_have_text("Click a word to continue the text with it.")
    below = "document.querySelector('.bar-key').getBoundingClientRect().y - "
    below += "document.querySelector('.bars').getBoundingClientRect().y"
    before = page.evaluate(below)
    page.locator(".bars .row.removed").first.hover()
    expect(said).to_have_text(re.compile("^Restore .* and continue with it$"))
    assert page.evaluate(below) == before
    # Drawn anew, the bars lie under the same pointer.
    page.get_by_role("button", name="log scale").dispatch_event("click")
    expect(page.get_by_role("button", name="log scale")).to_have_attribute("aria-pressed", "true")
    expect(said).to_have_text(re.compile("^Restore .* and continue with it$"))
    removed = page.locator(".bars .words.removed .label").first.text_content() or ""
    keep(page, "offer")
    page.locator(".bars .restore").get_by_text("restore").first.click()
    page.wait_for_selector(".xtc[data-done='2']")
    expect(page.locator(".lane").nth(2)).to_contain_text(f"from XTC, token {at + 1}")
    expect(page.locator(".inspector h2 .tk")).to_have_text(removed)


def test_the_line_of_tau_leaves_the_numbers_free(visit: Visit, fake: Server) -> None:
    """Light through the page: no piece of the line lies on a number."""
    overlaps = """() => {
      const cut = [...document.querySelectorAll('.bars .tau')].filter((p) => p.isConnected);
      const pieces = cut.flatMap((path) => {
        const box = path.ownerSVGElement.getBoundingClientRect();
        const found = path.getAttribute('d').matchAll(/M([\\d.]+) ([\\d.]+)V([\\d.]+)/g);
        return [...found].map(([, x, from, to]) =>
          [+x + box.left, +from + box.top, +to + box.top]);
      });
      const words = [...document.querySelectorAll('.bars .value')]
        .filter((one) => one.textContent).map((one) => one.getBoundingClientRect());
      const hits = pieces.flatMap(([x, from, to]) => words.filter((box) =>
        box.left < x && box.right > x && box.top + 3 < to && box.bottom - 3 > from));
      return [pieces.length, hits.length];
    }"""
    for width in (1440, 390):
        page = visit(fake, width=width)
        plain(page)
        run(page, "Once", length=20)
        chips(page, 1).nth(4).click()
        inspector(page)
        pieces, hits = page.evaluate(overlaps)
        assert (pieces > 1, hits) == (True, 0)
        page.get_by_role("button", name="Beside Baseline").click()
        pieces, hits = page.evaluate(overlaps)
        assert (pieces > 2, hits) == (True, 0)


def test_a_run_goes_on_and_again_with_a_new_seed(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "Once", length=10)
    before = text(page, 1)
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_selector(".xtc[data-done='2']")
    assert counts(page) == [20, 20]
    assert text(page, 1).startswith(before)
    page.get_by_role("button", name="Again with a new seed").click()
    page.wait_for_selector(".xtc[data-done='3']")
    assert not text(page, 1).startswith(before)


def test_a_trace_goes_out_and_comes_back_as_the_very_same_page(
    visit: Visit, fake: Server, tmp_path: Path
) -> None:
    page = visit(fake)
    run(page, "<b>Once</b> ${1}", length=30)
    path = keep_file(page, "Trace (JSON)", tmp_path)
    trace = tracefile.load(path)
    assert [lane.text for lane in trace.lanes] == [text(page, 0), text(page, 1)]
    table = keep_file(page, "Steps as a table (CSV)", tmp_path)
    assert table.read_text().startswith("lane,rho,tau,settings,seed,model,prompt,")
    figure = save_figure(page, "Bars", "svg", tmp_path).read_text()
    # It says what it shows to those who meet it elsewhere.
    word = str(page.locator(".inspector h2 .tk").text_content()).strip("·")
    captions = ("τ 0.10", f": {word}<", "“&lt;b&gt;Once&lt;/b&gt; ${1}”", "XTC: ρ 0.50 · τ 0.10")
    legend = (">▲ drawn<", "Model fake · seed ")
    assert [words for words in (*captions, *legend) if words not in figure] == []
    assert "restore" not in figure

    tracefile.save(trace, tmp_path / "packed.json.gz")
    other = visit(fake)
    other.set_input_files("input[type=file]", tmp_path / "packed.json.gz")
    expect(other.get_by_test_id("origin")).to_have_text("From the file packed.json.gz.")
    inspector(other)
    for selector in (".lanes", ".inspector .said", ".bars"):
        same = "s => document.querySelector(s).textContent"
        assert other.evaluate(same, selector) == page.evaluate(same, selector)
    other.set_input_files("input[type=file]", table)
    expect(other.get_by_test_id("error")).not_to_be_empty()
    other.set_input_files("input[type=file]", path)
    expect(other.get_by_test_id("error")).to_be_empty()


def test_the_replay_opens_offline(
    visit: Visit, fake: Server, browser: Browser, tmp_path: Path, keep: Keep
) -> None:
    page = visit(fake)
    run(page, "<img src=x onerror=alert(1)>", length=80)
    path = keep_file(page, "Replay to open offline", tmp_path)
    written = text(page, 1)
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 900})
    alone = context.new_page()
    problems: list[str] = []
    alone.on("pageerror", lambda error: problems.append(str(error)))
    alone.on("dialog", lambda dialog: problems.append(dialog.message))
    alone.goto(f"file://{path}")
    assert text(alone, 1) == written
    today = datetime.now(UTC).date().isoformat()
    expect(alone.get_by_test_id("model")).to_have_text(
        re.compile(rf"^fake · seed \d+ · kept on {today}$")
    )
    # Nothing can be continued without a model, and nothing says so.
    expect(alone.get_by_test_id("fork")).to_be_hidden()
    expect(alone.locator(".bars .restore").get_by_text("restore")).to_have_count(0)
    expect(alone.locator(".bars [role=button]")).to_have_count(0)
    chips(alone, 1).nth(70).click()
    inspector(alone)
    expect(alone.locator(".inspector h2")).to_contain_text("token 71")
    alone.keyboard.press("Home")
    expect(alone.locator(".inspector h2")).to_contain_text("token 1 ")
    keep(alone, "replay")
    assert problems == []
    context.close()


def test_a_link_reproduces_settings_prompt_seed_and_step(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    setting(page, "rho", "0.8")
    setting(page, "seed", "11")
    run(page, "Ünïcödé 猫", length=25)
    chips(page, 1).nth(7).click()
    page.get_by_role("button", name="Copy a link to this run").click()
    page.wait_for_function("location.hash.startsWith('#run=')")
    link = page.evaluate("location.hash")
    other = visit(fake, link=link)
    other.wait_for_selector(".xtc[data-done='1']")
    assert text(other, 1) == text(page, 1)
    expect(other.locator("#prompt")).to_have_value("Ünïcödé 猫")
    expect(other.locator(".inspector h2")).to_contain_text("XTC · token 8 ")


def test_a_link_of_before_still_protects_the_line_breaks_or_none(
    visit: Visit, fake: Server
) -> None:
    settings = controls.specification()["settings"] | {"max_new_tokens": 5}
    for newline, choice in ((True, "all"), (False, "none"), ("token", "token")):
        protect = {"eos": True, "newline": newline, "texts": [" Lily"]}
        draft = {"prompt": "Once", "chat": False, "system": "", "settings": settings}
        data = json.dumps({"v": 1, "draft": draft | {"protect": protect}}).encode()
        link = "#run=" + base64.urlsafe_b64encode(data).decode().rstrip("=")
        page = visit(fake, link=link)
        page.wait_for_selector(".xtc[data-done='1']")
        page.locator(".extras summary").click()
        expect(page.get_by_label("Protect line breaks")).to_have_value(choice)
        expect(page.get_by_label("Protect these too")).to_have_value(" Lily")


def test_of_another_models_trace_it_is_said_what_cannot_be_known(
    visit: Visit, fake: Server, tmp_path: Path
) -> None:
    trace, _ = decode(length=60)
    elsewhere = replace(trace, model=replace(trace.model, name="another"))
    tracefile.save(elsewhere, tmp_path / "other.json")
    page = visit(fake)
    page.set_input_files("input[type=file]", tmp_path / "other.json")
    expect(page.get_by_test_id("origin")).to_have_text("From the file other.json.")
    page.locator(".extras summary").click()
    # Nothing was protected, and so the page says.
    expect(page.get_by_label("Protect the end of the text")).not_to_be_checked()
    expect(page.get_by_label("Protect line breaks")).to_have_value("none")
    page.get_by_label("Protect these too").fill(" theatre")
    panel = page.get_by_test_id("what-if")
    expect(panel).to_contain_text("Left out: ·theatre, whose first token only the model")


def test_chat_protected_tokens_and_stop_texts(visit: Visit, fake: Server, keep: Keep) -> None:
    page = visit(fake)
    page.locator(".extras summary").click()
    page.get_by_label("Chat template").check()
    page.get_by_label("System").fill("Be brief")
    page.get_by_label("Protect these too").fill(" Lily\n dragons")
    expect(page.locator(".becomes li")).to_have_text(
        [re.compile("end.*↵"), "·Lily", re.compile("·dragons.*only the first is protected")]
    )
    page.get_by_label("Protect line breaks").select_option("none")
    expect(page.get_by_test_id("protected")).to_have_text(
        "3 tokens of fake are protected: 1 that ends the text, 2 of your own."
    )
    page.get_by_label("Stop at").fill("the")
    keep(page, "extras")
    run(page, "Tell me", length=300)
    assert text(page, 0).count("the") == 1
    expect(page.get_by_test_id("numbers-0")).to_contain_text("stop text")


def test_without_shared_dice_the_page_does_not_speak_of_them(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    dice = page.get_by_test_id("dice")
    expect(dice).to_contain_text("One prompt, one set of dice")
    page.locator(".extras summary").click()
    page.get_by_label("Shared dice").uncheck()
    setting(page, "seed", "3")
    run(page, "Once", length=12)
    expect(dice).to_contain_text("each lane has dice of its own")
    expect(dice).to_be_visible()
    first = [lane[0]["text"] for lane in (tokens(page, 0), tokens(page, 1))]
    assert first[0] != first[1]
    expect(page.locator(".split")).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(dice).to_contain_text("One prompt, one set of dice")


def test_helpful_words_for_code_and_structure(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    page.fill("#prompt", "def add(a, b):\n    return")
    expect(page.locator(".warnings")).to_contain_text("ρ of at most 0.15")
    page.fill("#prompt", 'Extract the names as JSON: {"names":')
    expect(page.locator(".warnings")).to_contain_text("ρ of at most 0.20")
    page.fill("#prompt", "Once upon a time")
    expect(page.locator(".warnings")).to_be_empty()


def test_reduced_motion_is_respected(visit: Visit, fake: Server) -> None:
    page = visit(fake, width=390, height=844, reduced_motion="reduce")
    assert page.locator(".lanes").evaluate("box => getComputedStyle(box).scrollBehavior") == "auto"

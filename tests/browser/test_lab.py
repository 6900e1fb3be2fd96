"""The laboratory's route: a run, its numbers and figure, its texts in the inspector, and visitors
who go first."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, Visit, serve
from tests.browser.driver import generate, inspector, tokens, writing
from tests.browser.test_accessibility import LOOKS, violations
from xtc_viz.lab.experiment import Experiment
from xtc_viz.lab.tomlfile import dumps
from xtc_viz.models.fake import FakeModel
from xtc_viz.models.host import ModelHost
from xtc_viz.settings import LaneSettings, SamplerSettings, XTCSettings
from xtc_viz.ui.access import OpenTo
from xtc_viz.ui.lab.questions import Lab

MINE = Experiment(
    "mine",
    "story",
    (
        LaneSettings("baseline"),
        LaneSettings("<b>XTC</b>", SamplerSettings(xtc=XTCSettings(0.5, 0.1))),
    ),
    "Does it help?",
    samples=2,
    length=24,
    prompts=8,
)
TOTAL = 32
WITHIN = """nodes => nodes.map((node) => {
  const box = node.getBoundingClientRect(); return [box.left, box.right, innerWidth]; })"""
PATIENT = 180_000  # milliseconds: numbers come from a process that lets all others go first


class Bench(Server):
    """A page with a laboratory."""

    lab: Lab


@pytest.fixture(scope="module")
def bench_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    model = FakeModel()
    host = ModelHost(model)
    lab = Lab.at(host, tmp_path_factory.mktemp("lab") / "lab.sqlite", OpenTo.OWN)
    for server in serve(model, host, lab=lab):
        bench = Bench(server.url, server.host, server.model)
        bench.lab = lab
        yield bench
    lab.laboratory.stop()
    lab.laboratory.join(60)
    lab.numbers.close()


@pytest.fixture
def bench(bench_server: Bench) -> Iterator[Bench]:
    """The page on the fake model; no run goes on into the next test."""
    yield bench_server
    bench_server.model.delay = 0.0
    bench_server.lab.laboratory.stop()
    bench_server.lab.laboratory.join(60)


def open_lab(visit: Visit, server: Server, width: int = 1440, **more: Any) -> Page:
    page = visit(server, width, link="lab", ready=".lab .experiment", **more)
    expect(page.get_by_test_id("forecast")).not_to_be_empty()
    return page


def choose(page: Page, tmp_path: Path, **changes: Any) -> None:
    """Open an experiment of one's own; `changes` make its texts others."""
    path = tmp_path / "mine.toml"
    values = MINE.to_dict() | changes
    path.write_text(dumps(Experiment.from_dict(values)), encoding="utf-8")
    page.get_by_label("Open an experiment").set_input_files(path)
    page.get_by_role("button", name="Full").click()
    expect(page.locator(".size")).to_contain_text(f"{TOTAL} texts")


def start(page: Page) -> None:
    page.get_by_role("button", name="Start").click()


def phase(page: Page, name: str, timeout: float = PATIENT) -> None:
    expect(page.locator(".going")).to_have_attribute("data-phase", name, timeout=timeout)


def test_from_a_question_to_the_decision_behind_a_word(
    visit: Visit, bench: Bench, tmp_path: Path
) -> None:
    page = open_lab(visit, bench)
    choose(page, tmp_path)
    expect(page.get_by_test_id("forecast")).to_contain_text("tokens/s")
    bench.model.delay = 0.3
    start(page)
    phase(page, "writing")
    expect(page.get_by_test_id("going")).to_contain_text(f"of {TOTAL} texts")
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    expect(page.get_by_test_id("shown")).to_have_text("Does it help?", timeout=PATIENT)
    bench.model.delay = 0.0
    phase(page, "done")
    table = page.get_by_test_id("numbers")
    expect(table.locator("tbody th")).to_have_text(["baseline", "<b>XTC</b>"], timeout=PATIENT)
    expect(page.get_by_test_id("about")).to_contain_text("8 prompts", timeout=PATIENT)
    page.wait_for_selector("#xtc-lab-figure .js-plotly-plot .barlayer", timeout=PATIENT)
    expect(page.get_by_test_id("sentence")).to_contain_text("8 prompts", timeout=PATIENT)
    with page.expect_download(timeout=PATIENT) as coming_file:
        page.get_by_role("button", name="Save the report").click()
    assert "Does it help?" in Path(coming_file.value.path()).read_text(encoding="utf-8")
    table.get_by_role("button", name="Distinct-2 of <b>XTC</b>").click()
    expect(page.get_by_test_id("said")).to_contain_text("Against baseline", timeout=PATIENT)
    expect(page.locator(".by-prompt button")).to_have_count(8)
    expect(page.locator(".sample")).to_have_count(4)
    text = page.locator(".sample .lab-words").nth(1).inner_text()
    with page.context.expect_page() as coming:
        page.locator(".both a").first.click()
    inside = coming.value
    inspector(inside)
    assert "".join(t["text"] for t in tokens(inside, 1)).split()[:3] == text.split()[:3]
    expect(inside.get_by_test_id("origin")).to_have_text("Two texts of the laboratory.")
    assert "#" not in inside.url
    # Loaded anew, it is still there.
    inside.reload()
    expect(inside.get_by_test_id("origin")).to_have_text("Two texts of the laboratory.")


def test_stop_go_on_and_a_second_window(visit: Visit, bench: Bench, tmp_path: Path) -> None:
    page = open_lab(visit, bench)
    choose(page, tmp_path, seeds=[8])
    bench.model.delay = 0.5
    start(page)
    phase(page, "writing")
    other = open_lab(visit, bench)
    phase(other, "writing")
    other.get_by_role("button", name="Stop").click()
    phase(other, "stopped")
    phase(page, "stopped")
    expect(page.get_by_test_id("going")).to_contain_text("What was written is stored")
    bench.model.delay = 0.0
    page.locator(".going").get_by_role("button", name="Go on").click()
    phase(page, "done")
    phase(other, "done")
    expect(page.locator(".runs li").first).to_contain_text(f"{TOTAL} texts of 24 tokens")


def test_two_runs_side_by_side(visit: Visit, bench: Bench, tmp_path: Path) -> None:
    page = open_lab(visit, bench)
    picks = page.locator(".runs input")
    before = picks.count()
    for more, seed in enumerate((21, 22), 1):
        choose(page, tmp_path, seeds=[seed])
        expect(page.get_by_test_id("forecast")).to_contain_text("About")
        start(page)
        # Of the run before it is said that it is done, too.
        expect(picks).to_have_count(before + more, timeout=PATIENT)
        phase(page, "done")
        expect(page.get_by_role("button", name="Start")).to_be_disabled()
    for pick in picks.all()[:2]:
        pick.check()
    page.get_by_role("button", name="Compare these two").click()
    expect(page.get_by_test_id("comparison").or_(page.locator(".two .problem"))).to_be_visible(
        timeout=PATIENT
    )


def test_visitors_go_first(visit: Visit, bench: Bench, tmp_path: Path) -> None:
    page = open_lab(visit, bench)
    choose(page, tmp_path, seeds=[9])
    visitor = visit(bench)
    bench.model.delay = 0.3
    start(page)
    phase(page, "writing")
    asked = time.monotonic()
    generate(visitor, "Once upon", length=100)
    writing(visitor)
    assert time.monotonic() - asked < 6, "a second or so, on a noisy machine"
    phase(page, "paused")
    visitor.keyboard.press("Escape")
    phase(page, "writing")


def test_a_file_that_cannot_be_is_named_with_its_place(
    visit: Visit, bench: Bench, tmp_path: Path
) -> None:
    page = open_lab(visit, bench)
    bad = tmp_path / "bad.toml"
    bad.write_text(dumps(MINE).replace("rho = 0.5", "rho = 7"), encoding="utf-8")
    page.get_by_label("Open an experiment").set_input_files(bad)
    expect(page.get_by_test_id("problem")).to_have_text(
        "`bad.toml: condition 2: rho` must be in [0, 1], but is 7"
    )
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    page.get_by_role("button", name="Take bad.toml away").click()
    expect(page.get_by_test_id("problem")).to_be_empty()
    lines = tmp_path / "mine.jsonl"
    lines.write_text('{"id": "a"\n', encoding="utf-8")
    page.get_by_label("Open an experiment").set_input_files(lines)
    expect(page.get_by_test_id("problem")).to_contain_text("mine.jsonl, line 1: it is no JSON")


def test_there_and_back_what_was_typed_stays(visit: Visit, bench: Bench) -> None:
    page = visit(bench)
    page.fill("#prompt", "A prompt of my own")
    page.get_by_role("link", name="Lab").click()
    page.wait_for_selector(".lab .experiment")
    assert page.locator(".nav-holder").is_visible() is False
    page.get_by_role("link", name="Back to the page").click()
    page.wait_for_selector(".xtc .composer")
    expect(page.locator("#prompt")).to_have_value("A prompt of my own")


def test_without_a_laboratory_there_is_no_link_and_no_route(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    expect(page.get_by_role("link", name="Lab")).to_have_count(0)
    assert page.request.get(f"{fake.url}lab").status == 404


def test_a_stored_text_that_is_gone_is_said(visit: Visit, bench: Bench) -> None:
    page = visit(bench, link="#cell=00ff")
    expect(page.get_by_test_id("error")).to_contain_text("No cell's name begins with '00ff'")


@pytest.mark.parametrize(("dark", "width"), LOOKS)
def test_axe_finds_nothing(
    visit: Visit, bench: Bench, tmp_path: Path, dark: bool, width: int
) -> None:
    scheme = "dark" if dark else "light"
    page = open_lab(visit, bench, width, color_scheme=scheme, reduced_motion="reduce")
    page.evaluate("(dark) => document.body.classList.toggle('dark', dark)", dark)
    assert violations(page) == []
    choose(page, tmp_path)
    if page.get_by_role("button", name="Start").is_enabled():
        start(page)
        phase(page, "done")
    # Of those before it some were stopped, and may have no numbers.
    whole = re.compile(rf"(?<!of ){TOTAL} texts")
    row = page.locator(".runs li", has_text="mine").filter(has_text=whole).first
    row.locator(".look").click()
    numbers = page.get_by_test_id("numbers")
    expect(numbers).to_be_visible(timeout=PATIENT)
    numbers.get_by_role("button", name="Distinct-2 of <b>XTC</b>").click()
    expect(page.locator(".sample").first).to_be_visible(timeout=PATIENT)
    page.wait_for_selector("#xtc-lab-figure .js-plotly-plot", timeout=PATIENT)
    page.get_by_role("button", name="All metrics").first.click()
    assert violations(page) == []
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0
    figure = page.locator("#xtc-lab-figure")
    # Titles of its panels, of which those of a phone stand below each other.
    figure.locator(".annotation-text").nth(1).wait_for()
    titles = figure.locator(".annotation-text").evaluate_all(WITHIN)
    assert all(0 <= left < right <= width for left, right, width in titles)
    assert len({left for left, *_ in titles}) == 1 or width > 640
    plot = page.locator(".lab .plot")
    assert plot.evaluate("node => node.scrollWidth <= node.clientWidth")

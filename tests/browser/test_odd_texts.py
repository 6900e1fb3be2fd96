"""Odd texts and odd links, as the page shows them."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.attacks.values import request
from tests.browser.conftest import Server, Visit
from tests.browser.driver import counts, run
from tests.ui.factories import decode
from xtc_viz.records import tracefile

PLAIN = [" the", " fox", " \u202ered", " ran", "\u2067", " and", " ran", " home"]
PLACES = """lane => [...document.querySelectorAll(`#lane-${lane} .t`)].map(span => {
  const { left, top } = span.querySelector(".w").getBoundingClientRect();
  return [left, Math.round(top / 20)]; })"""


def shown(page: Page, texts: list[str], folder: Path) -> list[float]:
    """Open a trace whose tokens have these texts, and return where each begins on its line."""
    trace, _ = decode(length=len(texts))
    lanes = tuple(
        replace(lane, steps=tuple(map(_renamed, lane.steps, texts))) for lane in trace.lanes
    )
    tracefile.save(replace(trace, lanes=lanes), folder / "odd.json")
    page.set_input_files("input[type=file]", folder / "odd.json")
    expect(page.get_by_test_id("origin")).to_have_text("From the file odd.json.")
    places: list[list[float]] = page.evaluate(PLACES, 0)
    return [left for left, _ in places]


def _renamed(step: Any, text: str) -> Any:
    return replace(step, text=text)


def test_a_mark_that_turns_the_direction_ends_with_its_token(
    visit: Visit, fake: Server, tmp_path: Path
) -> None:
    page = visit(fake)
    places = shown(page, PLAIN, tmp_path)
    visible = [left for left, text in zip(places, PLAIN, strict=True) if text.strip("\u2067")]
    assert visible == sorted(visible)


@pytest.mark.parametrize("words", [[" שלום", " עולם", " יפה"], [" مرحبا", " بالعالم", " الجميل"]])
def test_what_is_written_from_the_right_runs_on_across_tokens(
    visit: Visit, fake: Server, tmp_path: Path, words: list[str]
) -> None:
    page = visit(fake)
    first, *places = shown(page, ["\n", *words, "."], tmp_path)
    assert places == sorted(places, reverse=True)
    assert places[0] > first, "its paragraph begins at the right"


# Without the time of day, so that each process of a run has tests of the same names.
CUT = gzip.compress(b"{}" * 500, mtime=0)[:-12]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("cut.json.gz", CUT, "cut.json.gz is broken or cut short"),
        ("big.json.gz", gzip.compress(bytes(60_000_000)), "big.json.gz is too large"),
        ("picture.json", b"\x89PNG\r\n\x1a\n", "is no text"),
        ("table.json", b"a,b\n1,2\n", "table.json is no trace, but another kind of file"),
    ],
)
def test_a_file_that_is_no_trace_is_called_what_it_is(
    visit: Visit, fake: Server, tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    page = visit(fake)
    page.set_input_files("input[type=file]", tmp_path / name)
    expect(page.get_by_test_id("error")).to_contain_text(words)


def test_a_broken_link_says_so_and_the_page_writes_all_the_same(visit: Visit, fake: Server) -> None:
    page = visit(fake, link="#run=garbage")
    expect(page.get_by_test_id("error")).to_have_text("This link is broken or cut short.")
    page.get_by_role("button", name="Generate", exact=True).click()
    expect(page.locator(".xtc")).to_have_attribute("data-done", "1")
    expect(page.get_by_test_id("error")).to_be_empty()


def test_a_link_with_values_that_cannot_be_names_them_and_runs_when_asked(
    visit: Visit, fake: Server
) -> None:
    draft = {name: value for name, value in request().items() if name not in ("kind", "req")}
    draft["settings"]["lanes"][1]["sampler"]["xtc"]["tau"] = 5
    draft["settings"]["seed"] = "\u202eseven"
    data = json.dumps({"v": 1, "draft": draft}).encode()
    page = visit(fake, link=f"#run={base64.urlsafe_b64encode(data).decode().rstrip('=')}")
    expect(page.get_by_test_id("error")).to_contain_text("Lane 2: τ floor must be in (0, 1)")
    expect(page.get_by_test_id("error")).to_contain_text("but is “\ufffdseven”")
    expect(page.locator("#prompt")).to_have_value("Once")
    page.get_by_role("button", name="Generate", exact=True).click()
    expect(page.locator(".xtc")).to_have_attribute("data-done", "1")
    expect(page.get_by_test_id("error")).to_be_empty()


def test_a_link_that_is_opened_in_the_same_tab_is_followed(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    run(page, "The bear", length=5)
    page.get_by_role("button", name="Copy a link").click()
    link = page.evaluate("location.hash")
    run(page, "Once", length=7)
    page.evaluate("location.hash = '#run=garbage'")
    expect(page.get_by_test_id("error")).to_have_text("This link is broken or cut short.")
    assert counts(page)[0] == 7
    page.evaluate(f"location.hash = '{link}'")
    expect(page.locator("#prompt")).to_have_value("The bear")
    expect(page.locator("#lane-0 .t")).to_have_count(5)


def test_a_prompt_is_written_from_its_own_side(visit: Visit, fake: Server) -> None:
    page = visit(fake)
    for prompt, side in (("Once", "ltr"), ("كان يا ما كان", "rtl")):
        page.fill("#prompt", prompt)
        expect(page.locator("#prompt")).to_have_css("direction", side)

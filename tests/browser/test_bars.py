"""What the bars are drawn from, in an empty page that knows the pure modules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from xtc_viz.ui import web


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    for name in ("dom", "cutline", "barviews", "words"):
        script = f"(() => {{ {web.script(name)}\nwindow.{name} = module_{name}; }})()"
        page.add_script_tag(content=script)
    yield page
    page.close()


def test_small_probabilities_keep_two_digits_where_there_is_room(blank: Page) -> None:
    probs = [0.412, 0.0321, 0.00042, 1e-5, 1.23e-6, 9.6e-7, 1e-9, 0]
    found = blank.evaluate("(all) => all.map((p) => dom.percent(p, 1e-4))", probs)
    assert found == [
        *("41 %", "3.2 %", "0.042 %", "0.001 %", "0.00012 %", "0.000096 %", "< 0.0001 %", "0 %"),
    ]
    found = blank.evaluate("(all) => all.map((p) => dom.percent(p))", probs)
    assert found[2:5] == ["0.042 %", "< 0.01 %", "< 0.01 %"]


def test_a_cut_line_by_hand(blank: Page) -> None:
    gaps = [[10, 20], [15, 30], [50, 70]]
    assert blank.evaluate("(gaps) => cutline.cutLine(5, 0, 60, gaps)", gaps) == "M5 0V10M5 30V50"
    assert blank.evaluate("cutline.cutLine(5, 0, 60, [])") == "M5 0V60"
    assert blank.evaluate("cutline.cutLine(5, 0, 60, [[-5, 99]])") == ""


spans = st.lists(st.tuples(st.integers(-20, 120), st.integers(0, 40)), max_size=8)


@settings(max_examples=60, deadline=None)
@given(spans)
def test_a_cut_line_covers_just_what_is_no_gap(blank: Page, given: list[tuple[int, int]]) -> None:
    gaps = sorted([start, start + length] for start, length in given)
    path = blank.evaluate("(gaps) => cutline.cutLine(5, 0, 100, gaps)", gaps)
    drawn = {
        y for start, end in re.findall(r"M5 (\d+)V(\d+)", path) for y in range(int(start), int(end))
    }
    gone = {y for start, end in gaps for y in range(start, end)}
    assert drawn == set(range(100)) - gone


def cell(kind: str, p: float, q: float, **more: Any) -> dict[str, Any]:
    return {"id": 1, "text": "a", "kind": kind, "p": p, "q": q, "known": True, **more}


def test_only_what_was_removed_can_be_restored(blank: Page) -> None:
    rows = [cell("removed", 0.5, 0), cell("kept", 0.3, 0.6), cell("tail", 1e-5, 2e-5)]
    draw = "([rows, open]) => barviews.beforeAndAfter({tau: 0.1}, rows, open).list"
    for open_, restore in ((True, [True, False, False]), (False, [False] * 3)):
        found = blank.evaluate(draw, [rows, open_])
        assert [row["cells"][1]["restore"] for row in found] == restore
        assert [row["cells"][1]["value"] for row in found] == ["removed", "60 %", "0.002 %"]
    pair = """([rows, open]) => barviews.sideBySide([{title: 'A', open: false}, {title: 'B', open}],
      rows.map((row) => ({...row, cells: [row, row]}))).list[0].cells"""
    left, right = blank.evaluate(pair, [rows, True])
    assert (left["gone"], left["value"], left["restore"]) == ("50 %", " removed", False)
    assert (right["gone"], right["value"], right["restore"]) == ("50 %", "", True)


def test_the_drawn_sign_of_a_what_if_is_the_texts_word(blank: Page) -> None:
    state = "([cell, imagined]) => words.state(cell, imagined)"
    drawn = cell("removed", 0.5, 0, drawn=True)
    assert blank.evaluate(state, [drawn, False]) == "removed, drawn"
    assert blank.evaluate(state, [drawn, True]) == "removed, the text's word"


def test_a_caption_says_which_word_after_what(blank: Page) -> None:
    look = {"at": {"i": 4}, "name": "XTC", "tag": "ρ 0.50", "word": " cat", "pending": False}
    said = "([prompt, looks]) => words.caption(prompt, looks)"
    assert blank.evaluate(said, ["Once\n upon", [look]]) == [
        "“Once upon” … token 5: ·cat",
        "XTC: ρ 0.50",
    ]
    first = look | {"at": {"i": 0}, "name": "Baseline", "word": " dog"}
    assert blank.evaluate(said, ["x" * 99, [first, look]]) == [
        f"“{'x' * 59}…” token 1: ·dog (Baseline), ·cat (XTC)"
    ]
    assert blank.evaluate(said, ["a", [look | {"pending": True}]])[0].endswith("not drawn yet")

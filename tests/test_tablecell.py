"""Texts as cells: every one comes back, and none begins a formula for any reader."""

from __future__ import annotations

import csv
import io
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from xtc_viz.tablecell import cell, text_of

NASTY = " =+-@;,|\t\n\r\\\"'\u2028\u202e\ufeff\x00＝－\u2212\ud800nu0x"
texts = st.text(st.sampled_from(NASTY), max_size=12) | st.text(max_size=20)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" the", " the"),
        ("naïve 🐉 مرحبا", "naïve 🐉 مرحبا"),
        ("a - b = c", "a - b = c"),
        ("=1+1", r"\=1+1"),
        ("  -2", r"  \-2"),
        ("\r=1", r"\r\=1"),
        ("a;=1", r"a;\=1"),
        ('a;"=1', r'a;"\=1'),
        ("\u202e＝1", r"\u202e\＝1"),
        ("C:\\n", r"C:\\n"),
        ("\ud800", r"\ud800"),
    ],
)
def test_texts_by_hand(text: str, shown: str) -> None:
    assert cell(text) == shown
    assert text_of(shown) == text


@given(texts)
@example("\\\n=")
@example("\U000e0041@")
def test_every_text_comes_back_and_can_be_sent(text: str) -> None:
    shown = cell(text)
    assert text_of(shown) == text
    shown.encode()
    assert not set(shown) & set("\n\r\t\x00\x0b\x0c\x85\u2028\u2029\u202e")


@given(st.lists(texts, min_size=1, max_size=4), st.sampled_from(",;|"))
def test_no_reader_finds_a_formula_or_another_row(row: list[str], separator: str) -> None:
    """With our separator there are the cells that were written; with another, as where numbers
    have a comma, there are other cells, but none of them begins a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerows([list(map(cell, row))] * 2)
    assert out.getvalue().count("\n") == 2
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        lines = io.StringIO(out.getvalue(), newline="")
        read = list(csv.reader(lines, delimiter=separator, quoting=quoting))
        if (separator, quoting) == (",", csv.QUOTE_MINIMAL):
            assert [[text_of(each) for each in cells] for cells in read] == [row, row]
        for each in (each for cells in read for each in cells):
            begin = each.strip().strip("\"'").strip()[:1]
            assert unicodedata.normalize("NFKC", begin)[:1] not in {*"=+-@\u2212"}

"""Token text in figures: visible white space, and never markup."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.figures.labels import LONGEST, percent, setting, token


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" girl", "·girl"),
        ("girl", "girl"),
        ("a b ", "a b·"),
        ("   ", "···"),
        ("\n", "↵"),
        (" \n\n", "·↵↵"),
        ("\tx", "⇥x"),
        ("", "∅"),
        ("\u200b", "∅"),
        ("<b>bold</b>", "&lt;b&gt;bold&lt;/b&gt;"),
        ("&lt;", "&amp;lt;"),
        (" " + "x" * 40, "·" + "x" * (LONGEST - 2) + "…"),
    ],
)
def test_tokens(text: str, shown: str) -> None:
    assert token(text) == shown


@given(st.text())
def test_no_token_text_is_markup(text: str) -> None:
    shown = token(text)
    assert "<" not in shown
    assert ">" not in shown
    assert 1 <= len(html.unescape(shown)) <= LONGEST
    assert html.unescape(shown).isprintable()


def test_numbers() -> None:
    assert [percent(p) for p in (0, 1, 0.414, 0.032, 4e-4, 1e-6)] == [
        *(
            "0\u00a0%",
            "100\u00a0%",
            "41\u00a0%",
            "3.2\u00a0%",
            "0.04\u00a0%",
            "under\u00a00.01\u00a0%",
        )
    ]
    assert [setting(v) for v in (0.1, 0.125, 0.005, 1)] == ["0.10", "0.125", "0.005", "1.00"]

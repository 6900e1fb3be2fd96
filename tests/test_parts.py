"""Sentences as parts: how tokens are listed, and that no text follows a text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.parts import NAMED, Part, joined, listed


def read(parts: list[Part]) -> str:
    return "".join(part if isinstance(part, str) else f"«{part}»" for part in parts)


def test_long_lists_are_cut_and_say_so() -> None:
    assert read(listed([1, 2, 3, 4, 5, 6])) == "«1», «2», «3», «4» and 2 more"
    assert read(listed([1, 2, 3, 4])) == "«1», «2», «3» and «4»"
    assert read(listed([1])) == "«1»"
    assert listed([]) == []


@given(st.lists(st.integers(0, 9)))
def test_no_token_is_lost_or_named_twice(tokens: list[int]) -> None:
    named = [part for part in listed(tokens) if isinstance(part, int)]
    assert named == tokens[:NAMED]


@given(st.lists(st.integers(0, 9) | st.text()))
def test_joined_says_the_same_and_no_text_follows_a_text(parts: list[Part]) -> None:
    sentence = list(joined(parts))
    assert read(sentence) == read(parts)
    kinds = [type(part) for part in sentence]
    assert (str, str) not in pairwise(kinds)

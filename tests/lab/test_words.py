"""Words, and n-gram counts against Python's own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.samples import ANYTHING
from xtc_viz.lab.ngrams import ngram_counts
from xtc_viz.lab.words import spoken, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"It\'s Tom’s cat," he said.', ['"', "it's", "tom’s", "cat", ",", '"', "he", "said", "."]),
        ("don't stop - well-known...", ["don't", "stop", "-", "well", "-", "known", ".", ".", "."]),
        ("'tis the cats'", ["'", "tis", "the", "cats", "'"]),
        ("Über 3.5 €", ["über", "3", ".", "5", "€"]),
        ("我是猫。", ["我", "是", "猫", "。"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("a\u2014b\u2026", ["a", "\u2014", "b", "\u2026"]),
        (" \n\t", []),
        ("", []),
    ],
)  # fmt: skip
def test_by_hand(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(ANYTHING)
def test_words_lose_nothing_but_space(text: str) -> None:
    assert "".join(words(text)) == "".join(text.lower().split())


def test_words_as_people_count_them() -> None:
    expected = ["don't", "stop", "a", "well-known", "café"]
    assert spoken("Don't stop - a well-known “Café”!") == expected
    assert spoken(" - … ") == []


def test_counts_by_hand() -> None:
    one, two, three = ngram_counts([[0, 1, 0, 1], [], [1]], 3)
    assert one.tolist() == [[2, 2], [0, 0], [0, 1]]
    assert two.tolist() == [[2, 1], [0, 0], [0, 0]]
    assert three.tolist() == [[1, 1], [0, 0], [0, 0]]


@given(st.lists(st.lists(st.integers(0, 3), max_size=12), max_size=5))
def test_counts_are_those_of_a_counter(texts: list[list[int]]) -> None:
    for n, table in enumerate(ngram_counts(texts, 4), 1):
        counters = [Counter(tuple(t[i : i + n]) for i in range(len(t) - n + 1)) for t in texts]
        grams = sorted(set().union(*counters))
        expected = [[counter[gram] for gram in grams] for counter in counters]
        assert table.shape == (len(texts), len(grams))
        assert np.array_equal(table, np.array(expected, dtype=int).reshape(table.shape))

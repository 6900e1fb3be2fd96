"""What a request may ask for, and what is said to one that asks for something else."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.errors import SettingsError
from xtc_viz.plugins.vllm.parameters import NUMBERS, Parameters, parameters

ENDS = frozenset({2, 3})


def test_a_worked_example() -> None:
    asked = {"xtc_probability": 0.5, "xtc_threshold": 0.05, "xtc_seed": 9, "xtc_protected": [13]}
    assert parameters(asked, 1.0, ENDS) == Parameters(0.5, 0.05, 9, frozenset({2, 3, 13}))
    assert parameters({"xtc_threshold": 0.2}, 1.0) == Parameters(0.5, 0.2), "the page's default"
    assert parameters({"xtc_protected": 5, "xtc_protect_ends": 0}, 1.0, ENDS) == Parameters(
        0.5, 0.1, protected=frozenset({5})
    )


def test_a_request_without_xtc_is_left_alone() -> None:
    assert parameters(None, 0.0) is None
    assert parameters({"other_plugin": "x"}, 0.0) is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"xtc_probability": 3}, "`xtc_probability` must be in [0, 1], but is 3"),
        ({"xtc_probability": "0.5"}, "`xtc_probability` must be in [0, 1], but is '0.5'"),
        ({"xtc_threshold": 0}, "`xtc_threshold` must be in (0, 1), but is 0"),
        ({"xtc_threshold": math.nan}, "`xtc_threshold` must be in (0, 1), but is nan"),
        ({"xtc_seed": -1}, "`xtc_seed`"),
        ({"xtc_treshold": 0.1}, "`vllm_xargs` must be of xtc_probability"),
        ({"xtc_protected": ["a"]}, "`xtc_protected` must be up to 256 token ids, but is ['a']"),
        ({"xtc_protected": [True]}, "`xtc_protected`"),
        ({"xtc_protected": list(range(300))}, "`xtc_protected`"),
        ({"xtc_protect_ends": 2}, "`xtc_protect_ends` must be 0 or 1"),
        ({"xtc_protect_ends": []}, "`xtc_protect_ends` must be 0 or 1"),
    ],
)
def test_what_is_wrong_is_named(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError) as error:
        parameters(asked, 1.0)
    assert words in str(error.value)
    assert isinstance(error.value, ValueError), "vLLM answers HTTP 400 to a ValueError"


def test_greedy_requests_are_refused() -> None:
    with pytest.raises(SettingsError, match="temperature"):
        parameters({"xtc_probability": 0.5}, 0.0)
    assert parameters({"xtc_probability": 0}, 0.0) is not None


JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)


@given(
    asked=st.dictionaries(
        st.sampled_from([*NUMBERS, "xtc_protected", "xtc_protect_ends"]) | st.text(max_size=8),
        JSON | st.lists(JSON, max_size=4),
    )
)
def test_anything_is_taken_or_refused_in_words(asked: dict[str, Any]) -> None:
    complaint = ""
    try:
        parameters(asked, 1.0, ENDS)
    except SettingsError as error:
        complaint = str(error)
    assert len(complaint) < 500

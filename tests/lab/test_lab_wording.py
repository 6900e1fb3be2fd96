"""Numbers in words: what they say, and what they do not claim."""

from __future__ import annotations

import math

import pytest

from xtc_viz.lab.comparison import Comparison
from xtc_viz.lab.statistics import Interval, WinTieLoss
from xtc_viz.lab.wording import number, says

NAN = math.nan


def comparison(
    mean: float, low: float, high: float, better: int = 0, p: float = 0.01
) -> Comparison:
    difference = Interval(mean, low, high, 24)
    prompts = WinTieLoss(10, 4, 10)
    return Comparison("m", "a", "b", difference, difference, p, p, prompts, 0.05, better)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (comparison(0.02, 0.01, 0.03, better=1), "more, better"),
        (comparison(0.02, 0.01, 0.03, better=-1), "more, worse"),
        (
            comparison(0.02, 0.01, 0.03, better=1, p=0.3),
            "more, better; by its own interval alone, among so many it may be chance",
        ),
        (comparison(-2.0, -3.0, -1.0), "less"),
        (comparison(0.02, -0.01, 0.05), "no difference shown; one of 0.050 or more would be"),
        (comparison(0.0, 0.0, 0.0), "the same for each prompt"),
        (comparison(0.1, NAN, NAN), "too few prompts"),
    ],
)
def test_nothing_is_claimed_where_the_interval_includes_zero(one: Comparison, words: str) -> None:
    assert says(one) == words


def test_numbers_as_they_are_printed() -> None:
    assert [number(x) for x in (0.12345, 12.345, -0.5, NAN)] == ["0.123", "12.3", "-0.500", "–"]
    assert [number(x, signed=True) for x in (0.1, -20.0, 0.0)] == ["+0.100", "-20.0", "0.000"]
    assert [number(x) for x in (0.00049, -0.000012, 1e-9)] == ["0.00049", "-1.2e-05", "1e-09"]

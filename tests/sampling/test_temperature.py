"""Dynamic temperature on hand-worked entropies, and its bounds."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.sampling.stages.temperature import dynamic_temperature


@pytest.mark.parametrize(
    ("entropy", "exponent", "expected"),
    [
        (0.0, 1.0, 0.5),  # sure: the low end
        (log(16), 1.0, 1.5),  # 16 equal tokens: the high end
        (log(4), 1.0, 1.0),  # half of log 16
        (log(4), 2.0, 0.75),  # 0.5 + 1 · (1/2)²
        (log(4), 0.0, 1.5),
        (0.0, 0.0, 1.5),  # 0⁰ is 1, as in C
    ],
)
def test_by_hand(entropy, exponent, expected):
    assert dynamic_temperature(1.0, 0.5, exponent, entropy, 16) == pytest.approx(expected)


def test_the_low_end_is_never_below_zero():
    assert dynamic_temperature(0.5, 2.0, 1.0, 0.0, 16) == 0.0
    assert dynamic_temperature(0.5, 2.0, 1.0, log(4), 16) == pytest.approx(1.25)  # half of 2.5
    assert dynamic_temperature(0.0, 2.0, 1.0, log(4), 16) == pytest.approx(1.0)


def test_no_spread_or_a_single_token_leave_the_temperature():
    assert dynamic_temperature(0.7, 0.0, 1.0, log(4), 16) == 0.7
    assert dynamic_temperature(0.7, 0.5, 1.0, 0.0, 1) == 0.7


@pytest.mark.parametrize("entropy", [-1e-9, log(16) * (1 + 1e-6)])
def test_a_rounded_entropy_stays_within_the_spread(entropy):
    assert 0.5 <= dynamic_temperature(1.0, 0.5, 0.7, entropy, 16) <= 1.5


@given(
    st.floats(0, 5), st.floats(0.01, 5), st.floats(0, 10), st.floats(0, 1), st.floats(0, 1),
    st.integers(2, 200_000),
)  # fmt: skip
def test_more_entropy_is_never_colder(temperature, spread, exponent, one, other, support):
    low, high = (
        dynamic_temperature(temperature, spread, exponent, share * log(support), support)
        for share in sorted((one, other))
    )
    assert max(0.0, temperature - spread) <= low <= high <= (temperature + spread) * (1 + 1e-12)

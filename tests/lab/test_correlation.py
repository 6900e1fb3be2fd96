"""Rank correlation: hand-worked values, the reference, and what its interval covers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from xtc_viz.lab.correlation import FEWEST, ranks, spearman

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(0, 3).map(float)


def test_by_hand() -> None:
    assert ranks(np.array([30.0, 10.0, 20.0, 10.0])).tolist() == [4.0, 1.5, 3.0, 1.5]
    # Ranks 1 2 3 4 5 against 2 1 4 3 5: 1 − 6·4/(5·24)
    own = spearman([1, 2, 3, 4, 5], [20, 10, 40, 30, 50])
    assert own.mean == pytest.approx(0.8)
    assert own.n == 5
    z, reach = math.atanh(0.8), 1.959964 * math.sqrt((1 + 0.8**2 / 2) / 2)
    assert (own.low, own.high) == pytest.approx((math.tanh(z - reach), math.tanh(z + reach)))


def test_what_is_not_defined() -> None:
    assert math.isnan(spearman([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]).mean)
    assert math.isnan(spearman([1], [1]).mean)
    few = spearman([1, 2, 3, 4], [1, 2, 3, 4])
    assert few.mean == pytest.approx(1)
    assert math.isnan(few.low)
    assert not few.excludes_zero
    assert spearman([1, 2, math.nan, 3], [1, 2, 3, math.nan]).n == 2
    # Five in perfect order may be chance; twelve are not.
    assert not spearman(range(FEWEST), range(FEWEST)).excludes_zero
    assert spearman(range(12), range(12)).excludes_zero


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=30))
def test_as_scipy_has_it(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    assert ranks(x) == pytest.approx(stats.rankdata(x))
    own = spearman(x, y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert math.isnan(own.mean)
        return
    assert own.mean == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    if len(pairs) >= FEWEST:
        assert -1 <= own.low < own.high <= 1
    other = spearman(x, -y)
    assert (other.mean, other.low) == pytest.approx((-own.mean, -own.high), nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 6, 8, 12, 24])
def test_chance_alone_is_seldom_claimed(n: int) -> None:
    rng = np.random.default_rng(n)
    claimed = sum(
        spearman(rng.normal(size=n), rng.exponential(size=n)).excludes_zero for _ in range(2_000)
    )
    assert claimed / 2_000 <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 24])
@pytest.mark.parametrize("r", [0.3, 0.7])
def test_the_interval_covers(n: int, r: float) -> None:
    """Of normal pairs of correlation r the rank correlation is 6/π·asin(r/2)."""
    rng = np.random.default_rng(7)
    truth, hits = 6 / math.pi * math.asin(r / 2), 0
    for _ in range(1_500):
        x = rng.normal(size=n)
        own = spearman(x, r * x + math.sqrt(1 - r * r) * rng.normal(size=n))
        hits += own.low <= truth <= own.high
    assert 0.93 <= hits / 1_500 <= 0.98

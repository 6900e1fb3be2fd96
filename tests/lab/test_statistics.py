"""Intervals and tests: by hand, by simulation, and against scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.lab import statistics
from xtc_viz.lab.generation import Group
from xtc_viz.lab.statistics import (
    Floats,
    additivity,
    bounds,
    by_prompt,
    detectable,
    holm,
    interval,
    paired,
    sign_flip,
    student_quantile,
    win_tie_loss,
)

PROMPTS = 24
Draw = Callable[[np.random.Generator, int], Floats]
"""A number of samples of 24 paired differences whose mean is 0, as (24, samples)."""


def normal(rng: np.random.Generator, samples: int) -> Floats:
    return rng.normal(size=(PROMPTS, samples))


def moderately_skewed(rng: np.random.Generator, samples: int) -> Floats:
    """Gamma of shape 4, skewness 1."""
    return rng.gamma(4, size=(PROMPTS, samples)) - 4


def rates(rng: np.random.Generator, samples: int) -> Floats:
    """Differences of two shares of 8 samples, each prompt with a rate of its own around 0.2."""
    rate = rng.beta(2, 8, size=(PROMPTS, samples))
    return (rng.binomial(8, rate) - rng.binomial(8, rate)) / 8


def exponential(rng: np.random.Generator, samples: int) -> Floats:
    return rng.exponential(size=(PROMPTS, samples)) - 1


def lognormal(rng: np.random.Generator, samples: int) -> Floats:
    return rng.lognormal(size=(PROMPTS, samples)) - math.exp(0.5)


def covered(draw: Draw, samples: int, seed: int = 1) -> float:
    """Return the percentage of samples whose interval holds their true mean, 0."""
    rng = np.random.default_rng(seed)
    low, high = bounds(draw(rng, samples), rng)
    return 100 * float(((low <= 0) & (high >= 0)).mean())


def false_positives(draw: Draw, samples: int, seed: int = 1) -> float:
    """Return the percentage of samples of mean 0 whose p is below 0.05."""
    rng = np.random.default_rng(seed)
    return 100 * float((sign_flip(draw(rng, samples), rng) < 0.05).mean())


def test_pairs_by_hand() -> None:
    values = {
        Group("b", "base", 1): 1.0, Group("b", "xtc", 1): 3.0,
        Group("b", "base", 2): 2.0, Group("b", "xtc", 2): 8.0,
        Group("b", "base", 3): 9.0, Group("b", "xtc", 3): None,  # not defined
        Group("a", "base", 1): 0.0, Group("a", "xtc", 1): 1.0,
        Group("c", "base", 1): 5.0,  # not there yet
        Group("a", "hot", 1): 7.0,
    }  # fmt: skip
    pairs = paired(values, "base", "xtc")
    assert pairs.prompts == ("a", "b")
    assert pairs.baseline.tolist() == [0.0, 1.5]
    assert pairs.condition.tolist() == [1.0, 5.5]
    assert pairs.difference.tolist() == [1.0, 4.0]
    assert pairs.percent[1] == pytest.approx(400 / 1.5)
    assert math.isnan(pairs.percent[0])
    prompts, table = by_prompt(values, ["base", "xtc", "hot"])
    assert (prompts, table.tolist()) == (("a",), [[0.0, 1.0, 7.0]])


@pytest.mark.parametrize("condition", ["xtc", "nobody"])
def test_nothing_to_pair(condition: str) -> None:
    pairs = paired({Group("a", "base", 1): 1.0}, "base", condition)
    rng = np.random.default_rng(0)
    assert pairs.prompts == ()
    assert math.isnan(interval(pairs.difference, rng).mean)
    assert math.isnan(float(sign_flip(pairs.difference, rng)))
    assert math.isnan(detectable(pairs.difference))
    assert win_tie_loss(pairs.difference) == (0, 0, 0)


def test_an_interval_is_the_expanded_percentile() -> None:
    x = np.random.default_rng(0).normal(size=PROMPTS)
    found = interval(x, np.random.default_rng(1))
    again = np.random.default_rng(1).multinomial(PROMPTS, np.full(PROMPTS, 1 / PROMPTS), 2000)
    means = again @ x / PROMPTS
    # t at 2.5 % with 23 degrees is -2.0687; Φ(√(24/23)·t) = 0.01730.
    assert found.low == pytest.approx(np.quantile(means, 0.01730), abs=1e-4)
    assert found.high == pytest.approx(np.quantile(means, 1 - 0.01730), abs=1e-4)
    assert (found.mean, found.n) == (x.mean(), PROMPTS)
    assert found.low < found.mean < found.high


def test_intervals_of_few_prompts() -> None:
    rng = np.random.default_rng(0)
    one = interval(np.array([2.0, np.nan]), rng)
    assert (one.mean, one.n, math.isnan(one.low), one.excludes_zero) == (2.0, 1, True, False)
    equal = interval(np.full(5, 2.0), rng)
    assert (equal.low, equal.high, equal.excludes_zero) == (2.0, 2.0, True)
    wide = interval(np.array([-1.0, 1.5]), rng)
    assert wide.high == pytest.approx(0.25 + 12.7062 * 1.25)  # t with one degree


def test_columns_are_resampled_together() -> None:
    x = np.random.default_rng(0).normal(size=(PROMPTS, 3))
    together = bounds(x, np.random.default_rng(2))
    for column in range(3):
        alone = bounds(x[:, column], np.random.default_rng(2))
        assert np.stack(together)[:, column] == pytest.approx(np.stack(alone))
    p = sign_flip(x, np.random.default_rng(3))
    assert p[1] == sign_flip(x[:, 1], np.random.default_rng(3))


def test_sign_flips_by_hand() -> None:
    rng = np.random.default_rng(0)
    # Of the eight signings of 1, 2, 3 only the two extreme ones are as far from 0 as 6.
    assert sign_flip(np.array([1.0, 2.0, 3.0]), rng) == 2 / 8
    # -1 + 2 + 3 = 4: eight but those of sum ±2 (1, −2, 3), 0 (1, 2, −3) and their mirrors.
    assert sign_flip(np.array([-1.0, 2.0, 3.0]), rng) == 4 / 8
    assert sign_flip(np.zeros(24), rng) == 1.0
    assert sign_flip(np.full(24, 0.1), rng) == 1 / 5001


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=8))
def test_sign_flips_of_few_differences_are_exact(x: list[int]) -> None:
    sums = [sum(s * v for s, v in zip(signs, x, strict=True))
            for signs in product((-1, 1), repeat=len(x))]  # fmt: skip
    exact = sum(abs(s) >= abs(sum(x)) for s in sums) / len(sums)
    tenth = np.array(x) / 10  # whose sums are not exact
    assert sign_flip(tenth, np.random.default_rng(0)) == exact


def test_sign_flips_are_those_of_scipy() -> None:
    from scipy.stats import permutation_test

    x = np.random.default_rng(0).normal(0.5, size=PROMPTS)
    theirs = permutation_test(
        (x,), np.mean, permutation_type="samples", n_resamples=20_000, vectorized=True,
        rng=np.random.default_rng(1),
    ).pvalue  # fmt: skip
    ours = sign_flip(x, np.random.default_rng(2), flips=20_000)
    assert 0.001 < theirs < 0.2
    assert ours == pytest.approx(theirs, abs=0.006)


def test_quantiles_of_student() -> None:
    # Tables: 12.706 for 1 degree, 2.0687 for 23, 1.9600 in the limit.
    for degrees, quantile in ((1, 12.706), (23, 2.0687), (10**7, 1.9600)):
        assert student_quantile(0.975, degrees) == pytest.approx(quantile, abs=5e-4)


def test_what_is_no_number_is_no_evidence() -> None:
    x = np.array([1.0, math.nan, 2.0])
    assert math.isnan(float(sign_flip(x, np.random.default_rng(0))))
    assert interval(x, np.random.default_rng(0)).n == 2
    assert win_tie_loss(x) == (2, 0, 0)
    assert math.isnan(detectable(x))
    assert holm([0.04, math.nan, 0.01]).tolist() == pytest.approx(
        [0.04, math.nan, 0.02], nan_ok=True
    )


def test_win_tie_loss_by_hand() -> None:
    x = np.array([0.5, -0.5, 0.2, 0.0, 1e-12])
    assert win_tie_loss(x) == (2, 2, 1)
    assert win_tie_loss(x, sign=-1) == (1, 2, 2)


def test_holm_by_hand() -> None:
    # 0.01·4, 0.02·3, 0.03·2 (no less than the one before), 0.5.
    assert holm([0.5, 0.01, 0.03, 0.02]).tolist() == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_lies_between_raw_and_bonferroni(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= np.array(p)).all()
    assert (adjusted <= np.minimum(1, len(p) * np.array(p)) + 1e-15).all() or len(p) == 1
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


def test_what_can_be_detected_is_detected_as_often_as_said() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(PROMPTS, 2_000))
    sizes = [detectable(column) for column in x.T]
    assert np.median(sizes) == pytest.approx(0.6, abs=0.02)
    shifted = x + np.mean(sizes)
    t = shifted.mean(axis=0) / (shifted.std(axis=0, ddof=1) / math.sqrt(PROMPTS))
    assert (t > student_quantile(0.975, PROMPTS - 1)).mean() == pytest.approx(0.8, abs=0.03)


def test_additivity_by_hand() -> None:
    n = 6
    neither = np.arange(n, dtype=float)
    rng = np.random.default_rng(0)
    adding = additivity(neither, neither + 1, neither + 2, neither + 3, rng)
    assert [one.mean for one in (adding.first, adding.second, adding.joint)] == [1, 2, 3]
    assert (adding.interaction.low, adding.interaction.high, adding.p) == (0, 0, 1)
    # Together they do half a unit less than the sum of both, on every prompt.
    less = additivity(neither, neither + 1, neither + 2, neither + 2.5, rng)
    assert less.interaction.mean == less.interaction.high == -0.5
    assert less.p == 2 / 2**n


def test_the_same_seed_gives_the_same_numbers() -> None:
    x = np.random.default_rng(0).normal(size=PROMPTS)
    one, two = (interval(x, np.random.default_rng(5)) for _ in range(2))
    assert one == two
    assert interval(x, np.random.default_rng(6)) != one


FAIR = [normal, moderately_skewed, rates]


@pytest.mark.parametrize("draw", FAIR)
def test_intervals_cover_the_mean(draw: Draw) -> None:
    assert 92 <= covered(draw, 1_000) <= 98


@pytest.mark.slow
@pytest.mark.parametrize("draw", FAIR)
def test_intervals_cover_the_mean_to_the_percent(draw: Draw) -> None:
    """The standard error of 10,000 simulations is 0.2 %."""
    assert 93 <= np.mean([covered(draw, 2_000, seed) for seed in range(5)]) <= 97


@pytest.mark.parametrize(("draw", "at_most"), [(exponential, 94), (lognormal, 91)])
def test_intervals_of_strongly_skewed_differences_cover_less(draw: Draw, at_most: float) -> None:
    assert 85 <= covered(draw, 1_000) <= at_most


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_of_noise_few_prompts_claim_no_more_than_many(n: int) -> None:
    rng = np.random.default_rng(1)
    low, high = bounds(rng.normal(size=(n, 20_000)), rng)
    claimed = 100 * float(((low > 0) | (high < 0)).mean())
    assert 4.3 < claimed < 5.7, "a bootstrap claims 51 % at two, 9 % at five"


def test_the_plain_percentile_would_cover_less(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = covered(normal, 1_000)
    # The plain one is the normal's quantile without the factor √(n/(n − 1)).
    plain = -1.959964 * math.sqrt((PROMPTS - 1) / PROMPTS)
    monkeypatch.setattr(statistics, "student_quantile", lambda share, degrees: plain)
    assert covered(normal, 1_000) < ours


@pytest.mark.parametrize("draw", [normal, rates])
def test_few_false_positives_where_differences_are_symmetric(draw: Draw) -> None:
    assert false_positives(draw, 1_000) <= 6.5


@pytest.mark.slow
@pytest.mark.parametrize("draw", [normal, rates])
def test_at_most_six_percent_of_false_positives(draw: Draw) -> None:
    assert np.mean([false_positives(draw, 2_000, seed) for seed in range(5)]) <= 6


def test_skewed_differences_give_more_false_positives() -> None:
    """The test is one of symmetry: what is skewed is not symmetric, though its mean is 0."""
    few, some, many = (false_positives(draw, 2_000) for draw in (normal, exponential, lognormal))
    assert few < 6 < some < 9 < many < 16

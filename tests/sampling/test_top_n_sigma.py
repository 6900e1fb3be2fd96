"""The floor of top-n-sigma by hand, and against its rule on logits."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.sampling.stages.top_n_sigma import sigma_floor

finite = st.floats(-40, 40, width=32)


def test_by_hand():
    # Mean 2, squared deviations 4, 1, 1, 4: σ² = 10 / 4.
    logits = np.array([0, 1, 3, 4], "f4")
    assert sigma_floor(logits, 1.0) == pytest.approx(exp(-sqrt(2.5)), rel=1e-6)
    assert sigma_floor(logits, 0.5) == pytest.approx(exp(-0.5 * sqrt(2.5)), rel=1e-6)


def test_masked_tokens_do_not_count():
    logits = np.array([0, -np.inf, 1, 3, 4, -np.inf], "f4")
    assert sigma_floor(logits, 1.0) == pytest.approx(exp(-sqrt(2.5)), rel=1e-6)
    assert np.isneginf(logits).tolist() == [False, True, False, False, False, True]


@pytest.mark.parametrize("logits", [[3.0], [7.0, 7.0, 7.0], [-np.inf, 2.0]])
def test_without_deviation_only_the_largest_are_left(logits):
    assert sigma_floor(np.array(logits, "f4"), 1.0) == 1.0


def test_a_floor_may_underflow():
    assert sigma_floor(np.array([-1e5, 1e5], "f4"), 1.0) == 0.0


@given(st.lists(finite, min_size=2, max_size=60), st.floats(0.1, 4), st.floats(0.2, 5))
def test_it_keeps_what_the_rule_on_logits_keeps_at_any_temperature(values, n, temperature):
    logits = np.array(values, "f8") / temperature
    probs = np.exp(logits - logits.max())
    kept = probs >= sigma_floor(logits.astype("f4"), n) * probs.max()
    distance = logits - (logits.max() - n * logits.std())
    clear = np.abs(distance) > 1e-4 * (1 + np.abs(logits).max() * n)
    np.testing.assert_array_equal(kept[clear], distance[clear] > 0)


def test_a_far_mean_costs_no_precision():
    logits = np.random.default_rng(0).normal(-300, 0.5, 151_936).astype("f4")
    sigma = logits.astype("f8").std()
    assert sigma_floor(logits, 2.0) == pytest.approx(exp(-2 * sigma), rel=1e-5)

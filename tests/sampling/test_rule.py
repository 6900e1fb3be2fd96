"""The rule on hand-worked steps, and its expectations."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.sampling.rule import Outcome, decide, eligible_count, expected
from xtc_viz.settings import Strategy, XTCSettings

IDS, PROBS = (7, 2, 9), (0.4, 0.3, 0.2)


def settings(**values):
    return XTCSettings(**{"rho": 0.5, "tau": 0.15} | values)


def test_fired():
    decision = decide(IDS, PROBS, 0.23, settings())
    assert decision.outcome is Outcome.FIRED
    assert (decision.eligible, decision.removed, decision.underdog) == (IDS, (7, 2), 9)
    assert decision.removed_mass == pytest.approx(0.7)
    assert decision.removable_mass == pytest.approx(0.7)


def test_skipped_when_the_coin_is_not_under_rho():
    decision = decide(IDS, PROBS, 0.5, settings())
    assert decision.outcome is Outcome.SKIPPED
    assert (decision.removed, decision.removed_mass) == ((), 0.0)
    assert decision.removable_mass == pytest.approx(0.7)


def test_rho_zero_never_fires_and_rho_one_always_does():
    assert decide(IDS, PROBS, 0.0, settings(rho=0.0)).outcome is Outcome.SKIPPED
    assert decide(IDS, PROBS, 1 - 2**-53, settings(rho=1.0)).outcome is Outcome.FIRED


@pytest.mark.parametrize("count", [0, 1])
def test_unambiguous_with_fewer_than_two(count):
    decision = decide(IDS[:count], PROBS[:count], 0.0, settings(rho=1.0))
    assert decision.outcome is Outcome.UNAMBIGUOUS
    assert decision.underdog == (7 if count else None)
    assert decision.removable_mass == 0.0


@pytest.mark.parametrize(
    ("protected", "outcome"),
    [({2}, Outcome.PROTECTED), ({9}, Outcome.FIRED), ({1}, Outcome.FIRED)],
)
def test_veto_only_for_what_would_be_removed(protected, outcome):
    assert decide(IDS, PROBS, 0.0, settings(protected=protected)).outcome is outcome


def test_a_lost_coin_goes_before_the_veto():
    assert decide(IDS, PROBS, 0.9, settings(protected={7})).outcome is Outcome.SKIPPED


def test_ties_at_the_underdog_go_to_the_lowest_id():
    decision = decide((5, 1, 3, 4), (0.4, 0.2, 0.2, 0.2), 0.0, settings())
    assert decision.underdog == 1
    assert decision.removed == (5, 3, 4)


@pytest.mark.parametrize(
    ("strategy", "coin", "removed"),
    [
        (Strategy.KEEP_LEAST, 0.1, (7, 2)),
        (Strategy.KEEP_SECOND, 0.1, (7, 9)),
        (Strategy.KEEP_RANDOM, 0.1, (2, 9)),  # 0.1 / 0.5 = 0.2: the first third
        (Strategy.KEEP_RANDOM, 0.2, (7, 9)),  # 0.4: the second
        (Strategy.KEEP_RANDOM, 0.4, (7, 2)),  # 0.8: the third
        (Strategy.DROP_TOP, 0.1, (7,)),
    ],
)
def test_the_four_strategies(strategy, coin, removed):
    decision = decide(IDS, PROBS, coin, settings(strategy=strategy))
    assert decision.removed == removed
    assert decision.removed_mass == pytest.approx(sum(PROBS[IDS.index(v)] for v in removed))
    assert decision.underdog == 9


def test_eligible_count_compares_in_float32_and_includes_equality():
    probs = array("f", PROBS)
    assert eligible_count(probs, settings(tau=0.3)) == 2
    assert eligible_count(probs, settings(tau=0.41)) == 0
    assert eligible_count((), settings(tau=0.1)) == 0


def test_a_token_without_probability_is_never_eligible():
    """Not even where τ is so small that float32 has no number for it."""
    assert eligible_count((1.0, 0.0), settings(tau=1e-60)) == 1


def test_tokens_below_the_floor_are_not_looked_at():
    more = decide((*IDS, 4, 5), (*PROBS, 0.06, 0.04), 0.23, settings())
    assert more == decide(IDS, PROBS, 0.23, settings())


@given(
    probs=st.lists(st.floats(0.05, 0.3), min_size=0, max_size=4),
    rho=st.floats(0, 1),
    strategy=st.sampled_from(Strategy),
    protected=st.frozensets(st.integers(0, 5)),
)
def test_expectations_are_the_mean_over_coins(probs, rho, strategy, protected):
    probs = sorted(probs, reverse=True)
    ids = list(range(len(probs)))
    rule = settings(rho=rho, strategy=strategy, protected=protected)
    n = 1200  # a multiple of every number of choices
    coins = [(i + 0.5) / n for i in range(n)]
    decisions = [decide(ids, probs, coin, rule) for coin in coins]
    fires, mass = expected(ids, probs, rule)
    assert sum(d.outcome is Outcome.FIRED for d in decisions) / n == pytest.approx(fires, abs=5e-3)
    assert sum(d.removed_mass for d in decisions) / n == pytest.approx(mass, abs=5e-3)
    if not protected and len(probs) >= 2:
        assert mass == pytest.approx(rho * decisions[0].removable_mass)

"""What each engine leaves of a step by its rule alone, and why, in words."""

from __future__ import annotations

import doctest
import json
from array import array
from dataclasses import fields, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.engines import leaves
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import Effect, rule_alone
from xtc_viz.engines.reasons import _WORDS, Case, reason
from xtc_viz.records.step import Bound
from xtc_viz.sampling.dialect import (
    PAPER,
    Coin,
    Comparison,
    Dialect,
    Removes,
    Ties,
    Veto,
    Zero,
)
from xtc_viz.settings import SamplerSettings, Strategy, XTCSettings

NAMES = {0: "the", 1: "town", 2: "house", 3: "village", 4: "</s>"}


def engines(**dialects):
    """Return engines by name, each with the paper's chain and the dialect of that name."""
    return {
        name: replace(ENGINES["paper"], dialect=replace(dialect, name=name))
        for name, dialect in dialects.items()
    }


def ask(probs, tau, dialects, *, rho=0.5, coin=0.9, protected=(), chosen=PAPER, temperature=1.0):
    """Return the answers by engine for tokens 0, 1, 2 … in falling order."""
    xtc = XTCSettings(rho, tau, protected=frozenset(protected), dialect=chosen)
    lane = SamplerSettings(xtc=xtc, temperature=temperature)
    question = rule_alone(range(len(probs)), array("f", probs), coin, lane, engines(**dialects))
    return {answer.engine: answer for answer in question.answers}


def sentences(left):
    """Return the reasons as a page shows them, tokens by their text."""
    return [
        "".join(p if isinstance(p, str) else f"“{NAMES[p]}”" for p in r.words) for r in left.reasons
    ]


def test_the_example_in_the_module():
    assert doctest.testmod(leaves).failed == 0
    assert doctest.testmod(leaves).attempted


def test_a_worked_example():
    """mlx-lm keeps both of two tied underdogs; the coin says no, so that own is left alone."""
    other = ask([0.4, 0.3, 0.15, 0.15], 0.1, {"mlx": Dialect("", ties=Ties.ALL)})["mlx"]
    assert other.own.effect is Effect.SKIPPED
    assert not other.own.differs
    assert other.own.probs == pytest.approx([0.4, 0.3, 0.15, 0.15])
    assert other.fired.effect is Effect.FIRED
    assert other.fired.removed == (0, 1)
    assert other.fired.underdogs == (2, 3)
    assert other.fired.probs == pytest.approx([0, 0, 0.5, 0.5])
    assert sentences(other.fired) == ["“house” and “village” are equally likely: mlx keeps both"]


def test_the_rest_takes_its_part():
    left = ask([0.5, 0.2, 0.1], 0.15, {"paper": PAPER})["paper"].fired
    assert left.probs == pytest.approx([0, 0.4, 0.2])
    assert left.rest == pytest.approx(0.4)


P = [0.4, 0.3, 0.15, 0.1, 0.05]


@pytest.mark.parametrize(
    ("change", "probs", "tau", "protected", "said"),
    [
        ({"comparison": Comparison.ABOVE}, [0.5, 0.25, 0.25], 0.25, (),
         "“town” and “house” equal τ: it wants more than τ"),
        ({"ties": Ties.HIGHEST_ID}, [0.4, 0.2, 0.2, 0.2], 0.1, (),
         "“town”, “house” and “village” are equally likely: it keeps the one with the highest id, "
         "“village”"),
        ({"veto": Veto.NONE}, P, 0.12, (1,), "it removes “town”: it protects nothing"),
        ({"veto": Veto.EXEMPT}, P, 0.12, (1,), "it keeps “town” and removes the others"),
        ({"veto": Veto.OUTSIDE}, P, 0.12, (1,),
         "it takes “town” out of the eligible set, so that “house” is the underdog"),
        ({"veto": Veto.OUTSIDE}, P, 0.12, (2,),
         "it takes “house” out of the eligible set, so that “town” is the underdog"),
        ({"veto": Veto.OUTSIDE}, P, 0.25, (1,),
         "it takes “town” out of the eligible set, so that there is nothing to remove"),
        ({"inert_above": 0.1}, P, 0.2, (), "it does nothing above τ = 0.1"),
        ({"removes": Removes.BEFORE_BY_ID}, [0.5, 0.2, 0.1], 0.15, (), None),
    ],
)  # fmt: skip
def test_each_property_in_words(change, probs, tau, protected, said):
    left = ask(probs, tau, {"it": replace(PAPER, **change)}, protected=protected)["it"].fired
    if said is None:
        assert not left.differs
    else:
        assert sentences(left) == [said]
        assert [r.cause for r in left.reasons] == list(change)


def test_the_words_the_other_way_round():
    """Held against another engine, the paper's own properties are the reason."""
    mlx = Dialect("mlx", Comparison.ABOVE, Ties.ALL, Veto.EXEMPT, zero=Zero.SKIPPED)
    of = {"paper": PAPER}
    said = sentences(ask([0.5, 0.3, 0.2], 0.2, of, chosen=mlx)["paper"].fired)
    assert said == ["“house” equals τ: that is enough for the paper"]
    said = sentences(ask([0.4, 0.3, 0.3], 0.1, of, chosen=mlx)["paper"].fired)
    assert said == [
        "“town” and “house” are equally likely: the paper keeps the one with the lowest id, “town”"
    ]
    said = sentences(ask(P, 0.12, of, protected=(1,), chosen=mlx)["paper"].fired)
    assert said == ["the paper leaves the step alone, to keep “town”"]
    said = sentences(ask(P, 0.12, of, chosen=mlx, temperature=0.0)["paper"].fired)
    assert said == ["the paper runs XTC at temperature 0 too"]


def test_a_mixture_has_no_coin():
    """At the lane's coin it keeps a part of what it lowers; as if it fired it is like the paper."""
    other = ask(P, 0.12, {"it": replace(PAPER, coin=Coin.MIXTURE)}, rho=0.75)["it"]
    assert other.own.effect is Effect.MIXED
    assert other.own.probs == pytest.approx([0.1, 0.075, 0.15 / 4 + 0.375, 0.025 + 0.25, 0.1375])
    assert sum(other.own.probs) + other.own.rest == pytest.approx(1.0)
    assert sentences(other.own) == [
        "it tosses no coin but mixes: “the” and “town” keep 25 % of theirs"
    ]
    assert not other.fired.differs


def test_temperature_0_without_xtc():
    other = ask(P, 0.12, {"it": replace(PAPER, zero=Zero.SKIPPED)}, temperature=0.0)["it"]
    assert other.fired.effect is Effect.OFF
    assert sentences(other.fired) == ["it does without XTC at temperature 0"]
    assert not other.own.differs  # the coin says no


def test_a_lane_without_xtc_is_off_and_could_have_fired():
    paper = ask(P, 0.12, {"paper": PAPER}, rho=0.0)["paper"]
    assert (paper.own.effect, paper.fired.effect) == (Effect.OFF, Effect.FIRED)


def test_two_properties_where_it_takes_two():
    """p equals τ and the token is protected: neither alone explains what is left."""
    mixed = Dialect("it", Comparison.ABOVE, veto=Veto.NONE)
    other = ask([0.5, 0.25, 0.2], 0.2, {"it": mixed}, protected=(0,))["it"]
    assert [r.cause for r in other.fired.reasons] == ["comparison", "veto"]


@pytest.mark.parametrize("cause", [f.name for f in fields(Dialect) if f.name != "name"])
def test_every_property_has_words_of_its_own(cause):
    assert cause in _WORDS


def test_a_property_without_words_is_named():
    case = Case((0,), (1.0,), XTCSettings(), (), (), ())
    assert reason("new_thing", case).words == ("the paper is another in this: new thing",)


def test_the_choice_of_keep_random_is_the_same_as_if_it_fired():
    xtc = XTCSettings(0.5, 0.1, Strategy.KEEP_RANDOM)
    for coin in (0.1, 0.2, 0.3, 0.4):
        (answer,) = rule_alone(
            range(3), array("f", [0.5, 0.3, 0.2]), coin, SamplerSettings(xtc=xtc),
            {"paper": ENGINES["paper"]},
        ).answers  # fmt: skip
        assert answer.own.removed == answer.fired.removed


@settings(deadline=None, max_examples=60)
@given(
    weights=st.lists(st.integers(1, 8), min_size=1, max_size=8),
    tau=st.sampled_from((0.05, 0.125, 0.2, 0.25, 0.5)),
    rho=st.sampled_from((0.0, 0.5, 1.0)),
    coin=st.floats(0, 0.999),
    protected=st.frozensets(st.integers(0, 7), max_size=2),
    chosen=st.sampled_from(sorted(ENGINES)),
    temperature=st.sampled_from((0.0, 1.0)),
)
def test_what_is_left_adds_up_and_every_difference_has_a_reason(
    weights, tau, rho, coin, protected, chosen, temperature
):
    weights = sorted(weights, reverse=True)
    probs = array("f", [w / (sum(weights) + 1) for w in weights])
    xtc = XTCSettings(rho, tau, protected=protected, dialect=ENGINES[chosen].dialect)
    lane = SamplerSettings(xtc=xtc, temperature=temperature)
    question = rule_alone(range(len(probs)), probs, coin, lane)
    assert json.loads(json.dumps(question.to_dict()))["chosen"] == chosen
    ours = next(answer for answer in question.answers if answer.engine == chosen)
    for answer in question.answers:
        assert answer.bound is Bound.NONE
        for mine, left in ((ours.own, answer.own), (ours.fired, answer.fired)):
            assert sum(left.probs) + left.rest == pytest.approx(1.0)
            same = left.probs == pytest.approx(mine.probs, abs=1e-6)
            assert left.differs is not same
            gone = {v for v, p in enumerate(left.probs) if p == 0.0}
            if left.effect is not Effect.MIXED:
                assert gone == {v for v in left.removed if v < len(probs)}
            for why in left.reasons:
                assert all(isinstance(part, str) or 0 <= part < len(probs) for part in why.words)
                texts = [isinstance(part, str) for part in why.words]
                assert not any(a and b for a, b in pairwise(texts))

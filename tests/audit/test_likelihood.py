"""The estimate of ρ: a worked example, its interval by simulation, what tells two apart."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from tests.audit.simulated import drawn
from xtc_viz.audit.likelihood import fit, information
from xtc_viz.audit.observation import Hypothesis, Observation, Observations, Place


def seen(step: Observation, hypothesis: Hypothesis, *ends: int) -> tuple[object, object]:
    [mass], [through] = Observations([step], frozenset(ends)).evidence(hypothesis)
    return float(mass), bool(through)


def test_a_worked_example() -> None:
    step = Observation((7, 8, 9), (0.5, 0.3, 0.2), token=8)
    assert seen(step, Hypothesis(0.1)) == (pytest.approx(0.8), True)
    assert seen(step, Hypothesis(0.25)) == (pytest.approx(0.5), False)
    assert seen(step, Hypothesis(0.4)) == (0.0, False)
    assert seen(step, Hypothesis(0.1, ends_protected=True), 7) == (0.0, False)
    assert seen(step, Hypothesis(0.1, ends_protected=True), 9)[0], "the underdog stays anyway"
    # One removable token came through in four steps that would have removed half of the mass:
    # (1 − ρ)·(1 + ρ)³ is largest at ρ = 1/2.
    other = Observation((7, 8), (0.5, 0.5), token=8)
    through = Observation((7, 8), (0.5, 0.5), token=7)
    own = fit(Observations([other, other, other, through]), Hypothesis(0.1))
    assert (own.rho, own.removable, own.through) == (0.5, 4, 1)
    assert fit(Observations([]), Hypothesis(0.1)).removable == 0


def test_colder_the_floor_before_and_after_differ() -> None:
    step = Observation((1, 2, 3), (0.5, 0.35, 0.15), token=1, temperature=0.5)
    tempered = np.array([0.5, 0.35, 0.15]) ** 2
    tempered /= tempered.sum()
    assert seen(step, Hypothesis(0.1))[0] == pytest.approx(tempered[:2].sum())
    assert seen(step, Hypothesis(0.1, Place.AFTER))[0] == pytest.approx(tempered[0])


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.25, 0.5, 1.0])
def test_the_interval_covers_the_truth(rho: float) -> None:
    covered = widths = 0.0
    runs = 60
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        own = fit(Observations(list(islice(drawn(rng, rho, 0.1), 200))), Hypothesis(0.1))
        covered += own.low <= rho <= own.high
        widths += own.high - own.low
    # At the ends of [0, 1] it covers more; 60 runs at 95 % give 50 at least with p > .999.
    assert covered >= 50
    assert widths / runs < 0.4


def test_one_that_came_through_refutes_a_rho_of_one() -> None:
    steps = list(islice(drawn(np.random.default_rng(1), 0.9, 0.1), 300))
    own = fit(Observations(steps), Hypothesis(0.1))
    assert own.through
    assert own.at(1.0) == -np.inf


def test_information_is_what_a_step_is_worth() -> None:
    rng = np.random.default_rng(2)
    masses = rng.uniform(0.3, 0.8, 400)
    assert information(masses, 0.5, 0.5) == 0
    assert information(masses, 0.5, 1.0) == np.inf
    far, near = information(masses, 0.5, 0.0), information(masses, 0.5, 0.4)
    assert far > near > 0
    # Against a simulation of the log-likelihood ratio.
    through = rng.random((2000, 400)) < 0.5 * masses
    ratio = np.where(through, np.log(0.5 / 0.6), np.log((1 - 0.5 * masses) / (1 - 0.6 * masses)))
    assert near == pytest.approx(ratio.mean(), rel=0.05)

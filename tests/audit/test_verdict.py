"""What an audit says, on servers that do what they are asked, and on others."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from tests.audit.simulated import END, drawn
from xtc_viz.audit.observation import Observation, Place
from xtc_viz.audit.verdict import Claim, judge


def steps(rho: float, tau: float, count: int, seed: int = 0, **more: object) -> list[Observation]:
    return list(islice(drawn(np.random.default_rng(seed), rho, tau, **more), count))  # type: ignore[arg-type]


@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_a_server_that_does_as_it_is_asked(rho: float) -> None:
    seen = steps(rho, 0.1, 3000) + steps(rho, 0.1, 1000, seed=1, temperature=0.6)
    verdict = judge(seen, Claim(rho, 0.1))
    assert verdict.acts
    assert verdict.as_claimed
    assert verdict.known
    assert verdict.more == 0
    assert verdict.place is Place.BEFORE
    assert "as it was asked to" in verdict.sentence
    assert "before temperature" in verdict.sentence


def test_a_server_without_xtc() -> None:
    verdict = judge(steps(0.0, 0.1, 2000), Claim(0.5, 0.1))
    assert verdict.acts is False
    assert verdict.as_claimed is False
    assert verdict.sentence.startswith("There is no XTC at τ = 0.1: ρ = 0.00")


def test_a_wrong_floor_is_found() -> None:
    verdict = judge(steps(0.5, 0.05, 3000), Claim(0.5, 0.2))
    assert verdict.as_claimed is False
    low, high = verdict.floors
    assert low <= 0.05 <= high < 0.1
    assert "that is not what it does" in verdict.sentence


def test_the_floor_after_temperature_is_found() -> None:
    seen = steps(0.5, 0.1, 2500)
    seen += steps(0.5, 0.1, 1500, seed=1, temperature=0.6, place=Place.AFTER)
    verdict = judge(seen, Claim(0.5, 0.1))
    assert verdict.place is Place.AFTER
    assert verdict.as_claimed, "colder steps say nothing of ρ before their place is known"
    assert verdict.best.removable <= 2500


@pytest.mark.parametrize("protected", [True, False])
def test_whether_ends_are_protected_is_found(protected: bool) -> None:
    ends = frozenset({END})
    own = ends if protected else frozenset()
    verdict = judge(steps(0.8, 0.05, 4000, protected=own), Claim(0.8, 0.05), ends)
    assert verdict.ends_protected is protected
    assert verdict.as_claimed


def test_little_was_seen() -> None:
    verdict = judge(steps(0.5, 0.1, 12), Claim(0.5, 0.1))
    assert not verdict.known
    assert verdict.more is not None
    assert 50 < verdict.more < 20_000
    nothing = judge([Observation((1,), (0.99,), 1)] * 5, Claim(0.5, 0.1))
    assert nothing.more is None
    assert "nothing can be said" in nothing.sentence
    assert judge([], Claim(0.5, 0.1)).acts is None


def test_what_it_asks_for_is_about_enough() -> None:
    first = judge(steps(0.5, 0.1, 200), Claim(0.5, 0.1))
    assert first.more is not None
    then = judge(steps(0.5, 0.1, 200 + 2 * first.more), Claim(0.5, 0.1))
    assert then.known


@pytest.mark.slow
def test_it_rarely_accuses_a_server_that_is_right() -> None:
    accused = sum(
        judge(steps(0.5, 0.1, 150, seed=seed), Claim(0.5, 0.1)).as_claimed is False
        for seed in range(40)
    )
    assert accused == 0

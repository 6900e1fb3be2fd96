"""When an audit stops: on simulated servers, whose every way of doing XTC is known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice

import numpy as np
import pytest

from tests.audit.simulated import drawn
from xtc_viz.audit.asking import COLD, FIRST, LENGTH, Source, check_claim, check_steps, verdicts
from xtc_viz.audit.observation import Observation, Place
from xtc_viz.audit.verdict import Claim, Verdict
from xtc_viz.errors import SettingsError

CLAIM = Claim(0.5, 0.1)


def simulated(rho: float, tau: float, *, place: Place = Place.BEFORE, seed: int = 0) -> Source:
    warm, cold = (
        drawn(np.random.default_rng(seed), rho, tau, temperature=t, place=place) for t in (1, COLD)
    )
    return lambda temperature: list(islice(warm if temperature == 1.0 else cold, LENGTH))


def every(source: Source, claim: Claim = CLAIM, most: int = 4000) -> list[Verdict]:
    return list(verdicts(source, claim, most=most))


@pytest.mark.parametrize("place", list(Place))
def test_it_asks_until_it_is_known_and_then_colder_until_the_place_is(place: Place) -> None:
    *before, last = every(simulated(0.8, 0.1, place=place), Claim(0.8, 0.1))
    assert last.known
    assert last.as_claimed
    assert last.place is place
    assert last.steps < 4000
    assert [own.steps for own in before] == sorted({own.steps for own in before})
    assert before[0].steps == FIRST
    assert not any(own.known and own.place for own in before)


def test_without_xtc_it_asks_for_nothing_colder() -> None:
    asked = []
    source = simulated(0.0, 0.1)

    def more(temperature: float) -> Sequence[Observation]:
        asked.append(temperature)
        return source(temperature)

    *_, last = every(more)
    assert (last.acts, last.as_claimed) == (False, False)
    assert set(asked) == {1.0}


def test_it_never_looks_at_more_than_it_may() -> None:
    *_, last = every(simulated(0.5, 0.1), most=300)
    assert last.steps == 300
    assert not last.known
    assert last.more
    assert last.effort == f"300 steps so far; about {last.more:,} more would tell."


@pytest.mark.slow
def test_a_server_that_is_right_is_not_accused_however_often_one_looks() -> None:
    for seed in range(12):
        for own in every(simulated(0.5, 0.1, seed=seed), most=1500):
            assert own.as_claimed is not False, own.sentence


def test_where_no_more_comes_it_says_what_it_has() -> None:
    [nothing] = every(lambda temperature: [])
    assert (nothing.steps, nothing.known) == (0, False)
    source, left = simulated(0.5, 0.1), [3]

    def few(temperature: float) -> Sequence[Observation]:
        left[0] -= 1
        return source(temperature) if left[0] >= 0 else ()

    [found] = every(few)
    assert (found.steps, found.known) == (3 * LENGTH, False)


def test_a_verdict_is_plain_values() -> None:
    [first, *_] = every(simulated(1.0, 0.1), Claim(1.0, 0.1))
    values = json.loads(json.dumps(first.to_dict()))
    assert values["claim"] == {"rho": 1.0, "tau": 0.1}
    assert values["tau"] == [0.1, 0.1, 0.1]
    assert values["rho"][1] > 0.9
    assert values["place"] is None
    assert values["sentence"] == first.sentence


@pytest.mark.parametrize(
    ("rho", "tau", "words"),
    [
        (1.5, 0.1, r"`rho` must be in \[0, 1\], but is 1.5"),
        (float("nan"), 0.1, "`rho`"),
        (0.5, 0.0, r"`tau` must be in \[0.001, 0.5\]"),
        (0.5, 0.6, "`tau`"),
        (0.5, float("nan"), "`tau`"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(rho: float, tau: float, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        check_claim(rho, tau)


@pytest.mark.parametrize("steps", [0, FIRST - 1, 2_000_000])
def test_steps_have_bounds(steps: int) -> None:
    with pytest.raises(SettingsError, match="`steps` must be in"):
        check_steps(steps)

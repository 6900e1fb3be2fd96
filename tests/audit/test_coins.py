"""Which coins are draws, by hand; against a real server in tests/models/remote."""

from __future__ import annotations

import pytest

from xtc_viz.audit.coins import summed
from xtc_viz.runs.explained import Dice, Explained
from xtc_viz.sampling.rule import Decision, Outcome

OPEN = Decision(Outcome.SKIPPED, (4, 2), (), None, 0.0, 0.6)
SHUT = Decision(Outcome.UNAMBIGUOUS, (4,), (), None, 0.0, 0.0)


def step(token: int, decision: Decision, expected: int | None = None) -> Explained:
    return Explained(token, 0.5, decision, token if expected is None else expected)


def test_every_second_coin_is_an_earlier_draw() -> None:
    """Coins take one number a step and draws two, so token 2n has the number of token n's draw."""
    dice = Dice(11)
    coins = [dice.coin() for _ in range(40)]
    draws = [dice.draw() for _ in range(20)]
    for n, draw in enumerate(draws, 1):
        assert coins[2 * n - 1] == pytest.approx(draw, abs=1e-6)
        assert coins[2 * n - 2] != pytest.approx(draw, abs=1e-6)


def test_what_is_counted() -> None:
    first = Dice(3).draw()
    low, high = first + 0.01, first - 0.01
    text = [step(4, OPEN), step(4, OPEN), step(2, OPEN), step(4, SHUT)]
    below = summed([(3, text)], low)
    assert (below.open, below.tied, below.low) == (3, 1, 1)
    assert (below.low_through, below.high_through) == (1, 0)
    above = summed([(3, text)], high)
    assert (above.low, above.low_through, above.high_through) == (0, 0, 1)
    assert below.known
    assert "4 of 4 tokens of 1 texts" in below.sentence


def test_other_dice_are_told() -> None:
    other = summed([(3, [step(4, OPEN, expected=2)] * 5)], 0.5)
    assert not other.known
    assert other.sentence.startswith("Only 0 of 5 tokens")
    assert not summed([], 0.5).known
    assert "No text was written" in summed([], 0.5).sentence
    nothing = summed([(3, [step(4, SHUT)])], 0.5)
    assert "nothing to remove" in nothing.sentence

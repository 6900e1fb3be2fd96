"""Which coins are draws, by hand; against a real server in tests/models/remote."""

from __future__ import annotations

import numpy as np
import pytest

from xtc_viz.audit.coins import summed
from xtc_viz.models.remote.kinds.base import Drawn
from xtc_viz.runs.chain import Chain
from xtc_viz.runs.explained import Dice, Explained, explain
from xtc_viz.sampling.distribution import PartialLogits
from xtc_viz.settings import XTCSettings

OPEN = PartialLogits(np.array([4, 2, 9]), np.log([0.5, 0.3, 0.2]).astype(np.float32), 0.0)
SHUT = PartialLogits(np.array([4, 2]), np.log([0.99, 0.01]).astype(np.float32), 0.0)


def written(chain: Chain, *tokens: tuple[int, PartialLogits]) -> tuple[Chain, list[Explained]]:
    return chain, list(explain([Drawn(*pair) for pair in tokens], chain))


def foretold(chain: Chain, *known: PartialLogits) -> tuple[Chain, list[Explained]]:
    """What the dice of a seed write."""
    _, steps = written(chain, *((int(one.ids[0]), one) for one in known))
    return written(chain, *zip((step.expected for step in steps), known, strict=True))


def test_every_second_coin_is_an_earlier_draw() -> None:
    """Coins take one number a step and draws two, so token 2n has the number of token n's draw."""
    dice = Dice(11)
    coins = [dice.coin() for _ in range(40)]
    draws = [dice.draw() for _ in range(20)]
    for n, draw in enumerate(draws, 1):
        assert coins[2 * n - 1] == pytest.approx(draw, abs=1e-6)
        assert coins[2 * n - 2] != pytest.approx(draw, abs=1e-6)


def test_what_is_counted() -> None:
    """Of four steps one has nothing to remove, and of the others the second has a used coin."""
    first = Dice(10).draw()
    low, high = (XTCSettings(first + by, 0.1) for by in (0.01, -0.01))
    below = summed([foretold(Chain(low, seed=10), OPEN, OPEN, OPEN, SHUT)], low.rho)
    assert (below.open, below.tied, below.low) == (3, 1, 1)
    assert (below.low_through, below.high_through) == (0, 0)
    assert below.known
    assert "4 of 4 tokens of 1 texts" in below.sentence
    above = summed([foretold(Chain(high, seed=10), OPEN, OPEN, OPEN, SHUT)], high.rho)
    assert (above.low, above.low_through, above.high_through) == (0, 0, 1)
    against = summed([written(Chain(low, seed=10), (4, OPEN), (4, OPEN))], low.rho)
    assert against.low_through == 1, "a token came through that should have been removed"


def test_the_beginning_of_a_text_is_shown() -> None:
    found = summed([foretold(Chain(XTCSettings(0.5, 0.1), seed=3), *[OPEN] * 20)], 0.5)
    assert [roll.source for _, roll in found.first[:6]] == [None, 0, None, 1, None, 2]
    for _, roll in found.first:
        if roll.source is not None:
            assert roll.coin == pytest.approx(found.first[roll.source][1].draw, abs=1e-6)
    assert "first" not in found.to_dict()


def test_other_dice_are_told() -> None:
    chain = Chain(XTCSettings(0.5, 0.1), seed=3)
    _, right = foretold(chain, *[OPEN] * 5)
    wrong = [(2 if step.token == 4 else 4, OPEN) for step in right]
    other = summed([written(chain, *wrong)], 0.5)
    assert not other.known
    assert other.sentence.startswith("Only 0 of 5 tokens")
    assert not summed([], 0.5).known
    assert "No text was written" in summed([], 0.5).sentence
    nothing = summed([foretold(chain, SHUT)], 0.5)
    assert "nothing to remove" in nothing.sentence

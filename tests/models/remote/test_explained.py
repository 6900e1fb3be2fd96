"""What the server's own XTC did, rebuilt from what it reported, against what it wrote."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from xtc_viz.errors import SettingsError
from xtc_viz.models.remote.kinds.base import Drawn
from xtc_viz.models.remote.kinds.llamacpp import LlamaCpp
from xtc_viz.models.remote.model import RemoteModel
from xtc_viz.runs.chain import Chain
from xtc_viz.runs.explained import Dice, Explained, explain, explained
from xtc_viz.sampling.distribution import PartialLogits
from xtc_viz.sampling.rule import Outcome
from xtc_viz.settings import XTCSettings

PROBS = np.array([0.5, 0.3, 0.15, 0.05])
KNOWN = PartialLogits(np.array([4, 2, 9, 1]), np.log(PROBS).astype(np.float32), 0.0)


def written(remote: RemoteModel, chain: Chain, length: int = 40) -> list[Explained]:
    assert isinstance(remote.server, LlamaCpp)
    prompt = remote.encode("Once upon a time")
    return list(explained(remote.server, prompt, chain, length))


@pytest.mark.engines
@pytest.mark.slow
@pytest.mark.parametrize(
    "chain",
    [
        Chain(XTCSettings(0.5, 0.1)),
        Chain(XTCSettings(1.0, 0.05), min_p=0.02, temperature=1.3),
        Chain(XTCSettings(0.0, 0.1), top_k=5, temperature=0.7),
        Chain(XTCSettings(1.0, 0.6), min_p=0.5),
        Chain(XTCSettings(0.3, 0.02), top_k=200),
    ],
    ids=["usual", "temperature", "off", "inert", "low τ"],
)
def test_every_token_is_foretold(remote: RemoteModel, chain: Chain) -> None:
    wrong, outcomes = [], Counter[Outcome]()
    for seed in range(8):
        for step in written(
            remote, Chain(chain.xtc, chain.top_k, chain.min_p, chain.temperature, seed)
        ):
            outcomes[step.step.outcome] += 1
            if step.token != step.expected:
                wrong.append((seed, step))
            assert step.left
            assert step.step.p > 0.0
    total = outcomes.total()
    assert total > 200
    assert len(wrong) <= total / 200  # a sum that rounds to the other side of the draw
    acts = chain.xtc.rho > 0.0 and chain.xtc.tau <= 0.5
    assert (outcomes[Outcome.FIRED] > 10) is acts
    chances = outcomes[Outcome.FIRED] + outcomes[Outcome.SKIPPED]
    if acts:
        assert outcomes[Outcome.FIRED] / chances == pytest.approx(chain.xtc.rho, abs=0.15)


@pytest.mark.engines
@pytest.mark.slow
def test_another_threshold_than_was_claimed_does_not_foretell(remote: RemoteModel) -> None:
    assert isinstance(remote.server, LlamaCpp)
    real, claimed = (Chain(XTCSettings(1.0, tau)) for tau in (0.3, 0.02))
    steps = remote.server.write(remote.encode("Once upon a time"), 40, 50, real.request())
    assert all(step.left for step in explain(steps, real))
    assert sum(not step.left for step in explain(steps, claimed)) > 5


def test_a_step_by_hand() -> None:
    """ρ = 1 and τ = 0.1 remove 4 and 2; 9 has 3/4 of what is left."""
    chain = Chain(XTCSettings(1.0, 0.1), top_k=4)
    [step] = explain([Drawn(9, KNOWN)], chain)
    assert step.step.removed == (4, 2)
    assert step.step.underdog == 9
    assert step.step.p == pytest.approx(0.15)
    assert step.expected == (9 if Dice(chain.seed).draw() <= 0.75 else 1)
    assert step.left
    [other] = explain([Drawn(4, KNOWN)], chain)
    assert not other.left


def test_cutoffs_come_before_xtc() -> None:
    [step] = explain([Drawn(4, KNOWN)], Chain(XTCSettings(1.0, 0.1), top_k=3, min_p=0.5))
    assert list(step.step.ids[: step.step.eligible]) == [4, 2]
    assert step.step.p == pytest.approx(0.5 / 0.8)
    [alone] = explain([Drawn(4, KNOWN)], Chain(XTCSettings(1.0, 0.1), top_k=1))
    assert (alone.step.outcome, alone.expected) == (Outcome.UNAMBIGUOUS, 4)


def test_the_coin_of_a_step_is_of_the_number_that_drew_the_token_before() -> None:
    """The second coin is the high half of the first draw, all but its last bits."""
    for seed in range(50):
        dice = Dice(seed)
        dice.coin()
        assert dice.coin() == pytest.approx(dice.draw(), abs=1e-6)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"top_k": 0}, "`top_k` must be in"),
        ({"min_p": 1.5}, "`min_p` must be in"),
        ({"temperature": 0.0}, "`temperature` must be above 0"),
        ({"seed": 2**32 - 1}, "`seed` must be in"),
    ],
)
def test_what_cannot_be_explained_is_refused(values: dict[str, float], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Chain(XTCSettings(0.5, 0.1), **values)  # type: ignore[arg-type]


@pytest.mark.engines
@pytest.mark.slow
def test_a_question_right_behind_a_stream_is_answered(remote: RemoteModel) -> None:
    """The server ends the connection of a stream a moment after it: of 30 questions one was lost
    while they shared it."""
    chain = Chain(XTCSettings(0.5, 0.1), seed=7)
    assert isinstance(remote.server, LlamaCpp)
    for _ in range(60):
        prompt = remote.encode("Once upon a time")
        assert len(list(explained(remote.server, prompt, chain, 2))) == 2

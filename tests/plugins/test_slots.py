"""Requests in slots: each keeps its own settings and coins, wherever it is moved."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from xtc_viz.plugins.vllm.parameters import Parameters
from xtc_viz.plugins.vllm.slots import Slots
from xtc_viz.sampling.operator import apply_xtc
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.settings import XTCSettings

CPU = torch.device("cpu")
SIZE = 64


def test_a_request_gets_the_coins_of_the_page() -> None:
    slots = Slots(CPU)
    assert slots.put(3, Parameters(0.5, 0.1, seed=7))
    p = torch.tensor([[0.5, 0.3, 0.2]]).log()
    fired = [bool(torch.isneginf(slots.apply(p.clone(), [3], [step])[0, 0])) for step in range(200)]
    coins = [SharedRandomness(7).coin(step) for step in range(200)]
    assert fired == [coin < 0.5 for coin in coins]


def test_without_a_seed_coins_differ() -> None:
    slots = Slots(CPU)
    p = torch.tensor([[0.5, 0.3, 0.2]] * 2).log()
    for slot in (0, 1):
        slots.put(slot, Parameters(0.5, 0.1))
    fired = [
        torch.isneginf(slots.apply(p.clone(), [0, 1], [step] * 2)[:, 0]).tolist()
        for step in range(64)
    ]
    assert any(one != other for one, other in fired)


def test_a_request_that_wants_nothing_costs_nothing() -> None:
    slots = Slots(CPU)
    assert not slots.put(0, None)
    assert not slots.put(1, Parameters(0.0, 0.1))
    assert not len(slots)
    assert slots.put(2, Parameters(0.0, 0.1, min_p=0.3)), "it cuts off all the same"
    p = torch.tensor([[0.5, 0.3, 0.14, 0.06]]).log()
    assert torch.isneginf(slots.apply(p, [2], [0])).tolist() == [[False, False, True, True]]


class Batches(RuleBasedStateMachine):
    """Requests come, go and move; each row is always decided by its own request."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = Slots(CPU)
        self.model: dict[int, Parameters] = {}
        self.rng = np.random.default_rng(5)

    @rule(
        slot=st.integers(0, 5),
        rho=st.sampled_from([0.0, 0.5, 1.0]),
        tau=st.sampled_from([0.02, 0.1, 0.3]),
        seed=st.integers(0, 9),
        protected=st.frozensets(st.integers(0, SIZE - 1), max_size=3),
    )
    def put(self, slot: int, rho: float, tau: float, seed: int, protected: frozenset[int]) -> None:
        parameters = Parameters(rho, tau, seed, protected)
        self.slots.put(slot, parameters)
        self.model[slot] = parameters

    @rule(slot=st.integers(0, 5))
    def free(self, slot: int) -> None:
        self.slots.free(slot)
        self.model.pop(slot, None)

    @rule(source=st.integers(0, 5), to=st.integers(0, 5), swap=st.booleans())
    def move(self, source: int, to: int, swap: bool) -> None:
        if source == to:
            return
        self.slots.move(source, to, swap=swap)
        moved, displaced = self.model.pop(source, None), self.model.pop(to, None)
        if moved:
            self.model[to] = moved
        if swap and displaced:
            self.model[source] = displaced

    @invariant()
    def each_row_is_its_own(self) -> None:
        logits = torch.from_numpy(self.rng.normal(0, 3, (6, SIZE)).astype(np.float32))
        order = self.rng.permutation(6).tolist()
        steps = self.rng.integers(0, 50, 6).tolist()
        result = self.slots.apply(logits.clone(), order, steps)
        for row, slot, step, own in zip(logits, order, steps, result, strict=True):
            parameters = self.model.get(slot, Parameters(0.0, 0.1, 0))
            assert parameters.seed is not None
            xtc = XTCSettings(parameters.rho, parameters.tau, protected=parameters.protected)
            coin = SharedRandomness(parameters.seed).coin(step)
            expected, _ = apply_xtc(row[None], [coin], xtc)
            assert torch.equal(own, expected[0])


TestBatches = Batches.TestCase

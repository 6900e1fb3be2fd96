"""XTC on a batch by tensors alone, held to the operator on the host."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from xtc_viz.plugins.vllm.ondevice import RowSettings, exclude
from xtc_viz.sampling.distribution import Distribution
from xtc_viz.sampling.operator import apply_xtc
from xtc_viz.sampling.stages import STAGES
from xtc_viz.sampling.stages.base import Truncation
from xtc_viz.sampling.truncation import truncate
from xtc_viz.settings import SamplerSettings, XTCSettings

NOBODY = torch.full((1, 0), -1)


def rows(
    taus: list[float], fires: list[bool], protected: list[list[int]] | None = None
) -> RowSettings:
    ids = protected or [[] for _ in taus]
    widest = max(map(len, ids))
    return RowSettings(
        fires=torch.tensor(fires),
        tau=torch.tensor(taus),
        protected=torch.tensor([own + [-1] * (widest - len(own)) for own in ids]).reshape(
            len(taus), widest
        ),
        most=max(int(1 / tau) for tau in taus),
    )


def removed(logits: torch.Tensor) -> list[set[int]]:
    return [set(np.flatnonzero(np.isneginf(row.numpy())).tolist()) for row in logits]


def test_a_worked_example() -> None:
    p = torch.tensor([[0.4, 0.3, 0.2, 0.06, 0.04, 0.0, 0.0, 0.0]])
    assert removed(exclude(p.log(), rows([0.1], [True])))[0] - {5, 6, 7} == {0, 1}
    assert removed(exclude(p.log(), rows([0.1], [False])))[0] == {5, 6, 7}
    assert removed(exclude(p.log(), rows([0.1], [True], [[1]])))[0] == {5, 6, 7}, "left alone"
    assert removed(exclude(p.log(), rows([0.5], [True])))[0] == {5, 6, 7}
    # Colder, only the first two clear τ.
    colder = exclude(p.log(), rows([0.1], [True]), torch.tensor([0.3]))
    assert removed(colder)[0] - {5, 6, 7} == {0}


@given(st.data())
def test_it_removes_what_the_operator_removes(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([2, 7, 64, 96, 1000, 1024, 6144]), label="V")
    count = data.draw(st.integers(1, 5), label="B")
    seed = data.draw(st.integers(0, 2**32 - 1), label="seed")
    rng = np.random.default_rng(seed)
    # Whole numbers make ties; few of them are much larger than the rest.
    logits = rng.integers(-4, 3, (count, size)).astype(np.float32)
    logits[:, rng.integers(0, size, min(size, 12))] += 6
    some = st.sampled_from([0.01, 0.03, 0.1, 0.2, 0.45])
    taus = data.draw(st.lists(some, min_size=count, max_size=count), label="τ")
    coins = rng.random(count).tolist()
    protected = [rng.integers(0, size, 3).tolist() for _ in range(count)]
    settings = rows(taus, [coin < 0.5 for coin in coins], protected)
    result = exclude(torch.from_numpy(logits.copy()), settings)
    for row, tau, coin, own, ids in zip(logits, taus, coins, result, protected, strict=True):
        xtc = XTCSettings(rho=0.5, tau=tau, protected=frozenset(ids))
        expected, _ = apply_xtc(torch.from_numpy(row[None]), [coin], xtc)
        assert torch.equal(own, expected[0])


@given(
    seed=st.integers(0, 2**32 - 1),
    top_k=st.sampled_from([0, 1, 5, 40]),
    top_p=st.sampled_from([1.0, 0.5, 0.9]),
    min_p=st.sampled_from([0.0, 0.05, 0.3]),
)
def test_cutoffs_in_front_are_those_of_the_stack(
    seed: int, top_k: int, top_p: float, min_p: float
) -> None:
    size = 512
    table = np.random.default_rng(seed).normal(0, 3, (1, size))
    logits = torch.from_numpy(table.astype(np.float32))
    settings = RowSettings(
        fires=torch.tensor([False]),
        tau=torch.tensor([0.1]),
        protected=NOBODY,
        most=10,
        top_k=torch.tensor([top_k or size]),
        top_p=torch.tensor([top_p if top_p < 1 else 2.0]),
        min_p=torch.tensor([min_p]),
    )
    kept = set(range(size)) - removed(exclude(logits.clone(), settings))[0]
    own = SamplerSettings(top_k=top_k, top_p=top_p, min_p=min_p)
    named = {stage.name: stage for stage in STAGES if isinstance(stage, Truncation)}
    off = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}
    filters = [named[name].filter(own) for name in off if getattr(own, name) != off[name]]
    distribution = Distribution.of(logits[0])
    head = distribution.head(size, 0.0)
    cut = truncate(distribution, head, filters).cut_by < 0
    assert kept == set(np.asarray(head.ids)[cut].tolist())


def test_xtc_sees_what_the_cutoffs_leave() -> None:
    p = torch.tensor([[0.35, 0.3, 0.09, 0.08, 0.06, 0.05, 0.04, 0.03]])
    alone = rows([0.1], [True])
    assert removed(exclude(p.log(), alone))[0] == {0}
    # Of the three that are left, p is .47, .41, .12.
    with_cut = RowSettings(
        alone.fires, alone.tau, alone.protected, alone.most, top_k=torch.tensor([3])
    )
    assert removed(exclude(p.log(), with_cut))[0] == {0, 1, 3, 4, 5, 6, 7}


def test_a_row_that_wants_nothing_is_left_as_it_is() -> None:
    logits = torch.tensor([[0.0, -1.0, -2.0, -500.0]] * 2)  # the last one's p is 0 in float32
    settings = RowSettings(
        fires=torch.tensor([False, True]),
        tau=torch.tensor([2.0, 0.1]),
        protected=torch.full((2, 0), -1),
        most=11,
        top_k=torch.tensor([4, 3]),
        top_p=torch.tensor([2.0, 0.9]),
        min_p=torch.tensor([0.0, 0.1]),
    )
    own, other = exclude(logits.clone(), settings)
    assert torch.equal(own, logits[0])
    assert not torch.equal(other, logits[1])


@pytest.mark.gpu
def test_nothing_is_copied_to_the_host() -> None:
    logits = torch.randn(64, 151_936, device="cuda")
    settings = RowSettings(
        fires=torch.ones(64, dtype=torch.bool, device="cuda"),
        tau=torch.full((64,), 0.05, device="cuda"),
        protected=torch.zeros((64, 2), dtype=torch.int64, device="cuda"),
        most=20,
    )
    exclude(logits, settings)
    torch.cuda.set_sync_debug_mode("error")
    try:
        exclude(logits, settings)
    finally:
        torch.cuda.set_sync_debug_mode("default")

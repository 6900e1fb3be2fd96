"""A distribution of which only the head is known: what stays exact, and what is said to be not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sampling.test_stack import CONTEXT, peaked
from xtc_viz.errors import DistributionError
from xtc_viz.models.fake import most_probable
from xtc_viz.records.step import Bound, Step
from xtc_viz.sampling.distribution import PartialLogits
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.whatif import decided, evaluate
from xtc_viz.settings import SamplerSettings, XTCSettings, in_order

V = 3000


def both(sampler: SamplerSettings, seed: int, k: int, height: float = 6.0) -> tuple[Step, Step]:
    """The same step on all logits, and on their k most probable ones."""
    logits = peaked(seed, V, height=height)
    shared = SharedRandomness(seed)
    coin, noise = shared.coin(0), shared.noise(0, V)
    stack = SamplerStack(sampler)
    return (
        stack.run(CONTEXT, logits, coin, noise),
        stack.run(CONTEXT, most_probable(logits, k), coin, noise),
    )


@given(
    seed=st.integers(0, 10**6),
    k=st.sampled_from([15, 60, 400]),
    tau=st.floats(0.1, 0.4),
    height=st.floats(1.0, 9.0),
)
@settings(max_examples=60)
def test_what_is_not_marked_is_exact(seed, k, tau, height):
    whole, part = both(SamplerSettings(xtc=XTCSettings(0.6, tau)), seed, k, height)
    assert part.bound & Bound.ENTROPY
    assert part.entropy <= whole.entropy + 1e-4
    assert not part.bound & (Bound.ELIGIBLE | Bound.SCALE | Bound.TRUNCATION)  # k > 1/τ
    assert (part.outcome, part.eligible, part.removed) == (
        whole.outcome, whole.eligible, whole.removed,
    )  # fmt: skip
    assert part.removed_mass == pytest.approx(whole.removed_mass, abs=1e-5)
    if not part.bound & Bound.DRAW:
        assert (part.token, part.counterfactual) == (whole.token, whole.counterfactual)
        assert part.rank == whole.rank
        assert part.q == pytest.approx(whole.q, rel=1e-4)


def test_a_draw_from_what_was_not_shown_is_marked():
    steps = [both(SamplerSettings(), seed, 15, height=1.0) for seed in range(60)]
    missed = [whole.token != part.token for whole, part in steps]
    marked = [bool(part.bound & Bound.DRAW) for _, part in steps]
    assert any(missed)
    assert all(mark for miss, mark in zip(missed, marked, strict=True) if miss)
    peaked_steps = [both(SamplerSettings(), seed, 60, height=9.0)[1] for seed in range(60)]
    assert not all(step.bound & Bound.DRAW for step in peaked_steps)


@pytest.mark.parametrize(
    ("sampler", "bound"),
    [
        (SamplerSettings(temperature=1.4), Bound.SCALE),
        (SamplerSettings(repetition_penalty=1.2), Bound.SCALE),
        (SamplerSettings(temperature=1.4, order=in_order("temperature")), Bound.SCALE),
        (SamplerSettings(top_k=40), Bound.TRUNCATION),
        (SamplerSettings(xtc=XTCSettings(0.5, 1e-5)), Bound.ELIGIBLE),
        (SamplerSettings(top_k=10), Bound.NONE),
        (SamplerSettings(min_p=0.2), Bound.NONE),
    ],
)
def test_each_bound_is_named(sampler, bound):
    _, part = both(sampler, 5, 30, height=2.0)
    assert part.bound & (Bound.SCALE | Bound.TRUNCATION | Bound.ELIGIBLE) == bound


@given(seed=st.integers(0, 10**6), stack=st.sampled_from([{"top_k": 9}, {"min_p": 0.1}]))
@settings(max_examples=30)
def test_truncation_within_what_is_shown_leaves_no_tail(seed, stack):
    whole, part = both(SamplerSettings(xtc=XTCSettings(0.5, 0.1), **stack), seed, 100, height=9.0)
    if not part.bound:
        assert (part.token, part.counterfactual) == (whole.token, whole.counterfactual)
        assert list(part.ids) == list(whole.ids)
        np.testing.assert_allclose(part.probs, whole.probs, rtol=1e-4)


def test_a_whole_vocabulary_has_no_bounds():
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    known = PartialLogits(np.array([2, 0, 1]), logits[[2, 0, 1]].numpy(), 0.0)
    noise = SharedRandomness(3).noise(0, 3)
    stack = SamplerStack(SamplerSettings(xtc=XTCSettings(1.0, 0.25)))
    whole, part = (stack.run(CONTEXT, row, 0.2, noise) for row in (logits, known))
    assert part.bound is Bound.NONE
    assert part.removed == whole.removed == (0,)
    assert (part.token, list(part.ids)) == (whole.token, list(whole.ids))


@pytest.mark.parametrize(
    ("log_probs", "outside"), [([], 0.5), ([np.nan], 0.1), ([np.inf], 0.0), ([-0.1], 1.0)]
)
def test_no_distribution_raises(log_probs, outside):
    known = PartialLogits(np.arange(len(log_probs)), np.array(log_probs, np.float32), outside)
    with pytest.raises(DistributionError, match="log-probabilities must be finite or -inf"):
        SamplerStack(SamplerSettings()).run(CONTEXT, known, 0.5, SharedRandomness(1).noise(0, 9))


def test_a_what_if_says_where_more_tokens_may_have_been_eligible():
    """Twelve tokens at 0.06 are shown; up to five more could have as much."""
    known = PartialLogits(np.arange(12), np.full(12, np.log(0.06), np.float32), 0.28)
    sampler = SamplerSettings(xtc=XTCSettings(0.5, 0.2))
    step = SamplerStack(sampler).run(CONTEXT, known, 0.9, SharedRandomness(1).noise(0, V))
    assert evaluate([step], XTCSettings(1.0, 0.2), 100).exact  # none clears it
    assert not evaluate([step], XTCSettings(1.0, 0.05), 100).exact


def test_a_what_if_of_a_whole_record_has_no_bounds():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    sampler = SamplerSettings(top_k=4, xtc=XTCSettings(0.5, 0.15), order=in_order("top_k"))
    step = SamplerStack(sampler).run(CONTEXT, logits, 0.9, SharedRandomness(1).noise(0, 5))
    [decision] = evaluate([step], XTCSettings(1.0, 0.15), 100).decisions
    assert decided(step, decision, sampler, CONTEXT.tolist()).bound is Bound.NONE

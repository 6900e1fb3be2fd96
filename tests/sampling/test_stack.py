"""The stack against transformers' own processors, and the draw against its definition."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    EpsilonLogitsWarper,
    EtaLogitsWarper,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
    TypicalLogitsWarper,
)

from tests.sampling.dense import dense_stages
from xtc_viz.errors import DistributionError
from xtc_viz.sampling.operator import apply_xtc
from xtc_viz.sampling.randomness import SharedRandomness, gumbel
from xtc_viz.sampling.rule import Outcome
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.stageview import final_probs, view
from xtc_viz.sampling.whatif import decided, evaluate
from xtc_viz.settings import ORDER, SamplerSettings, XTCSettings, in_order

REFERENCES = {
    "repetition_penalty": RepetitionPenaltyLogitsProcessor,
    "temperature": TemperatureLogitsWarper,
    "top_k": TopKLogitsWarper,
    "top_p": TopPLogitsWarper,
    "min_p": MinPLogitsWarper,
    "typical_p": TypicalLogitsWarper,
    "epsilon_cutoff": EpsilonLogitsWarper,
    "eta_cutoff": EtaLogitsWarper,
}
CONTEXT = torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
INF = math.inf
ONES: dict[str, Any] = {
    "repetition_penalty": 1.3,
    "temperature": 0.7,
    "top_k": 12,
    "top_p": 0.8,
    "min_p": 0.05,
    "typical_p": 0.7,
    "epsilon_cutoff": 0.004,
    "eta_cutoff": 0.02,
}


def peaked(seed, vocab_size=5000, spread=2.0, height=6.0):
    """Logits like a language model's: a few high ones over a broad tail."""
    generator = torch.Generator().manual_seed(seed)
    row = torch.randn(vocab_size, generator=generator) * spread
    heads = torch.randperm(vocab_size, generator=generator)[: 1 + seed % 7]
    row[heads] += height + 3 * torch.rand(len(heads), generator=generator)
    return row


def reference(logits, **settings):
    """transformers' processors one after the other; yields (name, p) behind each."""
    scores = logits[None]
    for name, value in settings.items():
        scores = REFERENCES[name](value)(CONTEXT[None], scores)
        yield name, scores.softmax(-1)[0].numpy()


def assert_same_stages(logits, values):
    ours = dense_stages(SamplerSettings(**values), CONTEXT, logits)
    for name, p in reference(logits, **values):
        # A token at the very edge of a cumulative mass may fall either way in float32.
        different = (ours[name] > 0) != (p > 0)
        assert p[different].sum() + ours[name][different].sum() < 1e-5, name
        np.testing.assert_allclose(ours[name][~different], p[~different], atol=2e-5)


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("seed", range(6))
def test_each_stage_alone_keeps_what_transformers_keeps(name, seed):
    logits = peaked(seed, spread=(1.0, 2.5)[seed % 2])
    assert_same_stages(logits, {name: ONES[name]})


@pytest.mark.parametrize("seed", range(12))
def test_all_stages_in_order(seed):
    assert_same_stages(peaked(seed, height=(2.0, 6.0, 12.0)[seed % 3]), ONES)


@given(
    row=st.lists(st.integers(-400, 400), min_size=1, max_size=30, unique=True),
    masked=st.integers(0, 3),
    values=st.fixed_dictionaries(
        {},
        optional={
            "top_k": st.integers(1, 40),
            "top_p": st.floats(0.01, 0.99),
            "min_p": st.floats(0.01, 1.0),
            "typical_p": st.floats(0.01, 0.99),
            "epsilon_cutoff": st.floats(0.0001, 0.5),
            "eta_cutoff": st.floats(0.0001, 0.5),
        },
    ),
)
def test_any_truncation_of_small_vocabularies(row, masked, values):
    logits = torch.tensor([*(x / 64 for x in row), *[-math.inf] * masked])
    ours = dense_stages(SamplerSettings(**values), torch.tensor([0]), logits)
    before = ours["raw"]
    scores = logits[None]
    for name in [name for name in REFERENCES if name in values]:
        value = values[name]
        scores = REFERENCES[name](value)(None, scores)
        p = scores.softmax(-1)[0].numpy()
        different = (ours[name] > 0) != (p > 0)
        if different.any():  # only where float32 decides: an edge, hit to seven digits
            assert _at_the_edge(before, name, value), (name, value, ours[name], p)
            return
        np.testing.assert_allclose(ours[name], p, atol=1e-5)
        before = p


def _at_the_edge(p, name, value):
    """Whether a cutoff of this stage falls on a token's value to within float32 rounding."""
    p = np.sort(p[p > 0].astype("f8"))[::-1] / p.sum(dtype="f8")
    entropy = -(p * np.log(p)).sum()
    if name == "top_p":
        distances = np.abs(np.cumsum(p) - value)
    elif name == "typical_p":
        shift = np.abs(-np.log(p) - entropy)
        order = np.argsort(shift)
        near_tie = np.diff(shift[order]).min(initial=1.0)
        distances = np.append(np.abs(np.cumsum(p[order]) - value), near_tie)
    else:
        floors = {
            "min_p": value * p[0],
            "epsilon_cutoff": value,
            "eta_cutoff": min(value, math.sqrt(value) * math.exp(-entropy)),
        }
        distances = np.abs(p - floors[name]) if name in floors else np.array([1.0])
    return distances.min() < 1e-5


def test_top_k_keeps_all_that_tie_at_its_edge():
    logits = torch.tensor([3.0, 2.0, 2.0, 2.0, 1.0])
    p = dense_stages(SamplerSettings(top_k=2), CONTEXT[:1], logits)["top_k"]
    assert (p > 0).tolist() == [True, True, True, True, False]


# --- XTC in the stack -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("truncation", [{}, {"top_p": 0.9}, {"min_p": 0.02, "typical_p": 0.8}])
def test_xtc_acts_on_what_the_stages_left(seed, truncation):
    """Against transformers' processors and the tensor operator, end to end."""
    xtc = XTCSettings(rho=0.5, tau=0.05)
    sampler = SamplerSettings(temperature=1.2, xtc=xtc, **truncation)
    logits = peaked(seed)
    scores = TemperatureLogitsWarper(1.2)(None, logits[None])
    for name, value in truncation.items():
        scores = REFERENCES[name](value)(None, scores)
    coin = SharedRandomness(seed).coin(0)
    result, [decision] = apply_xtc(scores, [coin], xtc)
    noise = SharedRandomness(seed).noise(0, 5000)
    step = SamplerStack(sampler).run(CONTEXT, logits, coin, noise)
    assert step.outcome is decision.outcome
    assert tuple(step.ids[: step.eligible]) == decision.eligible
    assert step.removed == decision.removed
    assert step.removed_mass == pytest.approx(decision.removed_mass, abs=1e-5)
    q = result.double().softmax(-1)[0].numpy()
    np.testing.assert_allclose(dense_stages(sampler, CONTEXT, logits, coin)["xtc"], q, atol=1e-5)
    assert step.q == pytest.approx(q[step.token], rel=1e-4)


def test_xtc_before_temperature_decides_on_unscaled_probabilities():
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    xtc = XTCSettings(rho=1.0, tau=0.2)
    noise = SharedRandomness(1).noise(0, 4)

    def run(order):
        sampler = SamplerSettings(temperature=3.0, xtc=xtc, order=order)
        return (
            SamplerStack(sampler).run(CONTEXT, logits, 0.0, noise),
            dense_stages(sampler, CONTEXT, logits),
        )

    after, _ = run(ORDER)
    before, stages = run(in_order("temperature"))
    assert (after.eligible, after.removed) == (3, (0, 1))  # flattened: .34 .29 .23 .16
    assert (before.eligible, before.removed) == (2, (0,))
    q = np.array([0, 0.3, 0.15, 0.05]) ** (1 / 3)
    np.testing.assert_allclose(stages["temperature"], q / q.sum(), atol=1e-6)
    assert list(stages) == ["raw", "xtc", "temperature"]
    assert before.q == pytest.approx((q / q.sum())[before.token], rel=1e-5)


def test_temperature_zero_takes_the_most_probable_token_that_xtc_left():
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    stack = SamplerStack(SamplerSettings(temperature=0.0, xtc=XTCSettings(rho=0.5, tau=0.1)))
    for noise in (SharedRandomness(s).noise(0, 4) for s in range(5)):
        fired = stack.run(CONTEXT, logits, 0.2, noise)
        assert (fired.token, fired.counterfactual, fired.q) == (2, 0, 1.0)
        skipped = stack.run(CONTEXT, logits, 0.7, noise)
        assert (skipped.token, skipped.outcome) == (0, Outcome.SKIPPED)


def test_masked_tokens_are_never_eligible_nor_drawn():
    logits = torch.tensor([-math.inf, 0.0, -math.inf, 0.0])
    stack = SamplerStack(SamplerSettings(xtc=XTCSettings(rho=0.0, tau=0.001)))
    steps = [stack.run(CONTEXT, logits, 0.5, SharedRandomness(s).noise(0, 4)) for s in range(40)]
    assert {step.token for step in steps} == {1, 3}
    assert all(list(step.ids) == [1, 3] for step in steps)
    assert steps[0].entropy == pytest.approx(math.log(2))


@given(
    seed=st.integers(0, 10**6),
    order=st.permutations(ORDER),
    on=st.sets(st.sampled_from(list(ONES)), max_size=5),
    coin=st.sampled_from([0.0, 0.9]),
)
@settings(max_examples=150)
def test_any_order_of_stages(seed, order, on, coin):
    """Against transformers' processors and the tensor operator, run in that order."""
    xtc = XTCSettings(rho=0.5, tau=0.05)
    values = {name: ONES[name] for name in on}
    sampler = SamplerSettings(xtc=xtc, order=order, **values)
    logits = peaked(seed, vocab_size=400)
    scores = without = logits[None]
    for stage in order:
        if stage == "xtc":
            scores, _ = apply_xtc(scores, [coin], xtc)
        elif stage in on:
            scores, without = (
                REFERENCES[stage](ONES[stage])(CONTEXT[None], x) for x in (scores, without)
            )
    noise = SharedRandomness(seed).noise(0, 400)
    step = SamplerStack(sampler).run(CONTEXT, logits, coin, noise)
    theirs = scores.double().softmax(-1)[0].numpy()
    ours = list(dense_stages(sampler, CONTEXT, logits, coin).values())[-1]
    different = (ours > 0) != (theirs > 0)
    if different.any():  # a token at the very edge of a cumulative mass
        assert theirs[different].sum() + ours[different].sum() < 0.02
        return
    np.testing.assert_allclose(ours, theirs, atol=2e-5, rtol=1e-3)
    assert step.q == pytest.approx(theirs[step.token], rel=2e-3)
    log_q = np.log(theirs, out=np.full(400, -np.inf), where=theirs > 0)
    assert step.token == (log_q + gumbel(noise)).argmax()
    if not (np.isfinite(without.numpy()) != np.isfinite(scores.numpy())).any():
        assert step.counterfactual == step.token


def test_truncation_after_xtc_sees_what_it_left():
    """aphrodite's order: top-k and top-p come behind XTC."""
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    sampler = SamplerSettings(top_k=2, xtc=XTCSettings(rho=1.0, tau=0.15), order=in_order("top_k"))
    step = SamplerStack(sampler).run(CONTEXT, logits, 0.0, SharedRandomness(4).noise(0, 5))
    assert (step.eligible, step.removed) == (3, (0, 1))  # it received all five
    assert list(step.final) == pytest.approx([0, 0, 0.2 / 0.26, 0.06 / 0.26, 0])
    assert step.token in (2, 3)
    assert step.counterfactual in (0, 1)  # without XTC top-k leaves these
    assert step.q == pytest.approx(step.final[step.token])


# --- the draw -------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("order", [ORDER, in_order("temperature")], ids=["early", "late"])
def test_the_draw_is_the_argmax_over_the_whole_vocabulary(temperature, order):
    """The head-and-contenders shortcut against the plain definition, on every token."""
    logits = peaked(3, vocab_size=3000, spread=1.0, height=2.0)
    xtc = XTCSettings(rho=0.5, tau=0.01)
    stack = SamplerStack(SamplerSettings(temperature=temperature, xtc=xtc, order=order))
    tail = 0
    for seed in range(150):
        shared = SharedRandomness(seed)
        step = stack.run(CONTEXT, logits, shared.coin(0), noise := shared.noise(0, 3000))
        log_p = (logits.double() / temperature).log_softmax(-1).numpy()
        scores = log_p + gumbel(noise)
        assert step.counterfactual == scores.argmax()
        scores[list(step.removed)] = -math.inf
        assert step.token == scores.argmax()
        tail += step.rank > 100
    assert tail > 0, "some draws must come from beyond the recorded head"


@pytest.mark.slow
def test_draws_follow_the_distribution():
    p = np.array([0.5, 0.25, 0.15, 0.1])
    stack = SamplerStack(SamplerSettings(xtc=XTCSettings(rho=0.5, tau=0.2)))
    logits, n = torch.tensor(p).log().float(), 5000
    shared = SharedRandomness(11)
    steps = [stack.run(CONTEXT, logits, shared.coin(t), shared.noise(t, 4)) for t in range(n)]
    q = np.array([0, 0.25, 0.15, 0.1]) / 0.5
    for expected, tokens in (
        (0.5 * p + 0.5 * q, [s.token for s in steps]),
        (p, [s.counterfactual for s in steps]),
    ):
        observed = np.bincount(tokens, minlength=4) / n
        assert (np.abs(observed - expected) < 4 * np.sqrt(expected * (1 - expected) / n)).all()


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), top=st.sampled_from([100, 300, 1000]))
def test_observing_never_changes_sampling(seed, top):
    sampler = SamplerSettings(temperature=1.4, xtc=XTCSettings(rho=0.5, tau=0.02))
    logits, noise = peaked(seed), SharedRandomness(seed).noise(0, 5000)
    coin = SharedRandomness(seed).coin(0)
    least = SamplerStack(sampler, 1).run(CONTEXT, logits, coin, noise)
    more = SamplerStack(sampler, top).run(CONTEXT, logits, coin, noise)
    for name in ("token", "counterfactual", "removed", "rank", "p", "q", "entropy", "log_z"):
        assert getattr(least, name) == getattr(more, name)


# --- the record -----------------------------------------------------------------------------


def test_a_step_worked_by_hand():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.1]).log()
    stack = SamplerStack(SamplerSettings(xtc=XTCSettings(rho=0.5, tau=0.15)))
    step = stack.run(CONTEXT, logits, 0.23, SharedRandomness(7).noise(0, 4))
    assert step.outcome is Outcome.FIRED
    assert (step.eligible, step.removed, step.underdog) == (3, (0, 1), 2)
    assert step.removed_mass == step.removable_mass == pytest.approx(0.7)
    assert list(step.ids) == [0, 1, 2, 3]
    assert list(step.probs) == pytest.approx([0.4, 0.3, 0.2, 0.1])
    assert step.entropy == pytest.approx(-sum(p * math.log(p) for p in (0.4, 0.3, 0.2, 0.1)))
    assert step.token in (2, 3)
    assert step.p == pytest.approx((0.2, 0.1)[step.token - 2])
    assert step.q == pytest.approx(step.p / 0.3, rel=1e-5)
    assert step.rank == step.token + 1
    assert step.log_z == step.log_z_raw == pytest.approx(0.0, abs=1e-6)
    assert step.log_z_final == pytest.approx(math.log(0.3))
    assert step.tail_mass == pytest.approx(0.0, abs=1e-6)


@given(
    left=st.floats(1e-30, 0.2), temperature=st.sampled_from([1.0, 0.7, 2.0]),
    late=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_q_keeps_its_digits_when_nearly_all_mass_is_removed(left, temperature, late, seed):
    """Two tokens share what the removed one leaves, as a softmax without it says."""
    order = in_order("temperature", "top_k") if late else in_order("temperature")
    xtc = XTCSettings(rho=1.0, tau=left / 4)
    sampler = SamplerSettings(xtc=xtc, temperature=temperature, top_k=3 if late else 0, order=order)
    logits = torch.tensor([0.0, math.log(left / 2), math.log(left / 3)])
    noise = SharedRandomness(seed).noise(0, 3)
    step = SamplerStack(sampler).run(CONTEXT[:0], logits, 0.0, noise)
    assert step.removed == (0, 1)
    sampler = replace(sampler, xtc=replace(xtc, tau=left / 2.5))
    step = SamplerStack(sampler).run(CONTEXT[:0], logits, 0.0, noise)
    assert step.removed == (0,)
    scores = logits[1:].double() / temperature
    expected = [0.0, *scores.softmax(-1).tolist()]
    assert step.q == pytest.approx(expected[step.token], rel=1e-4)
    assert final_probs(step, sampler) == pytest.approx(expected, rel=1e-4)
    behind = next(s for s in view(step, sampler, ()).stages if s.stages == ("xtc",))
    assert behind.probs == pytest.approx([0.0, 0.6, 0.4], rel=1e-4)
    # Decided anew from a record in which nothing was removed, it is the same.
    off = SamplerStack(replace(sampler, xtc=replace(sampler.xtc, rho=0.0)))
    plain = off.run(CONTEXT[:0], logits, 0.0, noise)
    [decision] = evaluate([plain], sampler.xtc, 100).decisions
    anew = decided(plain, decision, sampler, ())
    assert final_probs(anew, sampler) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("top", [3, 200])
def test_tokens_that_tie_in_the_tail_rank_by_their_id(top):
    """The place of a drawn token is that of a whole sort, equal ones by rising id."""
    logits = torch.zeros(200)
    logits[50] = 9.0
    logits[150:] = -INF
    stack = SamplerStack(SamplerSettings(), top)
    order = [50, *(v for v in range(200) if v != 50)]
    for token in (50, 0, 49, 51, 149, 150, 199):
        step = stack.run(CONTEXT[:0], logits, 0.5, SharedRandomness(1).noise(0, 200), forced=token)
        assert step.rank == 1 + order.index(token)


@given(seed=st.integers(0, 10**6), values=st.sampled_from([
    {"min_p": 0.05}, {"top_p": 0.9}, {"top_k": 7, "temperature": 1.3}, {"repetition_penalty": 1.2},
]))  # fmt: skip
def test_the_stages_and_the_decision_agree_at_an_exact_tau(seed, values):
    """τ is a probability that XTC received: the stage view holds the same number against it."""
    logits = peaked(seed, vocab_size=60)
    noise = SharedRandomness(seed).noise(0, 60)
    plain = SamplerSettings(**values)
    received = SamplerStack(plain).run(CONTEXT, logits, 0.9, noise).probs
    taus = [p for p in received if 0 < p < 1]
    tau = taus[seed % len(taus)] if taus else 0.5
    sampler = replace(plain, xtc=XTCSettings(rho=1.0, tau=tau))
    step = SamplerStack(sampler).run(CONTEXT, logits, 0.0, noise)
    stages = view(step, sampler, CONTEXT.tolist()).stages
    before = stages[[stage.stages for stage in stages].index(("xtc",)) - 1]
    clear = [v for v, p in zip(step.ids, before.probs, strict=False) if p >= sampler.xtc.tau32]
    assert clear == list(step.ids[: step.eligible])
    assert tau in before.probs or not taus


def test_a_chosen_token_outside_the_candidates_is_added_to_them():
    logits = peaked(5, vocab_size=4000, spread=0.5, height=0.5)
    stack = SamplerStack(SamplerSettings(), 100)
    steps = [stack.run(CONTEXT, logits, 0.5, SharedRandomness(s).noise(0, 4000)) for s in range(9)]
    outside = [step for step in steps if step.rank > 100]
    assert outside
    for step in outside:
        assert len(step.ids) == 101
        assert step.ids[100] == step.token
        assert step.probs[100] == pytest.approx(step.p)
        p = logits.softmax(-1)
        assert step.rank == 1 + int((p > p[step.token]).sum())


def test_the_eligible_prefix_is_complete_even_for_a_tiny_floor():
    logits = torch.zeros(4000)  # 4,000 tokens at p = 0.00025
    stack = SamplerStack(SamplerSettings(xtc=XTCSettings(rho=1.0, tau=0.0002)))
    step = stack.run(CONTEXT, logits, 0.0, SharedRandomness(1).noise(0, 4000))
    assert step.eligible == len(step.ids) == 4000
    assert step.underdog == 0
    assert step.removed_mass == pytest.approx(1 - 1 / 4000)
    assert step.token == 0  # all tie: the lowest id is the underdog, alone left


def test_truncation_is_recorded():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    stack = SamplerStack(SamplerSettings(top_k=4, min_p=0.25))
    step = stack.run(CONTEXT, logits, 0.9, SharedRandomness(1).noise(0, 5))
    assert step.kept == pytest.approx((0.96, 0.9))
    assert list(step.cut_ids) == [3, 4]
    assert list(step.cut_by) == [1, 0]  # min-p dropped 3, top-k dropped 4
    assert list(step.cut_probs) == pytest.approx([0.06, 0.04])
    assert list(step.probs) == pytest.approx([p / 0.9 for p in (0.4, 0.3, 0.2)])
    assert step.tail_mass == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_no_distribution_raises(bad):
    with pytest.raises(DistributionError, match="finite or -inf"):
        SamplerStack(SamplerSettings()).run(
            CONTEXT, torch.tensor([0.0, bad]), 0.5, SharedRandomness(1).noise(0, 2)
        )


def test_the_logits_are_never_written_to():
    logits = peaked(1)
    before = logits.clone()
    sampler = SamplerSettings(**ONES, xtc=XTCSettings(rho=1.0))
    SamplerStack(sampler).run(CONTEXT, logits, 0.0, SharedRandomness(1).noise(0, 5000))
    assert torch.equal(logits, before)

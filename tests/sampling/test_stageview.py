"""The record, seen stage by stage, against the dense stages that the stack itself gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.sampling.dense import dense_stages
from xtc_viz.records.step import Bound
from xtc_viz.sampling.distribution import PartialLogits
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.stageview import final_probs, tail_shares, view
from xtc_viz.settings import SamplerSettings, XTCSettings, in_order

XTC = XTCSettings(rho=1.0, tau=0.05)
CONTEXT = torch.tensor([3, 1, 4, 1, 5])
STACKS = {
    "plain": {},
    "temperature": {"temperature": 0.7},
    "penalty": {"repetition_penalty": 1.4},
    "both": {"repetition_penalty": 1.4, "temperature": 1.3},
    "truncated": {"top_k": 30, "top_p": 0.9, "min_p": 0.03, "typical_p": 0.9},
    "cutoffs": {"epsilon_cutoff": 0.01, "eta_cutoff": 0.05},
    "late": {"temperature": 1.7, "order": in_order("temperature"), "top_p": 0.95},
    "zero": {"temperature": 0.0},
    "everything": {
        "repetition_penalty": 1.2,
        "temperature": 1.2,
        "top_p": 0.95,
        "min_p": 0.02,
    },
    "three penalties": {
        "repetition_penalty": 1.2,
        "presence_penalty": 0.4,
        "frequency_penalty": 0.3,
        "penalty_window": 3,
        "temperature": 0.8,
    },
    "dry": {"dry_multiplier": 0.8, "dry_allowed_length": 1, "min_p": 0.01},
    "dynamic": {"temperature": 1.0, "dynatemp_range": 0.6, "top_k": 60},
    "sigma": {"top_n_sigma": 1.5, "temperature": 1.4},
    # koboldcpp's: truncation, then temperature, then XTC
    "temperature behind truncation": {
        "top_k": 40,
        "top_p": 0.95,
        "temperature": 1.3,
        "order": in_order("temperature", "xtc"),
    },
    "truncation on both sides of temperature": {
        "top_k": 40,
        "temperature": 1.3,
        "min_p": 0.05,
        "order": ("top_k", "temperature", "min_p", "xtc"),
    },
    # aphrodite's: top-k and top-p after XTC
    "truncation behind XTC": {
        "top_k": 12,
        "top_p": 0.9,
        "order": in_order("top_k", "top_p"),
    },
    # mlx-lm's: top-p, min-p, XTC, top-k, temperature
    "mlx": {
        "top_p": 0.98,
        "top_k": 20,
        "temperature": 0.8,
        "order": in_order("xtc", "top_k", "temperature"),
    },
    "dynamic behind XTC": {"dynatemp_range": 0.5, "order": in_order("temperature")},
    "penalty behind XTC": {"repetition_penalty": 1.3, "order": in_order("repetition_penalty")},
}


@pytest.mark.parametrize("values", STACKS.values(), ids=STACKS)
@pytest.mark.parametrize("seed", range(4))
def test_the_record_shows_what_the_stack_did(values, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(800, generator=generator) * 2
    logits[torch.randperm(800, generator=generator)[:4]] += 4
    sampler = SamplerSettings(xtc=XTC, **values)
    step = SamplerStack(sampler).run(CONTEXT, logits, 0.0, SharedRandomness(seed).noise(0, 800))
    dense = dense_stages(sampler, CONTEXT, logits)
    seen = view(step, sampler, CONTEXT.tolist())
    assert [stage.name for stage in seen.stages] == list(dense)
    for stage in seen.stages:
        p = dense[stage.name]
        np.testing.assert_allclose(stage.probs, p[list(seen.ids)], atol=2e-6, rtol=2e-4)
        assert sum(stage.probs) + stage.rest == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(
        final_probs(step, sampler), list(dense.values())[-1][list(step.ids)], atol=2e-6, rtol=2e-4
    )


def test_dropped_tokens_fall_to_zero_at_their_stage():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    sampler = SamplerSettings(top_k=4, min_p=0.25)
    step = SamplerStack(sampler).run(CONTEXT, logits, 0.9, SharedRandomness(1).noise(0, 5))
    seen = view(step, sampler, CONTEXT.tolist())
    assert seen.ids == (0, 1, 2, 3, 4)
    raw, top_k, min_p, _ = (stage.probs for stage in seen.stages)
    assert raw == pytest.approx((0.4, 0.3, 0.2, 0.06, 0.04))
    assert top_k == pytest.approx([p / 0.96 for p in (0.4, 0.3, 0.2, 0.06, 0)])
    assert min_p == pytest.approx([p / 0.9 for p in (0.4, 0.3, 0.2, 0, 0)])


def test_an_old_record_shows_two_stages_together_whose_parts_it_does_not_know():
    """Version 1 recorded the normalizer behind penalty and temperature, not that in between."""
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.03, 0.01]).log()
    sampler = SamplerSettings(repetition_penalty=1.4, temperature=0.7)
    noise = SharedRandomness(1).noise(0, 6)
    step = replace(SamplerStack(sampler).run(CONTEXT, logits, 0.9, noise), log_zs=())
    seen = view(step, sampler, CONTEXT.tolist())
    names = [stage.name for stage in seen.stages]
    assert names == ["raw", "repetition_penalty + temperature", "xtc"]
    dense = dense_stages(sampler, CONTEXT, logits)
    raw, p = dense["raw"], dense["temperature"]
    np.testing.assert_allclose(seen.stages[1].probs, p[list(seen.ids)], atol=1e-6)
    assert seen.stages[0].probs == pytest.approx(raw[list(seen.ids)], abs=1e-6)


@pytest.mark.parametrize("values", STACKS.values(), ids=STACKS)
@pytest.mark.parametrize("coin", [0.0, 0.99], ids=["fired", "not fired"])
def test_the_tail_is_the_mass_below_tau_before_and_after(values, coin):
    settings = SamplerSettings(**values, xtc=replace(XTC, rho=0.5))
    logits = torch.randn(500, generator=torch.Generator().manual_seed(5)) * 3
    noise = SharedRandomness(1).noise(0, 500)
    step = SamplerStack(settings).run(CONTEXT, logits, coin, noise)
    dense = dense_stages(settings, CONTEXT, logits, coin)
    names = list(dense)
    received, drawn_from = dense[names[names.index("xtc") - 1]], dense[names[-1]]
    below = received < settings.xtc.tau32
    before, after = tail_shares(step, settings)
    assert before == pytest.approx(float(received[below].sum(dtype="f8")), abs=2e-6)
    if settings.temperature:
        assert after == pytest.approx(float(drawn_from[below].sum(dtype="f8")), abs=2e-6)
    else:  # what is drawn has all of it
        assert after == float(below[step.token])


def test_the_tail_by_hand():
    # 0.5, 0.3 and 0.12 clear τ; the two that are removed leave 0.2, of which the tail is 0.08.
    probs = torch.tensor([0.5, 0.3, 0.12, 0.05, 0.03])
    settings = SamplerSettings(xtc=XTCSettings(rho=1.0, tau=0.1))
    noise = SharedRandomness(1).noise(0, 5)
    step = SamplerStack(settings).run(CONTEXT[:0], probs.log(), 0.0, noise)
    assert tail_shares(step, settings) == pytest.approx((0.08, 0.4), abs=1e-6)
    # With a min-p of 0.15 nothing lies below τ any more.
    cut = SamplerSettings(min_p=0.15, xtc=settings.xtc)
    step = SamplerStack(cut).run(CONTEXT[:0], probs.log(), 0.0, noise)
    assert tail_shares(step, cut) == (0.0, 0.0)


def test_of_a_distribution_known_in_part_the_tail_is_at_most_that():
    # A server shows 0.5 and 0.2; of the other 0.3 nobody knows whether a part clears τ.
    known = PartialLogits(np.array([7, 3]), np.log(np.array([0.5, 0.2], "f4")), 0.3)
    settings = SamplerSettings(xtc=XTCSettings(rho=1.0, tau=0.1))
    step = SamplerStack(settings).run(CONTEXT, known, 0.0, SharedRandomness(1).noise(0, 10))
    assert step.bound & Bound.ELIGIBLE
    assert tail_shares(step, settings) == pytest.approx((0.3, 0.6), abs=1e-6)
    # Below what was shown nothing can clear a τ that is higher.
    high = replace(settings, xtc=replace(settings.xtc, tau=0.25))
    step = SamplerStack(high).run(CONTEXT, known, 0.0, SharedRandomness(1).noise(0, 10))
    assert not step.bound & Bound.ELIGIBLE
    assert tail_shares(step, high)[0] == pytest.approx(0.5, abs=1e-6)

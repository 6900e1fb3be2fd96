"""The record, seen stage by stage, against the dense stages that the stack itself gives."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.stages import active_truncations, final_probs, view
from xtc_viz.sampling.truncation import filters
from xtc_viz.settings import SamplerSettings, XTCPlace, XTCSettings

XTC = XTCSettings(rho=1.0, tau=0.05)
CONTEXT = torch.tensor([3, 1, 4, 1, 5])
STACKS = {
    "plain": {},
    "temperature": {"temperature": 0.7},
    "penalty": {"repetition_penalty": 1.4},
    "both": {"repetition_penalty": 1.4, "temperature": 1.3},
    "truncated": {"top_k": 30, "top_p": 0.9, "min_p": 0.03, "typical_p": 0.9},
    "cutoffs": {"epsilon_cutoff": 0.01, "eta_cutoff": 0.05},
    "late": {"temperature": 1.7, "xtc_place": XTCPlace.BEFORE_TEMPERATURE, "top_p": 0.95},
    "zero": {"temperature": 0.0},
    "everything": {
        "repetition_penalty": 1.2,
        "temperature": 1.2,
        "top_p": 0.95,
        "min_p": 0.02,
    },
}


@pytest.mark.parametrize("values", STACKS.values(), ids=STACKS)
@pytest.mark.parametrize("seed", range(4))
def test_the_record_shows_what_the_stack_did(values, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(800, generator=generator) * 2
    logits[torch.randperm(800, generator=generator)[:4]] += 4
    sampler = SamplerSettings(xtc=XTC, **values)
    stack = SamplerStack(sampler)
    step = stack.run(CONTEXT, logits, 0.0, SharedRandomness(seed).noise(0, 800))
    dense = {stage.name: stage.p for stage in stack.stages(CONTEXT, logits, 0.0)}
    seen = view(step, sampler, frozenset(CONTEXT.tolist()))
    names = [stage.name for stage in seen.stages]
    assert names[0] == "raw"
    assert names[-1] == list(dense)[-1]
    for stage in seen.stages:
        p = dense[stage.name.rsplit(" + ")[-1]]
        np.testing.assert_allclose(stage.probs, p[list(seen.ids)], atol=2e-6, rtol=2e-4)
        assert sum(stage.probs) + stage.rest == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(
        final_probs(step, sampler), list(dense.values())[-1][list(step.ids)], atol=2e-6, rtol=2e-4
    )


def test_dropped_tokens_fall_to_zero_at_their_stage():
    logits = torch.tensor([0.4, 0.3, 0.2, 0.06, 0.04]).log()
    sampler = SamplerSettings(top_k=4, min_p=0.25)
    step = SamplerStack(sampler).run(CONTEXT, logits, 0.9, SharedRandomness(1).noise(0, 5))
    seen = view(step, sampler, frozenset())
    assert seen.ids == (0, 1, 2, 3, 4)
    raw, top_k, min_p, _ = (stage.probs for stage in seen.stages)
    assert raw == pytest.approx((0.4, 0.3, 0.2, 0.06, 0.04))
    assert top_k == pytest.approx([p / 0.96 for p in (0.4, 0.3, 0.2, 0.06, 0)])
    assert min_p == pytest.approx([p / 0.9 for p in (0.4, 0.3, 0.2, 0, 0)])


@pytest.mark.parametrize("values", STACKS.values(), ids=STACKS)
def test_truncations_run_in_the_order_in_which_they_are_named(values):
    sampler = SamplerSettings(**values)
    assert active_truncations(sampler) == tuple(name for name, _ in filters(sampler))

"""Temperature 0: engines that act on what XTC leaves, and those that do without XTC."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from xtc_viz.engines.known import ENGINES
from xtc_viz.sampling.dialect import Zero
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.rule import Outcome
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.whatif import evaluate
from xtc_viz.settings import SamplerSettings, XTCSettings

PROBS = [0.4, 0.3, 0.2, 0.1]
NOISE = np.zeros(4, np.int64)


def sampler(name: str, temperature: float = 0.0) -> SamplerSettings:
    xtc = XTCSettings(rho=1.0, tau=0.15, dialect=ENGINES[name].dialect)
    return SamplerSettings(xtc=xtc, temperature=temperature)


def step_of(settings: SamplerSettings):
    logits = torch.tensor(PROBS).log()
    return SamplerStack(settings).run(torch.tensor([0]), logits, 0.0, NOISE)


@pytest.mark.parametrize("name", ENGINES)
def test_temperature_zero_takes_what_xtc_leaves_or_does_without_it(name):
    engine, step = ENGINES[name], step_of(sampler(name))
    if engine.dialect.zero is Zero.SKIPPED:
        assert (step.token, step.outcome, step.removed) == (0, Outcome.SKIPPED, ())
        assert step.removed_mass == 0.0
        assert step.removable_mass == pytest.approx(0.7)
    else:
        assert step.token == step_of(sampler(name, 1.0)).ids[2]
        assert step.outcome is Outcome.FIRED


def test_a_plan_says_where_xtc_is_bypassed():
    assert plan_of(sampler("mlx-lm")).xtc.rho == 0.0
    assert plan_of(sampler("mlx-lm")).bypassed
    assert plan_of(sampler("mlx-lm", 0.5)).xtc.rho == 1.0
    assert not plan_of(sampler("llama.cpp")).bypassed


def test_the_same_in_hindsight():
    lane = sampler("mlx-lm")
    step = step_of(replace(lane, xtc=replace(lane.xtc, dialect=ENGINES["paper"].dialect)))
    assert step.outcome is Outcome.FIRED
    assert evaluate([step], plan_of(lane).xtc, 20).decisions[0].outcome is Outcome.SKIPPED

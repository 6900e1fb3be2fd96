"""The stack stage by stage over the whole vocabulary, for comparing it with others."""

from __future__ import annotations

import numpy as np
import torch

from xtc_viz.sampling.distribution import Distribution, Probs
from xtc_viz.sampling.passage import through
from xtc_viz.sampling.plan import plan_of
from xtc_viz.sampling.stack import _decide
from xtc_viz.settings import SamplerSettings


def dense_stages(
    settings: SamplerSettings, context: torch.Tensor, logits: torch.Tensor, coin: float = 0.0
) -> dict[str, Probs]:
    """Return the distribution behind every stage that is on, by its name, `raw` first."""
    plan = plan_of(settings)
    size = len(logits)
    distribution = Distribution.of(logits)
    stages = {"raw": dense(distribution, size)}
    for stage in plan.before:
        distribution = through((stage,), settings, distribution, context.numpy()).distribution
        stages[str(stage)] = dense(distribution, size)
    decision = _decide(distribution.head(1, settings.xtc.tau), plan.xtc, coin)
    distribution = distribution.without(decision.gone)
    stages["xtc"] = dense(distribution, size)
    for stage in plan.after:
        if settings.temperature == 0.0:
            p = stages[list(stages)[-1]]
            stages["temperature"] = (np.arange(size) == p.argmax()).astype("f4")
        else:
            distribution = through((stage,), settings, distribution, context.numpy()).distribution
            stages[str(stage)] = dense(distribution, size)
    return stages


def dense(distribution: Distribution, size: int) -> Probs:
    """Return p of every token, (size,)."""
    if distribution.ids is None:
        return distribution.p
    p = np.zeros(size, np.float32)
    p[distribution.ids] = distribution.p
    return p

"""Top-n-sigma: keep the tokens whose logit is within n standard deviations of the largest."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np

from xtc_viz.knob import Knob
from xtc_viz.sampling.stages.base import Filter, Logits, Truncation, floor


def sigma_floor(logits: Logits, n: float) -> float:
    """Return the share of the top token's probability below which top-n-sigma drops a token.

    The rule keeps logits of at least max - n·σ (Tang et al., "Top-nσ: Not All Logits Are You
    Need", arXiv 2411.07641). A log-probability is a logit less a constant, so that is the same as
    p ≥ p_max · exp(-n·σ), with p the softmax of these logits. Temperature changes nothing about
    it: it divides max, logits and σ alike.

    σ is llama.cpp's (`llama_sampler_top_n_sigma_apply`): the population's deviation, over all
    logits but -inf. The paper's code divides by V - 1, over the whole vocabulary; so does
    text-generation-webui, where masked tokens count as logits of 0. For a real vocabulary without
    masked tokens the three agree to six digits.

    Args:
        logits: (V,), finite or -inf, at least one finite. Never written to.
        n: above 0.

    Returns:
        exp(-n·σ), in (0, 1]; it may underflow to 0.
    """
    mean = logits.mean()
    if not np.isfinite(mean):
        logits = logits[np.isfinite(logits)]
        mean = logits.mean()
    off = logits - mean
    return exp(-n * sqrt(float(np.dot(off, off)) / len(off)))


def top_n_sigma(n: float) -> Filter:
    return floor(lambda support: sigma_floor(support.logits, n) * float(support.probs[0]))


STAGE = Truncation(
    name="top_n_sigma",
    label="Top-nσ",
    place=60,
    knobs=(
        Knob(
            "top_n_sigma",
            "Top-nσ",
            0.0,
            0.0,
            100.0,
            0.05,
            "Keeps tokens whose score is within n standard deviations of the best. 0 is off.",
            soft_high=5.0,
        ),
    ),
    sees_all=True,
    filter=lambda settings: top_n_sigma(settings.top_n_sigma),
)

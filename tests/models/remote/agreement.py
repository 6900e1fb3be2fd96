"""How two runs of one model are held against each other, wherever it runs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.remote.llama import ANSWERS
from xtc_viz.models.base import LanguageModel
from xtc_viz.records.step import Bound, Step
from xtc_viz.records.trace import Trace
from xtc_viz.runs.jobs import Job
from xtc_viz.runs.record import write
from xtc_viz.runs.recorder import Recorder
from xtc_viz.sampling.randomness import SharedRandomness, gumbel
from xtc_viz.settings import LaneSettings, RunSettings, SamplerSettings, XTCSettings

PLAIN = SamplerSettings()
XTC = SamplerSettings(xtc=XTCSettings(0.5, 0.1))
LENGTH = 60
DECIDED = Bound.DRAW | Bound.ELIGIBLE | Bound.TRUNCATION
"""What of a step may be otherwise where one of these is a bound."""


def settings(*samplers: SamplerSettings, seed: int = 7, length: int = LENGTH) -> RunSettings:
    lanes = tuple(LaneSettings(f"lane {i}", sampler) for i, sampler in enumerate(samplers))
    return RunSettings(lanes=lanes, seed=seed, max_new_tokens=length)


def is_tie(ours: Step, theirs: Step, seed: int, position: int) -> bool:
    """Whether the two tokens that were drawn are so close that rounding decides.

    So are two whose scores are less apart than logits may be, and a token beside τ or a cutoff.
    """
    dice = SharedRandomness(seed)
    pair = (ours.token, theirs.token)
    noise = gumbel(dice.noise_of(position, pair))
    scores = []
    for token, own in zip(pair, noise, strict=True):
        known = dict(zip(ours.ids, ours.probs, strict=True)).get(token)
        scores.append(-np.inf if known is None else np.log(known) + own)
    return bool(abs(scores[0] - scores[1]) < 10 * ANSWERS)


def agree(ours: Trace, theirs: Trace) -> int:
    """Compare two traces step by step up to a tie that fell differently, or a step of the second
    one that says that it may have; return how many steps.
    """
    steps = 0
    for lane, other in zip(ours.lanes, theirs.lanes, strict=True):
        for position, (one, two) in enumerate(zip(lane.steps, other.steps, strict=False)):
            if one.token != two.token:
                assert two.bound & DECIDED or is_tie(one, two, ours.settings.seed, position)
                break
            if two.bound & DECIDED:
                continue
            steps += 1
            assert (one.text, one.outcome, one.removed) == (two.text, two.outcome, two.removed)
            assert (one.counterfactual, one.eligible) == (two.counterfactual, two.eligible)
            assert one.p == pytest.approx(two.p, rel=10 * ANSWERS, abs=1e-6)
            if not two.bound & Bound.SCALE:
                assert one.q == pytest.approx(two.q, rel=10 * ANSWERS, abs=1e-6)
            assert one.rank == two.rank
            assert two.entropy <= one.entropy + ANSWERS
        else:
            assert (len(lane.steps), lane.finish) == (len(other.steps), other.finish)
    return steps


def grown(job: Job, model: LanguageModel) -> Trace:
    recorder = Recorder(job.begin, job.lanes)
    for _ in write(job, recorder, model):
        pass
    return recorder.trace()

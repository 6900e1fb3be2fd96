"""The whole chain in each engine's order, from a record, against the same chain on all logits."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from xtc_viz.engines.chain import at_step, of_numbers
from xtc_viz.engines.known import ENGINES
from xtc_viz.engines.leaves import Effect
from xtc_viz.knobs import KNOBS
from xtc_viz.records.step import Bound
from xtc_viz.sampling.dialect import Coin
from xtc_viz.sampling.plan import BY_NAME, plan_of
from xtc_viz.sampling.randomness import SharedRandomness
from xtc_viz.sampling.stack import SamplerStack
from xtc_viz.sampling.stageview import view
from xtc_viz.settings import SamplerSettings, XTCSettings

V = 60
CONTEXT = (1, 2, 3, 5, 2, 3)


def record(logits, sampler, top, coin=0.3):
    noise = SharedRandomness(7, V).noise(0)
    return SamplerStack(sampler, top).run(torch.tensor(CONTEXT), logits, coin, noise)


def beside(question, engine):
    return next(answer for answer in question.answers if answer.engine == engine)


def sentence(reason):
    return "".join(part if isinstance(part, str) else f"[{part}]" for part in reason.words)

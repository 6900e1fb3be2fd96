"""Cells: one text each, with a name computed from all that decides it.

A cell is one prompt under one condition with one seed and one sample. Its random numbers come from
seed, prompt id and sample (`dice`), never from the condition: all conditions share their dice, as
the lanes of the page do, so that a comparison by prompt, seed and sample is a paired one; prompts,
seeds and samples have independent ones. What a cell holds is therefore the lane that a page shows
for the seed `dice(...)`.

Its name says nothing of the experiment: experiments that have a cell in common share its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any

from xtc_viz.lab.experiment import Experiment, effective
from xtc_viz.lab.identity import Identity
from xtc_viz.lab.suite import Prompt, Suite
from xtc_viz.settings import LaneSettings

SAMPLING = 1
"""The version of how this app samples: raised when the same settings come to give other texts."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One text that an experiment asks for, written or not."""

    prompt: Prompt
    condition: LaneSettings
    seed: int
    sample: int
    name: str

    @property
    def dice(self) -> int:
        return dice(self.seed, self.prompt.id, self.sample)


def dice(seed: int, prompt: str, sample: int) -> int:
    """Return the seed of a cell's random numbers, in [0, 2⁵³): what a page can show exactly."""
    return int.from_bytes(_hash([seed, prompt, sample], 8), "big") >> 11


def cells(
    experiment: Experiment, suite: Suite, identity: Identity, sampling: int = SAMPLING
) -> Iterator[Cell]:
    """Return all cells of an experiment, the conditions of one prompt, seed and sample together.

    `suite` is the one to take; of its prompts as many as the experiment says. `sampling` is the
    version of the app's sampling that wrote them.
    """
    model = asdict(identity)
    # What of the key is the same for all; the sampler is long, and so made plain once.
    samplers = [effective(condition.sampler).to_dict() for condition in experiment.conditions]
    common = {
        "sampling": sampling,
        "model": model,
        "protect": experiment.protect.to_dict(),
        "length": experiment.length,
        "stop": list(experiment.stop),
    }
    states = [blake2b(_json([common, sampler]), digest_size=16) for sampler in samplers]
    for seed in experiment.seeds:
        for sample in range(experiment.samples):
            for prompt in suite.take(experiment.prompts).prompts:
                question = [prompt.id, prompt.text, prompt.system, prompt.chat]
                rest = _json([*question, seed, sample])
                for condition, state in zip(experiment.conditions, states, strict=True):
                    own = state.copy()
                    own.update(rest)
                    yield Cell(prompt, condition, seed, sample, own.hexdigest())


def count(experiment: Experiment, suite: Suite) -> int:
    """Return how many cells an experiment has."""
    texts = len(suite.take(experiment.prompts).prompts) * experiment.samples
    return texts * len(experiment.seeds) * len(experiment.conditions)


def run_name(experiment: Experiment, suite: Suite, identity: Identity) -> str:
    """Return the name of a run: of an experiment, with these very prompts, on this model."""
    values = [experiment.to_dict(), suite.to_dict(), asdict(identity), SAMPLING]
    return _hash(values, 8).hex()


def canonical(value: Any) -> Any:
    """Return plain values so that equal ones are written alike: 1.0 as 1, tuples as lists."""
    if isinstance(value, Mapping):
        return {str(name): canonical(own) for name, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [canonical(own) for own in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _json(value: Any) -> bytes:
    text = json.dumps(canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode()


def _hash(value: Any, size: int) -> bytes:
    return blake2b(_json(value), digest_size=size).digest()

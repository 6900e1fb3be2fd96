"""The stages that change logits: penalties on what was written before, and temperature."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from xtc_viz.sampling.distribution import Distribution, Ids, Logits
from xtc_viz.sampling.plan import BY_NAME
from xtc_viz.sampling.stages.base import Change, Penalty
from xtc_viz.sampling.stages.temperature import dynamic_temperature
from xtc_viz.settings import MIN_TEMPERATURE, TEMPERATURE, SamplerSettings


class Rescaled(NamedTuple):
    """What a stage made of a distribution, and the temperature that it used (1 for a penalty)."""

    distribution: Distribution
    temperature: float


def change_by(stage: str, settings: SamplerSettings, context: Ids) -> Change:
    """Return what a penalty does to logits after `context`, (T,) token ids, prompt included."""
    penalty = BY_NAME[stage]
    assert isinstance(penalty, Penalty)
    return penalty.change(settings, context)


def rescaled(
    stage: str, settings: SamplerSettings, distribution: Distribution, context: Ids
) -> Rescaled:
    """Run a penalty or the temperature stage, whose temperature must not be 0.

    Where tokens lie outside, their mass is kept as it is: nobody knows their logits.
    """
    if stage != TEMPERATURE:
        return Rescaled(_changed(distribution, change_by(stage, settings, context)), 1.0)
    import torch

    temperature = temperature_of(settings, distribution)
    logits = torch.from_numpy(distribution.logits) / temperature
    return Rescaled(_normalized(distribution, logits.numpy()), temperature)


def temperature_of(settings: SamplerSettings, distribution: Distribution) -> float:
    """Return the temperature for this distribution: the one that is set, or one by its entropy.

    It is at least `MIN_TEMPERATURE`, at which hardly anything but the most probable token is left.
    """
    if settings.dynatemp_range == 0.0:
        return float(settings.temperature)
    temperature = dynamic_temperature(
        settings.temperature,
        settings.dynatemp_range,
        settings.dynatemp_exponent,
        distribution.entropy(),
        int(np.count_nonzero(distribution.p)),
    )
    return max(MIN_TEMPERATURE, temperature)


def _changed(distribution: Distribution, change: Change) -> Distribution:
    if not len(change.ids):
        return distribution
    logits = distribution.logits.copy()
    if distribution.ids is None:
        logits[change.ids] = change.apply(logits[change.ids])
    else:
        # The places of the tokens that are here, in the order in which the change names them.
        order = np.argsort(distribution.ids)
        places = np.searchsorted(distribution.ids[order], change.ids).clip(max=len(order) - 1)
        here = distribution.ids[order[places]] == change.ids
        full = np.zeros(len(change.ids), np.float32)
        full[here] = logits[order[places[here]]]
        logits[order[places[here]]] = change.apply(full)[here]
    return _normalized(distribution, logits)


def _normalized(distribution: Distribution, logits: Logits) -> Distribution:
    if distribution.ids is None:
        import torch

        return Distribution.of(torch.from_numpy(logits))
    return Distribution.among(distribution.ids, logits, distribution.outside)

"""A distribution on its way through stages, and what there is to record of that."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from xtc_viz.records.step import Bound
from xtc_viz.sampling.distribution import Distribution, Ids
from xtc_viz.sampling.plan import RESCALING
from xtc_viz.sampling.rescaling import rescaled
from xtc_viz.sampling.truncation import Truncated, filter_of, truncate
from xtc_viz.settings import SamplerSettings, Stage


class Passage(NamedTuple):
    """A distribution behind some stages.

    `log_zs` holds the log-normalizer behind each stage that changed logits, `truncated` what each
    run of truncation stages did. `temperature` is the dynamic one, 0 where there was none. `bound`
    says what is not exact, because the distribution was known in part only.
    """

    distribution: Distribution
    log_zs: tuple[float, ...] = ()
    truncated: tuple[Truncated, ...] = ()
    temperature: float = 0.0
    bound: Bound = Bound.NONE


def through(
    stages: Sequence[Stage],
    settings: SamplerSettings,
    distribution: Distribution,
    context: Ids,
    at_least: int = 1,
) -> Passage:
    """Run stages, none of them XTC or temperature 0, on a distribution.

    `context` holds the (T,) token ids so far. Truncation looks at `at_least` tokens or more.
    """
    log_zs: list[float] = []
    truncated: list[Truncated] = []
    temperature, bound = 0.0, Bound.NONE
    for rescales, group in groupby(stages, key=RESCALING.__contains__):
        names = list(group)
        if not rescales:
            filters = [filter_of(stage, settings) for stage in names]
            head = distribution.head(at_least, settings.xtc.tau)
            result = truncate(distribution, head, filters, distribution.entropy())
            distribution = result.left(distribution)
            truncated.append(result)
            if result.bounded:
                bound |= Bound.TRUNCATION
            continue
        for stage in names:
            if distribution.outside:
                bound |= Bound.SCALE
            distribution, used = rescaled(stage, settings, distribution, context)
            log_zs.append(distribution.log_z)
            if stage is Stage.TEMPERATURE and settings.dynatemp_range > 0.0:
                temperature = used
    return Passage(distribution, tuple(log_zs), tuple(truncated), temperature, bound)

"""A distribution on its way through stages, and what there is to record of that."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from xtc_viz.records.step import Bound
from xtc_viz.sampling.distribution import Distribution, Ids
from xtc_viz.sampling.plan import BY_NAME, truncates
from xtc_viz.sampling.rescaling import rescaled
from xtc_viz.sampling.stages.base import Truncation
from xtc_viz.sampling.truncation import Truncated, truncate
from xtc_viz.settings import TEMPERATURE, SamplerSettings


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
    stages: Sequence[str],
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
    for cuts, group in groupby(stages, key=truncates):
        names = list(group)
        if cuts:
            kinds = [kind for name in names if isinstance(kind := BY_NAME[name], Truncation)]
            filters = [kind.filter(settings) for kind in kinds]
            head = distribution.head(at_least, settings.xtc.tau)
            result = truncate(distribution, head, filters)
            if result.bounded or (distribution.outside and any(k.sees_all for k in kinds)):
                bound |= Bound.TRUNCATION
            distribution = result.left(distribution)
            truncated.append(result)
            continue
        for stage in names:
            if distribution.outside:
                bound |= Bound.SCALE
            distribution, used = rescaled(stage, settings, distribution, context)
            log_zs.append(distribution.log_z)
            if stage == TEMPERATURE and settings.dynatemp_range > 0.0:
                temperature = used
    return Passage(distribution, tuple(log_zs), tuple(truncated), temperature, bound)

"""A distribution on its way through stages, and what there is to record of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from xtc_viz.records.step import Bound
from xtc_viz.sampling.distribution import Distribution, Ids
from xtc_viz.sampling.plan import RESCALING
from xtc_viz.sampling.rescaling import rescaled
from xtc_viz.sampling.truncation import Truncated, filter_of, truncate
from xtc_viz.settings import SamplerSettings, Stage


@dataclass(frozen=True, slots=True)
class Passage:
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
    passage = Passage(distribution)
    for rescales, group in groupby(stages, key=lambda stage: stage in RESCALING):
        if rescales:
            for stage in group:
                passage = _rescale(stage, settings, passage, context)
        else:
            passage = _truncate(tuple(group), settings, passage, at_least)
    return passage


def _rescale(stage: Stage, settings: SamplerSettings, passage: Passage, context: Ids) -> Passage:
    result = rescaled(stage, settings, passage.distribution, context)
    dynamic = stage is Stage.TEMPERATURE and settings.dynatemp_range > 0.0
    return replace(
        passage,
        distribution=result.distribution,
        log_zs=(*passage.log_zs, result.distribution.log_z),
        temperature=result.temperature if dynamic else passage.temperature,
        bound=passage.bound | (Bound.SCALE if passage.distribution.outside else Bound.NONE),
    )


def _truncate(
    stages: Sequence[Stage], settings: SamplerSettings, passage: Passage, at_least: int
) -> Passage:
    distribution = passage.distribution
    filters = [filter_of(stage, settings) for stage in stages]
    head = distribution.head(at_least, settings.xtc.tau)
    result = truncate(distribution, head, filters, distribution.entropy())
    return replace(
        passage,
        distribution=result.left(distribution),
        truncated=(*passage.truncated, result),
        bound=passage.bound | (Bound.TRUNCATION if result.bounded else Bound.NONE),
    )

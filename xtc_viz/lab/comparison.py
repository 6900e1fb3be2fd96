"""The table of a run: each metric of each condition, and what it differs by from a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from xtc_viz.errors import SettingsError
from xtc_viz.lab.generation import Generation, Group, groups
from xtc_viz.lab.metrics import METRICS, measure
from xtc_viz.lab.metrics.base import Metric
from xtc_viz.lab.samples import NO_CONTEXT, Context, Samples
from xtc_viz.lab.statistics import (
    CONFIDENCE,
    Interval,
    Pairs,
    WinTieLoss,
    by_prompt,
    detectable,
    holm,
    interval,
    paired,
    sign_flip,
    win_tie_loss,
)

Values = Mapping[Group, float | None]


def scores(
    generations: Iterable[Generation],
    metrics: Iterable[Metric] = tuple(METRICS.values()),
    context: Context = NO_CONTEXT,
    samples: int | None = None,
) -> dict[str, dict[Group, float | None]]:
    """Return the value of each metric, by its name, for each group of generations.

    A group of fewer than `samples` generations, or than the largest one has, is left out: how many
    there are moves most metrics by itself, as more texts share more phrases.
    """
    chosen = tuple(metrics)
    members = groups(generations)
    size = max(map(len, members.values()), default=0) if samples is None else samples
    rows = {
        group: measure(Samples(some, context), chosen)
        for group, some in members.items()
        if len(some) >= size
    }
    return {one.name: {group: row[one.name] for group, row in rows.items()} for one in chosen}


def conditions(values: Values) -> tuple[str, ...]:
    """Return the names of the conditions, in the order in which they occur."""
    return tuple(dict.fromkeys(group.condition for group in values))


def levels(values: Values, dice: int) -> dict[str, Interval]:
    """Return the mean of a metric over prompts in each condition, with its interval.

    `dice` seeds the resampling of each by itself, here as below: an interval is the same whatever
    else is computed beside it.
    """
    return {
        name: interval(by_prompt(values, (name,))[1][:, 0], np.random.default_rng(dice))
        for name in conditions(values)
    }


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of one condition against the baseline, paired by prompt and seed.

    `difference` is condition − baseline, `percent` the same in percent of each prompt's baseline;
    `p` is the sign-flip test's, `p_holm` adjusted for all conditions compared in this metric.
    `better` is 1 or −1 where the interval says that the condition is better or worse in the
    metric's direction, else 0. `detectable` is the least difference that so many prompts show.
    """

    metric: str
    condition: str
    baseline: str
    difference: Interval
    percent: Interval
    p: float
    p_holm: float
    prompts: WinTieLoss
    detectable: float
    better: int

    @property
    def firm(self) -> bool:
        """Whether the difference holds among all conditions that are compared in this metric."""
        return self.p_holm < 1 - CONFIDENCE

    @property
    def sign(self) -> str:
        """▲ better, ▼ worse, ◆ different, hollow where not firm; "" where nothing is shown."""
        if not self.difference.excludes_zero:
            return ""
        return ("◆▲▼" if self.firm else "◇△▽")[self.better]


def compare(
    scores: Mapping[str, Values],
    baseline: str,
    dice: int,
    metrics: Mapping[str, Metric] = METRICS,
) -> list[Comparison]:
    """Compare every other condition with the baseline in every metric that both have values of.

    Raises:
        SettingsError: no group is of the condition `baseline`.
    """
    names = tuple(dict.fromkeys(name for values in scores.values() for name in conditions(values)))
    if names and baseline not in names:
        raise SettingsError("baseline", f"one of {', '.join(names)}", baseline)
    rows = []
    for metric, values in scores.items():
        sign = metrics[metric].direction.sign
        others = [name for name in names if name != baseline]
        pairs = {name: paired(values, baseline, name) for name in others}
        rows += of_pairs(metric, baseline, pairs, sign, dice)
    return rows


def of_pairs(
    metric: str, baseline: str, pairs: Mapping[str, Pairs], sign: int, dice: int
) -> list[Comparison]:
    """Return the comparison of each condition that has pairs, p adjusted for all of them.

    `sign` is 1 where more of the metric is better, −1 where less is, 0 where neither is.
    """
    comparisons = [
        _one(metric, baseline, name, own, sign, dice)
        for name, own in pairs.items()
        if len(own.prompts)
    ]
    adjusted = holm([one.p for one in comparisons])
    return [replace(one, p_holm=float(p)) for one, p in zip(comparisons, adjusted, strict=True)]


def _one(
    metric: str, baseline: str, condition: str, pairs: Pairs, sign: int, dice: int
) -> Comparison:
    difference = interval(pairs.difference, np.random.default_rng(dice))
    p = float(sign_flip(pairs.difference, np.random.default_rng(dice)))
    return Comparison(
        metric=metric,
        condition=condition,
        baseline=baseline,
        difference=difference,
        percent=interval(pairs.percent, np.random.default_rng(dice)),
        p=p,
        p_holm=p,
        prompts=win_tie_loss(pairs.difference, sign or 1),
        detectable=detectable(pairs.difference),
        better=sign * int(np.sign(difference.mean)) if difference.excludes_zero else 0,
    )

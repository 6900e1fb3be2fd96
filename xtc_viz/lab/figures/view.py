"""What one figure shows of a run: which metrics and conditions, in which theme."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xtc_viz.errors import SettingsError, shortened
from xtc_viz.figures.theme import DARK, LIGHT, Theme
from xtc_viz.lab.comparison import Comparison
from xtc_viz.lab.experiment import effective
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.metrics.base import Family, Metric
from xtc_viz.lab.results import DICE, Observed, Results
from xtc_viz.lab.statistics import Interval, interval, paired
from xtc_viz.settings import XTC_OFF, LaneSettings, SamplerSettings

THEMES = {"light": LIGHT, "dark": DARK}
WIDE = 640
"""Pixels: the narrowest that a file with figures is made for."""
NARROWEST, WIDEST = 240, 4_000
LONGEST_NAME = 60
"""Characters of a condition's name that a sentence quotes."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a person chooses of a figure.

    `metric` is what it shows where it shows one, "" for its own; `theme` one of `THEMES`;
    `conditions` are names, none for all. The baseline is there in any case. It is arranged for a
    `width` in pixels, and may be shown somewhat wider.
    """

    metric: str = ""
    theme: str = "light"
    conditions: tuple[str, ...] = ()
    width: int = WIDE

    def __post_init__(self) -> None:
        if self.metric and self.metric not in METRICS:
            raise SettingsError("metric", f"one of {', '.join(METRICS)}", self.metric)
        if self.theme not in THEMES:
            raise SettingsError("theme", f"one of {', '.join(THEMES)}", self.theme)
        if type(self.width) is not int or not NARROWEST <= self.width <= WIDEST:
            raise SettingsError("width", f"an integer in [{NARROWEST}, {WIDEST}]", self.width)
        if isinstance(self.conditions, str) or not isinstance(self.conditions, Iterable):
            raise SettingsError("conditions", "a list of names", self.conditions)
        object.__setattr__(self, "conditions", tuple(self.conditions))
        for name in self.conditions:
            if not isinstance(name, str):
                raise SettingsError("conditions", "a list of names", name)


USUAL = Options()


@dataclass(frozen=True)
class View:
    """Results as one figure sees them; `metrics` are those that it shows, by name.

    Raises `SettingsError` where the options name what these results do not have.
    """

    results: Results
    options: Options = USUAL
    metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = self.results.conditions
        for name in self.options.conditions:
            if name not in known:
                bounds = f"names of {', '.join(shortened(one, LONGEST_NAME) for one in known)}"
                raise SettingsError("conditions", bounds, name)
        chosen = self.options.metric
        if chosen and chosen not in self.results.means:
            bounds = f"one that was measured ({', '.join(self.results.means) or 'none was'})"
            raise SettingsError("metric", bounds, chosen)

    @property
    def theme(self) -> Theme:
        return THEMES[self.options.theme]

    @property
    def width(self) -> int:
        return self.options.width

    @property
    def metric(self) -> str:
        """The first of the metrics that are shown."""
        return self.metrics[0]

    @cached_property
    def conditions(self) -> Mapping[str, LaneSettings]:
        """The conditions that are shown, by name, the baseline first."""
        every, wanted = self.results.conditions, self.options.conditions
        base = self.results.baseline
        others = [name for name in every if name != base and (not wanted or name in wanted)]
        return {name: every[name] for name in (base, *others)}

    @property
    def others(self) -> list[str]:
        return [name for name in self.conditions if name != self.results.baseline]

    def title(self, metric: str) -> str:
        """Return a metric's label with its arrow, as the head of a panel."""
        return f"<b>{METRICS[metric].label}</b> {METRICS[metric].direction.arrow}".rstrip()

    def of(self, metric: str) -> Metric:
        return METRICS[metric]

    def mean(self, metric: str, condition: str) -> Interval | None:
        """Return a condition's mean; None where it has no value."""
        mean = self.results.means[metric].get(condition)
        return mean if mean is not None and mean.n and math.isfinite(mean.mean) else None

    def compared(self, metric: str, condition: str) -> Comparison | None:
        """Return what a condition differs by from the baseline; None where there is no pair."""
        one = self.results.comparison(metric, condition)
        return one if one is not None and math.isfinite(one.difference.mean) else None

    def difference(self, metric: str, first: str, second: str) -> Interval:
        """Return what the second condition differs by from the first, paired by prompt and seed."""
        pairs = paired(self.results.scores[metric], first, second)
        return interval(pairs.difference, np.random.default_rng(DICE))

    def observed(self, condition: str) -> Observed | None:
        return self.results.observed.get(condition)

    @property
    def by_embedder(self) -> list[str]:
        """The labels of the metrics shown that rest on an embedder."""
        return [METRICS[m].label for m in self.metrics if METRICS[m].family is Family.MEANING]

    # What is there

    @property
    def with_means(self) -> list[str]:
        """The conditions that have a value of one of the metrics shown."""
        return [
            name
            for name in self.conditions
            if any(self.mean(metric, name) for metric in self.metrics)
        ]

    @property
    def with_differences(self) -> list[str]:
        """The conditions that one of the metrics shown compares with the baseline."""
        return [
            name
            for name in self.others
            if any(self.compared(metric, name) for metric in self.metrics)
        ]

    @property
    def with_xtc(self) -> list[str]:
        """The conditions in which XTC may fire and whose steps are there."""
        return [
            name
            for name, one in self.conditions.items()
            if one.sampler.xtc.rho > 0 and self.observed(name)
        ]

    @property
    def without_steps(self) -> str:
        """Why nothing can be said of what XTC did; "" where something can."""
        if not self.results.observed:
            return "What XTC did at each step was not read."
        return "" if self.with_xtc else "No condition with XTC has texts yet."


def defined(results: Results) -> tuple[str, ...]:
    """Return the metrics that have a value somewhere, in the order of tables."""
    return tuple(name for name in METRICS if any(m.n for m in results.means.get(name, {}).values()))


def stack(sampler: SamplerSettings) -> SamplerSettings:
    """Return a sampler without its XTC: what two conditions share that differ in XTC alone."""
    return replace(effective(sampler), xtc=XTC_OFF)


def quoted(name: str) -> str:
    """Return a condition's name as a sentence quotes it: short, of one line, and marked where it
    would be taken for several."""
    short = shortened(name, LONGEST_NAME).strip() or "a name of spaces"
    return f"“{short}”" if any(sign in short for sign in (",", ";", " and ")) else short


def prompts(counts: Sequence[int]) -> str:
    """Say over how many prompts: `24 prompts`, `20 to 24 prompts`."""
    known = [n for n in counts if n]
    low, high = min(known, default=0), max(known, default=0)
    if low == high:
        return f"{high} prompt{'' if high == 1 else 's'}"
    return f"{low} to {high} prompts"

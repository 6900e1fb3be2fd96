"""A stored run as a table: what each condition comes to, and what it differs by from a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from xtc_viz.errors import SettingsError
from xtc_viz.lab.comparison import Comparison, compare, levels, scores
from xtc_viz.lab.metrics import METRICS, chosen
from xtc_viz.lab.metrics.base import Family, Metric
from xtc_viz.lab.reading import experiment_of, generations
from xtc_viz.lab.samples import NO_CONTEXT, context
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.store import RunRecord, Store

COLUMNS = ("condition", "mean", "difference", "p", "win_tie_loss", "says")
DICE = 0
"""The seed of the resamples and flips: the same run gives the same table."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of each metric, the baseline's first, as they are printed; `comparisons` has the
    numbers. `prompts` counts those that the baseline has whole groups of."""

    baseline: str
    prompts: int
    rows: Mapping[Metric, Sequence[Mapping[str, str]]]
    means: Mapping[str, Mapping[str, Interval]]
    comparisons: Sequence[Comparison]

    def values(self) -> dict[str, Any]:
        """Return all numbers as plain values; what is not defined is null."""
        means = {
            metric: {condition: _plain(asdict(mean)) for condition, mean in own.items()}
            for metric, own in self.means.items()
        }
        rows = [_plain(asdict(one)) for one in self.comparisons]
        return {"baseline": self.baseline, "means": means, "comparisons": rows}


def compared(
    store: Store, run: RunRecord, metrics: Sequence[str], baseline: str | None = None
) -> Table:
    """Return the table of what is there of a run.

    Only whole groups count: all samples of a prompt, condition and seed. `baseline` None is the
    run's first condition.

    Raises:
        SettingsError: there is no such metric or condition, or nothing to compare yet.
        StoreError: the store cannot be read.
    """
    wanted = chosen(metrics)
    experiment = experiment_of(run)
    texts = list(generations(store, run))
    # An embedder has to see all texts of the run first.
    all_texts = (generation.text for generation in texts)
    needs = any(metric.family in (Family.MEANING, Family.TEMPLATES) for metric in wanted)
    fitted = context(all_texts) if needs and texts else NO_CONTEXT
    values = scores(texts, wanted, fitted, samples=experiment.samples)
    base = baseline or experiment.conditions[0].name
    whole = {group.prompt for group in next(iter(values.values()), {}) if group.condition == base}
    if not whole and any(values.values()):
        names = [condition.name for condition in experiment.conditions]
        if base not in names:
            raise SettingsError("baseline", f"one of {', '.join(names)}", base)
    if not whole:
        raise SettingsError("run", "one with all samples of a prompt under its baseline", run.name)
    rng = np.random.default_rng(DICE)
    means = {name: levels(own, rng) for name, own in values.items()}
    comparisons = compare(values, base, rng)
    rows = {METRICS[name]: _rows(name, base, own, comparisons) for name, own in means.items()}
    return Table(base, len(whole), rows, means, comparisons)


def _rows(
    metric: str, base: str, means: Mapping[str, Interval], comparisons: Sequence[Comparison]
) -> list[dict[str, str]]:
    own = {one.condition: one for one in comparisons if one.metric == metric}
    order = [base, *(name for name in means if name != base)]
    return [_row(name, means[name], own.get(name)) for name in order if name in means]


def _row(condition: str, mean: Interval, one: Comparison | None) -> dict[str, str]:
    row = {"condition": condition, "mean": _interval(mean), **dict.fromkeys(COLUMNS[2:], "")}
    if mean.n == 0:
        return row | {"says": "not defined here: it may need several samples of a prompt"}
    if one is None:
        return row
    return row | {
        "difference": _interval(one.difference, signed=True),
        "p": f"{one.p_holm:.2g}",
        "win_tie_loss": "/".join(map(str, one.prompts)),
        "says": _says(one),
    }


def _says(one: Comparison) -> str:
    """Say what the interval allows to say, and no more."""
    if math.isnan(one.difference.low):
        return "too few prompts"
    if one.difference.low == one.difference.high == 0.0:
        return "the same for each prompt"
    if not one.difference.excludes_zero:
        return f"no difference shown; from {_number(one.detectable)} on one would be"
    more = "more" if one.difference.mean > 0 else "less"
    better = {1: ", better", -1: ", worse", 0: ""}[one.better]
    return f"{more}{better}"


def _interval(interval: Interval, *, signed: bool = False) -> str:
    if math.isnan(interval.mean):
        return "–"
    numbers = (_number(x, signed) for x in (interval.mean, interval.low, interval.high))
    mean, low, high = numbers
    return f"{mean} [{low}, {high}]"


def _number(x: float, signed: bool = False) -> str:
    if math.isnan(x):
        return "–"
    digits = 1 if abs(x) >= 10 else 3
    return f"{x:{'+' if signed else ''}.{digits}f}"


def _plain(value: Any) -> Any:
    """Return plain values with null for what is no number."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

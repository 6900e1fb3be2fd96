"""Numbers as the page shows them: plain values, made of results. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from xtc_viz.errors import SettingsError
from xtc_viz.lab import table
from xtc_viz.lab.against import Against
from xtc_viz.lab.command.base import metric_names
from xtc_viz.lab.comparison import Comparison
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.metrics.base import Metric
from xtc_viz.lab.results import Results
from xtc_viz.lab.statistics import by_prompt
from xtc_viz.lab.wording import number, says, with_ends
from xtc_viz.ui.lab.forecast import Forecast
from xtc_viz.ui.lab.laboratory import Status

DIGITS = 6


def status_of(status: Status) -> dict[str, Any]:
    """Return how the run stands; `progress` null before its model is there."""
    progress = status.progress
    told = None
    if progress is not None:
        values = asdict(replace(progress, cell=None))
        del values["cell"]
        told = values | {"rate": progress.rate}
    return {**asdict(replace(status, progress=None)), "progress": told,
            "going": status.phase.going}  # fmt: skip


def forecast_of(one: Forecast) -> dict[str, Any]:
    return {**asdict(one), "missing": one.missing}


def table_of(results: Results) -> dict[str, Any]:
    """Return the table of a run: a column a metric, a row a condition, the baseline's first."""
    rows = table.rows(results)
    return {
        "baseline": results.baseline,
        "conditions": _order(results),
        "prompts": len(results.whole),
        "embedder": results.embedder,
        "metrics": [_column(metric, own, results) for metric, own in rows.items()],
    }


def _order(results: Results) -> list[str]:
    base = results.baseline
    return [base, *(name for name in results.conditions if name != base)]


def _column(metric: Metric, rows: Sequence[Mapping[str, str]], results: Results) -> dict[str, Any]:
    means = results.means[metric.name]
    cells = {}
    for row in rows:
        name = row["condition"]
        one = results.comparison(metric.name, name)
        cells[name] = {
            "mean": number(means[name].mean),
            "value": _finite(means[name].mean),
            "interval": row["mean"],
            "difference": row["difference"],
            "p": row["p"],
            "prompts": row["win_tie_loss"],
            "says": row["says"],
            "better": one.better if one else 0,
            "differs": bool(one and one.difference.excludes_zero),
            "firm": bool(one and one.firm),
        }
    return {**_metric(metric), "usual": metric.name in usual(results), "cells": cells}


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "label": metric.label,
        "arrow": metric.direction.arrow,
        "direction": str(metric.direction),
        "meaning": metric.meaning,
        "source": metric.source,
        "range": metric.range,
        "unit": metric.unit,
        "family": str(metric.family),
    }


def prompts_of(results: Results, metric: object, condition: object) -> list[dict[str, Any]]:
    """Return what a number is the mean of: the metric by prompt, in the condition and, where that
    is another, in the baseline; the greatest difference first.

    Raises:
        SettingsError: there is no such metric or condition.
    """
    if not isinstance(metric, str) or metric not in results.scores:
        raise SettingsError("metric", f"one of {', '.join(results.scores)}", metric)
    if not isinstance(condition, str) or condition not in results.conditions:
        raise SettingsError("condition", f"one of {', '.join(results.conditions)}", condition)
    names = [condition] if condition == results.baseline else [results.baseline, condition]
    prompts, values = by_prompt(results.scores[metric], names)
    rows = [
        {
            "prompt": prompt,
            "genre": results.prompts[prompt].genre if prompt in results.prompts else "",
            "baseline": _finite(own[0]),
            "value": _finite(own[-1]),
        }
        for prompt, own in zip(prompts, values.tolist(), strict=True)
    ]
    return sorted(rows, key=lambda row: -abs((row["value"] or 0.0) - (row["baseline"] or 0.0)))


def against_of(found: Against) -> dict[str, Any]:
    """Return two runs side by side: each metric of each condition that both have."""
    names = dict.fromkeys(one.metric for one in found.shifts)
    both = zip(found.names, (found.first, found.second), strict=True)
    return {
        "runs": [
            {
                "name": name,
                "run": each.run.name,
                "experiment": each.experiment.name,
                "suite": each.run.suite["name"],
                "prompts": len(each.whole),
            }
            for name, each in both
        ],
        "conditions": list(dict.fromkeys(one.condition for one in found.shifts)),
        "embedder": found.first.embedder,
        "metrics": [
            {
                **_metric(METRICS[name]),
                "usual": name in usual(found.first),
                "cells": {
                    one.condition: _pair(found, one) for one in found.shifts if one.metric == name
                },
            }
            for name in names
        ],
    }


def _pair(found: Against, one: Comparison) -> dict[str, Any]:
    first, second = (
        each.means[one.metric].get(one.condition) for each in (found.first, found.second)
    )
    effect = found.effect(one.metric, one.condition)
    return {
        "first": number(first.mean) if first else "–",
        "second": number(second.mean) if second else "–",
        "difference": with_ends(one.difference, signed=True),
        "effect": with_ends(effect.difference, signed=True) if effect else "",
        "says": says(one),
        "better": one.better,
        "differs": bool(one.difference.excludes_zero),
        "firm": one.firm,
    }


def usual(results: Results) -> frozenset[str]:
    """Return the metrics that are shown first of such a run, as on the command line."""
    return frozenset(metric_names((), results.run) or ())


def _finite(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None

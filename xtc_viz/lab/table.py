"""Results as a table: what each condition comes to, and what it differs by from the baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from xtc_viz.lab.comparison import Comparison
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.metrics.base import Metric
from xtc_viz.lab.results import Results
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.wording import says, with_ends

COLUMNS = ("condition", "mean", "difference", "p", "win_tie_loss", "says")


def rows(results: Results) -> dict[Metric, list[dict[str, str]]]:
    """Return the rows of each metric, the baseline's first, as they are read."""
    return {METRICS[name]: _rows(name, results) for name in results.means}


def values(results: Results) -> dict[str, Any]:
    """Return all numbers as plain values; what is not defined is null."""
    means = {
        metric: {condition: _plain(asdict(mean)) for condition, mean in own.items()}
        for metric, own in results.means.items()
    }
    compared = [_plain(asdict(one)) for one in results.comparisons]
    return {"baseline": results.baseline, "means": means, "comparisons": compared}


def _rows(metric: str, results: Results) -> list[dict[str, str]]:
    means, base = results.means[metric], results.baseline
    order = [base, *(name for name in means if name != base)]
    return [
        _row(name, means[name], results.comparison(metric, name)) for name in order if name in means
    ]


def _row(condition: str, mean: Interval, one: Comparison | None) -> dict[str, str]:
    row = {"condition": condition, "mean": with_ends(mean), **dict.fromkeys(COLUMNS[2:], "")}
    if mean.n == 0:
        return row | {"says": "not defined here: it may need several samples of a prompt"}
    if one is None:
        return row
    return row | {
        "difference": with_ends(one.difference, signed=True),
        "p": f"{one.p_holm:.2g}",
        "win_tie_loss": "/".join(map(str, one.prompts)),
        "says": says(one),
    }


def _plain(value: Any) -> Any:
    """Return plain values with null for what is no number."""
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

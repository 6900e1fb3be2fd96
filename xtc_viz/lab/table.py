"""Results as a table: what each condition comes to, and what it differs by from the baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from xtc_viz.lab.against import Against
from xtc_viz.lab.comparison import Comparison
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.metrics.base import Family, Metric
from xtc_viz.lab.results import Results
from xtc_viz.lab.statistics import Interval
from xtc_viz.lab.wording import says, with_ends

AGAINST = ("condition", "first", "second", "second − first", "p", "says", "change of the effect")
SAMPLES = "it may need several samples of a prompt"
UNDEFINED = {Family.ANSWERS: "its prompts have no check, or ask for code that was not run"}
"""Why a metric of a family may have no value, where it is not for want of samples."""
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


def against_rows(found: Against) -> dict[Metric, list[dict[str, str]]]:
    """Return for each metric a row a condition: both runs, and what the second differs by."""
    return {
        METRICS[metric]: [
            _against_row(found, metric, name)
            for name in own
            if name in found.second.means.get(metric, {})
        ]
        for metric, own in found.first.means.items()
    }


def against_values(found: Against) -> dict[str, Any]:
    """Return all numbers of two runs as plain values; what is not defined is null."""
    return {
        "names": list(found.names),
        "first": values(found.first),
        "second": values(found.second),
        "shifts": [_plain(asdict(one)) for one in found.shifts],
        "effects": [_plain(asdict(one)) for one in found.effects],
    }


def _against_row(found: Against, metric: str, condition: str) -> dict[str, str]:
    shift, effect = found.shift(metric, condition), found.effect(metric, condition)
    row = dict.fromkeys(AGAINST, "") | {
        "condition": condition,
        "first": with_ends(found.first.means[metric][condition]),
        "second": with_ends(found.second.means[metric][condition]),
    }
    if shift is not None:
        row |= {
            "second − first": with_ends(shift.difference, signed=True),
            "p": f"{shift.p_holm:.2g}",
            "says": says(shift),
        }
    if effect is not None:
        row["change of the effect"] = with_ends(effect.difference, signed=True)
    return row


def _rows(metric: str, results: Results) -> list[dict[str, str]]:
    means, base = results.means[metric], results.baseline
    order = [base, *(name for name in means if name != base)]
    return [
        _row(name, METRICS[metric].family, means[name], results.comparison(metric, name))
        for name in order
        if name in means
    ]


def _row(condition: str, family: Family, mean: Interval, one: Comparison | None) -> dict[str, str]:
    row = {"condition": condition, "mean": with_ends(mean), **dict.fromkeys(COLUMNS[2:], "")}
    if mean.n == 0:
        return row | {"says": f"not defined here: {UNDEFINED.get(family, SAMPLES)}"}
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

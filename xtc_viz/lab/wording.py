"""Numbers of the laboratory in words that claim no more than they show."""

from __future__ import annotations

import math

from xtc_viz.lab.comparison import Comparison
from xtc_viz.lab.statistics import Interval


def says(one: Comparison) -> str:
    """Say what the interval of a difference allows to say, and no more."""
    if math.isnan(one.difference.low):
        return "too few prompts"
    if one.difference.low == one.difference.high == 0.0:
        return "the same for each prompt"
    if not one.difference.excludes_zero:
        return f"no difference shown; one of {number(one.detectable)} or more would be"
    more = "more" if one.difference.mean > 0 else "less"
    better = {1: ", better", -1: ", worse", 0: ""}[one.better]
    alone = "" if one.firm else "; by its own interval alone, among so many it may be chance"
    return f"{more}{better}{alone}"


def with_ends(interval: Interval, *, signed: bool = False) -> str:
    """Return a mean with its interval: `0.123 [0.100, 0.150]`."""
    if math.isnan(interval.mean):
        return "–"
    mean, low, high = (number(x, signed) for x in (interval.mean, interval.low, interval.high))
    return f"{mean} [{low}, {high}]"


def number(x: float, signed: bool = False) -> str:
    """Return three digits after the point, from 10 on one, and two that count of what would be 0
    then and is not."""
    if math.isnan(x):
        return "–"
    if 0 < abs(x) < 0.0005:
        return f"{x:{'+' if signed else ''}.2g}"
    digits = 1 if abs(x) >= 10 else 3
    return f"{x:{'+' if signed and x else ''}.{digits}f}"

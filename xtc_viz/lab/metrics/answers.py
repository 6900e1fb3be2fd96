"""Whether answers of a fixed form are right: JSON, rewritings by rules, code by its tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xtc_viz.lab.checks import PARSES, Verdict
from xtc_viz.lab.metrics.base import Direction, Family, Metric
from xtc_viz.lab.samples import Samples

Verdicts = tuple[Verdict, ...]


def passed(samples: Samples) -> float | None:
    """Return the share of answers that keep all that was asked, in [0, 1]; of code it is pass@1.

    None where an answer was not judged: its prompt has no check, or its code was not run.
    """
    return _mean(samples, lambda own: float(all(verdict.passed for verdict in own)))


def kept(samples: Samples) -> float | None:
    """Return the mean share of rules, fields or tests that an answer keeps, in [0, 1].

    That it parses is none of them: nothing that does not keeps any. None as for `passed`.
    """

    def share(own: Verdicts) -> float | None:
        rules = [verdict.passed for verdict in own if verdict.name != PARSES]
        return float(np.mean(rules)) if rules else None

    return _mean(samples, share)


def parses(samples: Samples) -> float | None:
    """Return the share of answers that are JSON, or Python, at all, in [0, 1].

    None as for `passed`, and where an answer may be any text.
    """

    def share(own: Verdicts) -> float | None:
        return next((float(verdict.passed) for verdict in own if verdict.name == PARSES), None)

    return _mean(samples, share)


def _mean(samples: Samples, value: Callable[[Verdicts], float | None]) -> float | None:
    """Return the mean of a value of verdicts over all generations; None where one has none."""
    judged = [one.verdicts for one in samples.generations]
    values = [value(own) if own else None for own in judged]
    known = [each for each in values if each is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


METRICS = (
    Metric(
        name="passed",
        label="Passed",
        place=1,
        family=Family.ANSWERS,
        direction=Direction.RIGHT,
        meaning="The share of answers that keep all that was asked; of code, that pass all tests.",
        source="the paper's eval pass rate; pass@1 of Chen et al. 2021 with one try",
        value=passed,
    ),
    Metric(
        name="rules_kept",
        label="Rules kept",
        place=2,
        family=Family.ANSWERS,
        direction=Direction.RIGHT,
        meaning="The share of its rules, or tests, that an answer keeps, on average.",
        source="the paper's test pass rate, for rules too",
        value=kept,
    ),
    Metric(
        name="parses",
        label="Parses",
        place=3,
        family=Family.ANSWERS,
        direction=Direction.RIGHT,
        meaning="The share of answers that are JSON, or Python, at all.",
        source="the paper's parse validity",
        value=parses,
    ),
)

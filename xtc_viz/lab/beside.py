"""A run beside the paper: what both say of the same condition, and whether they agree.

A verdict is of the direction alone: another model, other prompts and another cut into words give
other levels. It claims nothing where the run's own interval includes zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from xtc_viz.lab.builtin import EXPERIMENTS
from xtc_viz.lab.experiment import effective
from xtc_viz.lab.metrics import METRICS
from xtc_viz.lab.paper import Agreement, Paper, Place, Reading, Statement, Words, load
from xtc_viz.lab.results import DICE, Results
from xtc_viz.lab.statistics import Interval, interval, paired
from xtc_viz.settings import SamplerSettings


class Verdict(StrEnum):
    """What may be said of a statement of the paper after a run."""

    AGREES = "agrees in direction"
    DIFFERS = "does not agree"
    NOTHING = "nothing shown here"
    """The interval of the difference includes zero."""
    OTHER = "not the same definition"
    FEW = "too few prompts"
    NEITHER = "the paper shows no direction"
    """Its interval includes zero."""


@dataclass(frozen=True, slots=True)
class Row:
    """A statement of the paper beside what a run has of it.

    `metric`, `condition` and `against` are ours by their names; `level` and `base` are their means,
    `difference` and `percent` are paired by prompt.
    """

    statement: Statement
    metric: str
    condition: str
    against: str
    level: Interval
    base: Interval
    difference: Interval
    percent: Interval
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class MechanismRow:
    """What the paper reads off its figure of the mechanism, and the same of one condition here."""

    reading: Reading
    condition: str
    value: float


@dataclass(frozen=True, slots=True)
class Beside:
    """All of the paper that a run can be held beside."""

    rows: tuple[Row, ...]
    mechanism: tuple[MechanismRow, ...]
    words: tuple[Words, ...]

    def by_place(self) -> dict[Place, list[Row]]:
        """Return the rows of each place of the paper."""
        by_place: dict[Place, list[Row]] = {}
        for row in self.rows:
            by_place.setdefault(row.statement.at, []).append(row)
        return by_place

    def counts(self) -> dict[Verdict, int]:
        """Return how many rows have each verdict, of those that some have."""
        verdicts = [row.verdict for row in self.rows]
        return {verdict: verdicts.count(verdict) for verdict in Verdict if verdict in verdicts}


def beside(results: Results, paper: Paper | None = None) -> Beside:
    """Hold a run beside the paper (None: as it comes with the app).

    An experiment that comes with the app is held beside what the paper says of that one; one of
    another name beside every statement whose conditions it has.
    """
    paper = load() if paper is None else paper
    name = results.experiment.name
    built_in = name in EXPERIMENTS

    def fits(at: Place) -> bool:
        return name in at.experiments or not built_in

    named = {effective(own.sampler): label for label, own in results.conditions.items()}
    return Beside(
        rows=tuple(_rows(results, [one for one in paper.statements if fits(one.at)], named)),
        mechanism=tuple(
            MechanismRow(reading, condition, value)
            for reading in paper.readings
            if fits(reading.at)
            for condition, own in results.observed.items()
            if results.conditions[condition].sampler.xtc.rho
            if (value := own.whole.values[reading.quantity.ours[0]]) is not None
        ),
        words=tuple(one for one in paper.words if name in one.at.experiments),
    )


def _rows(
    results: Results, statements: list[Statement], named: Mapping[SamplerSettings, str]
) -> Iterator[Row]:
    for one in statements:
        condition, against = _name(one.sampler, named), _name(one.against_sampler, named)
        metric = next((own for own in one.metric.ours if _measured(results, own)), None)
        if condition is None or against is None or metric is None:
            continue
        means = results.means[metric]
        if condition not in means or against not in means:
            continue
        own = results.comparison(metric, condition) if against == results.baseline else None
        if own is None:
            pairs = paired(results.scores[metric], against, condition)
            difference, percent = (
                interval(x, np.random.default_rng(DICE)) for x in (pairs.difference, pairs.percent)
            )
        else:
            difference, percent = own.difference, own.percent
        yield Row(
            one, metric, condition, against, means[condition], means[against],
            difference, percent, verdict(one, difference),
        )  # fmt: skip


def _name(sampler: SamplerSettings | None, named: Mapping[SamplerSettings, str]) -> str | None:
    return None if sampler is None else named.get(effective(sampler))


def _measured(results: Results, metric: str) -> bool:
    """Return whether a run has values of a metric: one that was not asked for has none, nor one
    that needs several samples where there is one."""
    return metric in METRICS and any(own.n for own in results.means.get(metric, {}).values())


def verdict(statement: Statement, difference: Interval) -> Verdict:
    """Return what a difference says of a statement, the same condition minus the same other."""
    if statement.metric.agrees is Agreement.NO:
        return Verdict.OTHER
    if math.isnan(difference.low):
        return Verdict.FEW
    if not statement.direction:
        return Verdict.NEITHER
    if not difference.excludes_zero:
        return Verdict.NOTHING
    same = (difference.mean > 0) == (statement.direction > 0)
    return Verdict.AGREES if same else Verdict.DIFFERS

"""How the numbers of a prompt's texts lie over seeds, lane by lane, and what lanes differ by.

The seeds are the sample here, for one prompt: what is said holds for other seeds of this prompt,
and for no other one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from xtc_viz.lab import mechanism
from xtc_viz.lab.generation import Generation, answer
from xtc_viz.lab.metrics import distinct, length
from xtc_viz.lab.metrics.base import Metric
from xtc_viz.lab.samples import Samples
from xtc_viz.lab.statistics import Floats, Interval, interval
from xtc_viz.records.packed import Steps
from xtc_viz.records.step import Bound
from xtc_viz.records.trace import FinishReason, Trace
from xtc_viz.runs.reasoning import begins_in_thought, prompt_end
from xtc_viz.sampling.whatif import evaluate
from xtc_viz.settings import LaneSettings

LEAST = 8
"""Seeds for an interval. Where their values are normal or rates, the intervals of so many hold 94 %
of the true means (95 % of 16), those of four 89 %."""

SHARE, RATIO, TOKENS = "share", "ratio", "tokens"
"""What a quantity is written as."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of each text: its name, the line that says what it is, and how it is written."""

    name: str
    label: str
    meaning: str
    unit: str


def _of_mechanism(name: str) -> Quantity:
    found = next(one for one in mechanism.QUANTITIES if one.name == name)
    return Quantity(name, found.label, found.meaning, SHARE)


def _of_metric(metrics: Sequence[Metric], name: str, unit: str) -> Quantity:
    found = next(one for one in metrics if one.name == name)
    return Quantity(name, found.label, found.meaning, unit)


FIRED, CHANGED, DISTINCT = "activation", "changed", "distinct_2"
LENGTH, TAIL = "tokens", "tail_after"
QUANTITIES = (
    _of_mechanism(FIRED),
    _of_mechanism(CHANGED),
    _of_metric(distinct.METRICS, DISTINCT, RATIO),
    _of_metric(length.METRICS, LENGTH, TOKENS),
    _of_mechanism(TAIL),
)
"""What is shown of each text, by the laboratory's own definitions."""

Values = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class SeedText:
    """One text, and what was measured of it: `values` has one for each of `QUANTITIES`, None where
    it is not defined. A thought at its beginning is in the text and left out of the values."""

    lane: int
    seed: int
    text: str
    finish: FinishReason | None
    values: Values


def measured(trace: Trace) -> tuple[SeedText, ...]:
    """Return the lanes of a run, each as one text."""
    settings, thinking = trace.settings, begins_in_thought(prompt_end(trace))
    floors = taus([lane.settings for lane in trace.lanes])
    texts = []
    for number, lane in enumerate(trace.lanes):
        # The sign of an end belongs to no text.
        spoken = lane.steps[:-1] if lane.finish is FinishReason.EOS else lane.steps
        text = "".join(step.text for step in spoken)
        ids = tuple(np.asarray(Steps(lane.steps).column("token")[0]).tolist())
        whole = Generation(
            prompt="", condition=lane.settings.name, seed=settings.seed, sample=0,
            text=text, tokens=ids, finish=lane.finish, steps=lane.steps,
        )  # fmt: skip
        values = _values(
            answer(whole, thinking=thinking), lane.settings, floors[number], settings.top_candidates
        )
        texts.append(SeedText(number, settings.seed, text, lane.finish, values))
    return tuple(texts)


def taus(lanes: Sequence[LaneSettings]) -> tuple[float, ...]:
    """Return the τ below which each lane's tail lies: its own, but in a lane without XTC that of
    the lanes with XTC, where these have one in common."""
    acting = {lane.sampler.xtc.tau for lane in lanes if lane.sampler.xtc.rho > 0}
    shared = acting.pop() if len(acting) == 1 else None
    return tuple(
        shared if shared is not None and lane.sampler.xtc.rho == 0 else lane.sampler.xtc.tau
        for lane in lanes
    )


def _values(one: Generation, lane: LaneSettings, tau: float, candidates: int) -> Values:
    samples, xtc = Samples([one]), lane.sampler.xtc
    steps = one.steps if isinstance(one.steps, Steps) else Steps(one.steps)
    found = mechanism.pooled([mechanism.observe(steps, xtc)]).values
    tail = found[TAIL]
    if tau != xtc.tau:
        there = evaluate(steps, replace(xtc, tau=tau), candidates)
        moved = [
            replace(step, eligible=len(decision.eligible))
            for step, decision in zip(steps, there.decisions, strict=True)
        ]
        tail = mechanism.pooled([mechanism.observe(moved, xtc)]).values[TAIL]
        tail = tail if there.exact else None
    if np.any(np.asarray(steps.column("bound")[0], dtype=np.int64) & int(Bound.ELIGIBLE)):
        tail = None  # the model showed too few tokens to know it
    return {
        FIRED: found[FIRED],
        CHANGED: found[CHANGED],
        DISTINCT: distinct.distinct(samples, 2),
        LENGTH: length.in_tokens(samples),
        TAIL: tail,
    }


@dataclass(frozen=True, slots=True)
class Summary:
    """What some seeds show of the lanes, by the names of `QUANTITIES`.

    `means` has one mapping a lane; `differences` too, from the lane `reference` seed by seed, empty
    for that lane itself and without the quantities that mean something else in the two lanes. An
    interval whose ends are NaN is none (`estimate`). `seeds` counts them.
    """

    seeds: int
    reference: int
    means: tuple[Mapping[str, Interval], ...]
    differences: tuple[Mapping[str, Interval], ...]


def summary(texts: Sequence[SeedText], lanes: Sequence[LaneSettings], dice: int) -> Summary:
    """Return the means of each lane and its differences from the reference: the first lane without
    XTC, else the first one.

    All intervals come from the same resamples of the seeds, those of `dice`.
    """
    seeds = sorted({one.seed for one in texts})
    table = {(one.lane, one.seed): one.values for one in texts}
    reference = next((k for k, lane in enumerate(lanes) if lane.sampler.xtc.rho == 0), 0)
    floors = taus(lanes)

    def column(lane: int, name: str) -> Floats:
        values = (table.get((lane, seed), {}).get(name) for seed in seeds)
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    def each(value: Callable[[str], Floats], names: Sequence[str]) -> dict[str, Interval]:
        return {name: estimate(value(name), np.random.default_rng(dice)) for name in names}

    names = [one.name for one in QUANTITIES]
    means, differences = [], []
    for lane in range(len(lanes)):
        means.append(each(partial(column, lane), names))
        alike = [name for name in names if name != TAIL or floors[lane] == floors[reference]]
        differences.append(
            each(lambda name, k=lane: column(k, name) - column(reference, name), alike)  # type: ignore[misc]
            if lane != reference
            else {}
        )
    return Summary(len(seeds), reference, tuple(means), tuple(differences))


def estimate(x: Floats, rng: np.random.Generator) -> Interval:
    """Return the mean of x (n,) with its 95 % interval by seed; NaNs are left out.

    Its ends are NaN where it would not hold what it says: for fewer than `LEAST` values, and where
    more than half of them are one and the same, as the lengths of texts that are mostly cut off;
    the few others then decide all. Where all are the same, the ends are the mean.
    """
    found = interval(x, rng)
    known = x[~np.isnan(x)]
    if len(known) >= LEAST:
        most = np.unique(known, return_counts=True)[1].max()
        if most == len(known) or 2 * most <= len(known):
            return found
    return replace(found, low=np.nan, high=np.nan)
